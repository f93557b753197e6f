#include <algorithm>
#include <array>
#include <numeric>

#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

constexpr std::size_t filters_max = 64;

struct Order {
    std::array<std::uint8_t, filters_max> positions{};
    std::size_t count = 0;
};
Order sorted_positions() {
    Order out;
    out.count = table().size();
    CRATER_CHECK(out.count <= filters_max);
    for (std::size_t i = 0; i < out.count; ++i) out.positions[i] = static_cast<std::uint8_t>(i);
    std::sort(
        out.positions.begin(), out.positions.begin() + static_cast<std::ptrdiff_t>(out.count),
        [](auto a, auto b) { return std::pair(table()[a]->order, a) < std::pair(table()[b]->order, b); });
    return out;
}

}  // namespace

std::span<const std::uint8_t> in_order() {
    static const Order order = sorted_positions();
    return {order.positions.data(), order.count};
}

const Filter& at(std::size_t position) { return *table()[position]; }

int position_of(std::string_view name) {
    for (std::size_t i = 0; i < table().size(); ++i)
        if (table()[i]->name == name) return static_cast<int>(i);
    return -1;
}

}  // namespace crater::engine::filter
