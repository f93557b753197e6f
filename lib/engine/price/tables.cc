#include "price/tables.h"

#include <cmath>

namespace crater::engine::price {
namespace {

// Of the average worth of the companion, next to what it can be had for.
constexpr double lowest_rate = 0.034, highest_rate = 10;

struct State {
    Row* value;
    Row* pick;
    Rates* use;
};

inline void inherit(const State& rows, int to, int from) {
    for (int k = 0; k < lanes; ++k) {
        rows.value[to].lane[k] = rows.value[from].lane[k];
        rows.pick[to].lane[k] = -1;
        rows.use[to].lane[k] = rows.use[from].lane[k];
    }
}

inline void consider(const State& rows, int to, int from, const Row& gain, const Row& pick,
                     const Rates& use) {
    for (int k = 0; k < lanes; ++k) {
        const std::int32_t value = rows.value[from].lane[k] + gain.lane[k];
        const float used = rows.use[from].lane[k] + use.lane[k];
        const bool better = value > rows.value[to].lane[k];
        rows.value[to].lane[k] = better ? value : rows.value[to].lane[k];
        rows.pick[to].lane[k] = better ? pick.lane[k] : rows.pick[to].lane[k];
        rows.use[to].lane[k] = better ? used : rows.use[to].lane[k];
    }
}

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

// From what the companion can be had for alone, in equal ratios.
void Tables::set_rates(std::span<const Good> goods) {
    double floor = 0;
    for (const Good& good : goods) {
        const double amount = good.amounts[companion_];
        if (good.cards == 0 && amount > 0) floor = std::max(floor, good.price / amount);
    }
    std::array<double, lanes + 1> rates;
    rates[0] = std::max(floor, lowest_rate);
    rates[lanes] = std::max(rates[0], highest_rate);
    for (std::size_t half = lanes / 2; half > 0; half /= 2) {
        for (std::size_t i = half; i < lanes; i += 2 * half)
            rates[i] = std::sqrt(rates[i - half] * rates[i + half]);
    }
    rates[0] = floor;
    for (std::size_t k = 0; k < lanes; ++k) rates_.lane[k] = static_cast<float>(rates[k] * unit);
}

CRATER_VECTOR_CLONES
void Tables::offer(std::vector<Item>& items, int takes, int good, double price, float amount) const {
    auto item = std::find_if(items.begin(), items.end(), [&](const Item& i) { return i.takes == takes; });
    if (item == items.end()) {
        items.push_back({.takes = takes});
        item = items.end() - 1;
        for (auto& lane : item->pick.lane) lane = -1;
    }
    improve(item->gain, item->pick, item->use, rates_, static_cast<std::int32_t>(std::lround(price * unit)),
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

CRATER_VECTOR_CLONES
void Tables::fill_class(int cls, const std::vector<Item>& parts, const std::vector<Item>& several) {
    const State rows{&value_[at(cls)], &pick_[at(cls)], &use_[at(cls)]};
    rows.value[0] = rows.value[idle_row] = Row{};
    rows.use[0] = rows.use[idle_row] = Rates{};
    for (int left = 1; left <= steps_per_card; ++left) {
        const int to = left < steps_per_card ? left : idle_row + 1;
        inherit(rows, to, left - 1);
        for (const Item& item : parts) {
            if (item.takes <= left) consider(rows, to, left - item.takes, item.gain, item.pick, item.use);
        }
    }
    Row nothing;
    for (auto& lane : nothing.lane) lane = -1;
    for (int idle = 2; idle_row + idle < rows_; ++idle) {
        const int to = idle_row + idle;
        inherit(rows, to, idle_row);  // no value: anything is better
        consider(rows, to, to - 1, rows.value[idle_row + 1], nothing, rows.use[idle_row + 1]);
        for (const Item& item : several) {
            if (item.takes <= idle) consider(rows, to, to - item.takes, item.gain, item.pick, item.use);
        }
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
