#include "price/reserve.h"

#include <algorithm>

#include "price/lanes.h"

namespace crater::engine::price {
namespace {

constexpr double milli_at_average = 12;  // when as much as the average demand for any card is added to it
constexpr double pressure_most = 3;

}  // namespace

Reserve reserve(std::span<const Good> goods, const std::array<double, card_types>& free) {
    std::array<double, card_types> pressure{};
    double asked = 0, everything = 0;
    for (const double milli : free) everything += milli;
    for (const Good& good : goods) {
        const double size = good.mix * good.size();
        double accepted = 1;
        asked += size;
        for (int type = 0; type < card_types; ++type) {
            if (good.accepts(type)) accepted += free[static_cast<std::size_t>(type)];
        }
        for (int type = 0; type < card_types; ++type) {  // spread evenly over what it accepts
            if (good.accepts(type)) pressure[static_cast<std::size_t>(type)] += size / accepted;
        }
    }
    Reserve out{};
    const double average = asked / std::max(1.0, everything);
    if (average <= 0) return out;
    double least = -1;
    for (std::size_t type = 0; type < pressure.size(); ++type) {
        if (free[type] > 0 && (least < 0 || pressure[type] < least)) least = pressure[type];
    }
    for (std::size_t type = 0; type < pressure.size(); ++type) {
        const double more = std::clamp((pressure[type] - least) / average, 0.0, pressure_most);
        out[type] = static_cast<std::int32_t>(more * milli_at_average * unit);
    }
    return out;
}

}  // namespace crater::engine::price
