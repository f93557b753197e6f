#include "price/tables.h"

#include <cmath>

namespace crater::engine::price {
namespace {

// Of the average worth of the companion, next to what it can be had for alone.
constexpr double lowest_rate = 0.034, highest_rate = 10;

inline void improve(Row& gain, Row& best, Rates& use, const Rates& rates, std::int32_t price, int good,
                    float amount) {
    for (int k = 0; k < lanes; ++k) {
        const std::int32_t value = price - static_cast<std::int32_t>(rates.lane[k] * amount);
        const bool better = value > gain.lane[k];
        gain.lane[k] = better ? value : gain.lane[k];
        best.lane[k] = better ? good : best.lane[k];
        use.lane[k] = better ? amount : use.lane[k];
    }
}

}  // namespace

// In equal ratios from what the companion can be had for alone. Where that is less than the lowest rate, it
// has lane 0 to itself, and what fills the cards pays nothing for the companion there: an upper bound as
// well, if a looser one. It is the least where cards have no room, and seldom elsewhere: so cores that nobody
// lacks today are taken from such nodes first, and are still beside the free cards when those are asked for.
void Tables::set_rates(std::span<const Good> goods) {
    double alone = 0;
    for (const Good& good : goods) {
        const double amount = good.amounts[companion_];
        if (good.cards == 0 && amount > 0) alone = std::max(alone, good.price / amount);
    }
    alone = std::min(alone, highest_rate);
    std::array<double, lanes + 1> rates;
    rates[0] = std::max(alone, lowest_rate);
    rates[lanes] = highest_rate;
    for (std::size_t half = lanes / 2; half > 0; half /= 2) {
        for (std::size_t i = half; i < lanes; i += 2 * half)
            rates[i] = std::sqrt(rates[i - half] * rates[i + half]);
    }
    const bool plentiful = alone < lowest_rate;
    if (plentiful) {
        std::copy_backward(rates.begin(), rates.end() - 1, rates.end());
        rates[0] = alone;
    }
    for (std::size_t k = 0; k < lanes; ++k) rates_.lane[k] = static_cast<float>(rates[k] * unit);
    paid_ = rates_;
    if (plentiful) paid_.lane[0] = 0;
}

CRATER_VECTOR_CLONES
void Tables::offer(std::vector<Item>& items, int takes, int good, double price, float amount) const {
    auto item = std::find_if(items.begin(), items.end(), [&](const Item& i) { return i.takes == takes; });
    if (item == items.end()) {
        items.push_back({.takes = takes});
        item = items.end() - 1;
        for (auto& lane : item->pick.lane) lane = -1;
    }
    improve(item->gain, item->pick, item->use, paid_, static_cast<std::int32_t>(std::lround(price * unit)),
            good, amount);
}

void Tables::collect(std::span<const Good> goods, int type, std::vector<Item>& parts,
                     std::vector<Item>& several) const {
    for (int g = 0; g < static_cast<int>(goods.size()); ++g) {
        const Good& good = goods[static_cast<std::size_t>(g)];
        if (good.cards == 0 || !good.accepts(type)) continue;
        const float amount = good.amounts[companion_];
        if (good.shares()) {  // parts of several cards count as so many goods of one card
            offer(parts, steps_of(good.milli), g, good.price / good.cards,
                  amount / static_cast<float>(good.cards));
        } else {
            offer(several, good.cards, g, good.price, amount);
        }
    }
}

// The best of `best` and of each item on top of what is left without it; `item` is which. Eight lanes at a
// time, so that both stay in registers.
CRATER_VECTOR_CLONES
void Tables::choose(const Row* left_over, int left, const std::vector<Item>& items, Row& best, Row& item) {
    for (int block = 0; block < lanes; block += 8) {
        Eight most, which;
        load(most, best.lane + block);
        which = most - most - 1;
        int i = 0;
        for (const Item& candidate : items) {
            if (candidate.takes <= left) {
                Eight value, gain;
                load(value, left_over[left - candidate.takes].lane + block);
                load(gain, candidate.gain.lane + block);
                value += gain;
                which = value > most ? which - which + i : which;
                most = value > most ? value : most;
            }
            ++i;
        }
        store(best.lane + block, most);
        store(item.lane + block, which);
    }
}

// Row `to`: `left` of what the items take, rows from `base` on being what is left over; at worst row
// `otherwise`.
void Tables::fill_row(const Place& place, int base, int left, int to, int otherwise,
                      const std::vector<Item>& items) {
    Row& value = place.value[to];
    Row item;
    value = place.value[otherwise];
    choose(place.value + base, left, items, value, item);
    for (int k = 0; k < lanes; ++k) {
        const int i = item.lane[k];
        if (i < 0) {
            place.pick[to].lane[k] = -1;
            place.use[to].lane[k] = place.use[otherwise].lane[k];
            continue;
        }
        const Item& best = items[static_cast<std::size_t>(i)];
        place.pick[to].lane[k] = best.pick.lane[k];
        place.use[to].lane[k] = place.use[base + left - best.takes].lane[k] + best.use.lane[k];
    }
}

void Tables::fill_class(int cls, const std::vector<Item>& parts, std::vector<Item>& several) {
    const Place place{&value_[at(cls)], &pick_[at(cls)], &use_[at(cls)]};
    place.value[0] = place.value[idle_row] = Row{};
    place.use[0] = place.use[idle_row] = Rates{};
    for (int left = 1; left <= steps_per_card; ++left) {
        fill_row(place, 0, left, left < steps_per_card ? left : idle_row + 1, left - 1, parts);
    }
    Item alone{.takes = 1, .gain = place.value[idle_row + 1], .use = place.use[idle_row + 1]};
    for (auto& lane : alone.pick.lane) lane = -1;
    several.insert(several.begin(), alone);
    for (int idle = 2; idle_row + idle < rows_; ++idle) {
        fill_row(place, idle_row, idle, idle_row + idle, idle_row, several);
    }
}

void Tables::build(std::span<const Good> goods, const Classes& classes) {
    set_rates(goods);
    rows_ = idle_row + 1 + classes.idle_max;
    const auto size = at(classes.count());
    value_.resize(size);
    pick_.resize(size);
    use_.resize(size);
    std::vector<Item> parts, several;
    for (int cls = 0; cls < classes.count(); ++cls) {
        parts.clear();
        several.clear();
        collect(goods, classes.type_of[static_cast<std::size_t>(cls)], parts, several);
        fill_class(cls, parts, several);
    }
}

void Tables::count_idle(std::span<const Good> goods, int cls, const Cells& fills,
                        std::span<double> served) const {
    for (int row = rows_ - 1; row > idle_row + 1; --row) {
        for (int k = 0; k < lanes; ++k) {
            const double many = fills.at(row, k);
            if (many == 0) continue;
            const int g = pick(cls, row, k);
            if (g < 0) {  // one more card by itself
                fills.at(row - 1, k) += many;
                fills.at(idle_row + 1, k) += many;
            } else {
                served[static_cast<std::size_t>(g)] += many;
                fills.at(row - goods[static_cast<std::size_t>(g)].cards, k) += many;
            }
        }
    }
}

void Tables::count(std::span<const Good> goods, int cls, const Cells& fills, std::span<double> served) const {
    count_idle(goods, cls, fills, served);
    for (int left = steps_per_card; left > 0; --left) {
        const int row = left < steps_per_card ? left : idle_row + 1;
        for (int k = 0; k < lanes; ++k) {
            const double many = fills.at(row, k);
            if (many == 0) continue;
            const int g = pick(cls, row, k);
            if (g < 0) {
                fills.at(left - 1, k) += many;
            } else {
                const Good& good = goods[static_cast<std::size_t>(g)];
                served[static_cast<std::size_t>(g)] += many / good.cards;
                fills.at(left - steps_of(good.milli), k) += many;
            }
        }
    }
}

}  // namespace crater::engine::price
