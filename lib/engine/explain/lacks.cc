#include "explain/lacks.h"

#include <array>
#include <bit>

namespace crater::engine {
namespace {

struct Places {
    std::array<std::uint8_t, 64> place{};  // of a filter in the order, by its position in the table
    std::array<Lacks, 4> of_kind{};
};
const Places& places() {
    static const Places made = [] {
        Places out;
        const auto order = filter::in_order();
        for (std::size_t i = 0; i < order.size(); ++i) {
            out.place[order[i]] = static_cast<std::uint8_t>(i);
            out.of_kind[static_cast<std::size_t>(filter::at(order[i]).kind)] |= Lacks{1} << i;
        }
        return out;
    }();
    return made;
}

}  // namespace

Lacks lack(std::string_view name) {
    const int position = filter::position_of(name);
    return position < 0 ? 0 : Lacks{1} << places().place[static_cast<std::size_t>(position)];
}

Lacks all_of(std::initializer_list<std::string_view> filters) {
    Lacks out = 0;
    for (const auto name : filters) out |= lack(name);
    return out;
}

Lacks lacks_of(filter::Kind kind) { return places().of_kind[static_cast<std::size_t>(kind)]; }

Lacks asked_by(const Shape& shape) {
    Lacks out = 0;
    const auto order = filter::in_order();
    for (std::size_t i = 0; i < order.size(); ++i)
        if (shape.asked >> order[i] & 1) out |= Lacks{1} << i;
    return out;
}

const filter::Filter& first_of(Lacks lacks) {
    return filter::at(filter::in_order()[static_cast<std::size_t>(std::countr_zero(lacks))]);
}

}  // namespace crater::engine
