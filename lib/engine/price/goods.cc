#include "price/goods.h"

#include <algorithm>

namespace crater::engine::price {

int steps_of(int milli) {
    const int rounded_up = (milli * steps_per_card + whole_card - 1) / whole_card;
    const int fit = whole_card / milli;
    return rounded_up * fit <= steps_per_card ? rounded_up : std::max(1, steps_per_card / fit);
}

static bool same_goods(std::span<const Good> goods, int a, int b) {
    for (const Good& good : goods) {
        if (good.cards > 0 && good.accepts(a) != good.accepts(b)) return false;
    }
    return true;
}

Classes classify(std::span<const Good> goods, std::uint64_t types, int idle_max) {
    Classes out;
    out.idle_max = idle_max;
    for (int type = 0; type < card_types; ++type) {
        if ((types >> type & 1) == 0) continue;
        int found = 0;
        while (found < out.count() && !same_goods(goods, out.type_of[static_cast<std::size_t>(found)], type))
            ++found;
        if (found == out.count()) out.type_of.push_back(type);
        out.of_type[static_cast<std::size_t>(type)] = static_cast<std::int8_t>(found);
    }
    if (out.type_of.empty()) out.type_of.push_back(0);  // for nodes without cards
    return out;
}

}  // namespace crater::engine::price
