// The best use of what is free on cards, at given prices of the goods and at 32 prices of one companion
// resource: an exact knapsack for the rest of one card, a second one over idle cards for goods that want
// several.
//
// A table has one row for each state a card can be in: 0..99 steps left, then 0, 1, 2... idle cards. The
// value of a node at a price of the companion is the sum of its cards' rows plus the price times what it has
// free of the companion, an upper bound of what the node can earn for every price; the least over the 32
// prices is what counts.
#pragma once

#include <span>
#include <vector>

#include "price/goods.h"
#include "price/lanes.h"

namespace crater::engine::price {

inline constexpr int idle_row = steps_per_card;  // of no idle card
inline int part_row(int milli) { return milli / (whole_card / steps_per_card); }

// One number for each row and lane of a class.
struct Cells {
    std::span<double> cells;
    double& at(int row, int k) const { return cells[static_cast<std::size_t>(row * lanes + k)]; }
};

class Tables {
  public:
    explicit Tables(Companion companion = cpu) : companion_(companion) {}

    void build(std::span<const Good> goods, const Classes& classes);

    Companion companion() const { return companion_; }
    const Rates& rates() const { return rates_; }                 // worth of one amount, in units
    const Rates& paid() const { return paid_; }                   // for it by what fills the cards
    const Row* value(int cls) const { return &value_[at(cls)]; }  // the class's rows
    const Rates* use(int cls) const { return &use_[at(cls)]; }    // of the companion, by the best fill
    int rows() const { return rows_; }

    // Adds to `served` what the best fills take, `fills` being how many cards of the class are in each state,
    // by lane; spoils `fills`.
    void count(std::span<const Good> goods, int cls, const Cells& fills, std::span<double> served) const;

  private:
    // Of all goods that take the same of a card, the one that pays best; by lane.
    struct Item {
        int takes = 0;  // steps, or cards
        Row gain{};
        Row pick{};
        Rates use{};
    };
    struct Place {  // of a class in the tables
        Row* value;
        Row* pick;
        Rates* use;
    };
    std::size_t at(int cls) const { return static_cast<std::size_t>(cls) * static_cast<std::size_t>(rows_); }
    int pick(int cls, int row, int k) const { return pick_[at(cls) + static_cast<std::size_t>(row)].lane[k]; }
    void set_rates(std::span<const Good> goods);
    void offer(std::vector<Item>& items, int takes, int good, double price, float amount) const;
    void collect(std::span<const Good> goods, int type, std::vector<Item>& parts,
                 std::vector<Item>& several) const;
    void count_idle(std::span<const Good> goods, int cls, const Cells& fills, std::span<double> served) const;
    void fill_class(int cls, const std::vector<Item>& parts, std::vector<Item>& several);
    static void fill_row(const Place& place, int base, int left, int to, int otherwise,
                         const std::vector<Item>& items);
    static void choose(const Row* left_over, int left, const std::vector<Item>& items, Row& best, Row& item);

    Companion companion_;
    Rates rates_{}, paid_{};
    int rows_ = 0;
    std::vector<Row> value_, pick_;
    std::vector<Rates> use_;
};

}  // namespace crater::engine::price
