#include "price/tables.h"

#include <gtest/gtest.h>

#include <cmath>

#include "price/regret.h"

namespace crater::engine::price {
namespace {

Good a_good(int cards, int milli, float cpu_amount, double price) {
    Good out{.cards = cards, .milli = milli, .types = ~std::uint64_t{0}, .price = price};
    out.amounts[cpu] = cpu_amount;
    return out;
}

const std::vector<Good> goods{a_good(1, 810, 200, 700),   a_good(1, 470, 130, 520),   a_good(1, 190, 40, 150),
                              a_good(1, 1000, 500, 1100), a_good(2, 1000, 300, 2400), a_good(0, 0, 100, 5)};
constexpr int most_idle = 4;

struct Built {
    Classes classes = classify(goods, 1, most_idle);
    std::vector<Tables> tables = {Tables(cpu)};
    // `without_cards`: what a task pays that wants cores alone; cores are plentiful at 2, and not at 5.
    explicit Built(double without_cards = 5) {
        std::vector<Good> all = goods;
        all.back().price = without_cards;
        tables[0].build(all, classes);
    }
    Book book() const {
        static constexpr Reserve none{};
        Book out{.tables = tables, .classes = &classes, .reserve = &none};
        out.scale.fill(1);
        return out;
    }
    std::int32_t value(int row, int lane) const { return tables[0].value(0)[row].lane[lane]; }
    std::int32_t gain(const Good& good, int lane) const {
        const float deducted = tables[0].paid().lane[lane] * good.amounts[cpu];
        return static_cast<std::int32_t>(std::lround(good.price * unit)) -
               static_cast<std::int32_t>(deducted);
    }
    // Everything that fits, tried.
    std::int32_t best_of_part(int left, int lane) const {
        std::int32_t best = 0;
        for (const Good& good : goods) {
            if (good.cards != 1 || good.milli > left) continue;
            best = std::max(best, gain(good, lane) + best_of_part(left - good.milli, lane));
        }
        return best;
    }
    std::int32_t best_of_idle(int idle, int lane) const {
        if (idle == 0) return 0;
        std::int32_t best = best_of_part(whole_card, lane) + best_of_idle(idle - 1, lane);
        if (idle >= 2) best = std::max(best, gain(goods[4], lane) + best_of_idle(idle - 2, lane));
        return best;
    }
    std::int32_t plain_value(const Free& free) const {
        std::int32_t best = std::numeric_limits<std::int32_t>::max();
        for (int lane = 0; lane < lanes; ++lane) {
            int idle = 0;
            const float rate = tables[0].rates().lane[lane];
            auto sum = static_cast<std::int32_t>(rate * static_cast<float>(free.amounts[cpu]));
            for (const int left : free.cards) {
                if (left == whole_card) {
                    ++idle;
                } else {
                    sum += value(part_row(left), lane);
                }
            }
            best = std::min(best, sum + value(idle_row + idle, lane));
        }
        return best;
    }
};

TEST(Tables, fill_the_rest_of_a_card_as_well_as_brute_force) {
    for (const Built& built : {Built(5), Built(2)}) {
        for (int lane = 0; lane < lanes; ++lane) {
            for (int left = 0; left < whole_card; left += 10) {
                EXPECT_EQ(built.value(part_row(left), lane), built.best_of_part(left, lane))
                    << left << " " << lane;
            }
        }
    }
}

TEST(Tables, fill_idle_cards_as_well_as_brute_force) {
    for (const Built& built : {Built(5), Built(2)}) {
        for (int lane = 0; lane < lanes; ++lane) {
            for (int idle = 0; idle <= most_idle; ++idle) {
                EXPECT_EQ(built.value(idle_row + idle, lane), built.best_of_idle(idle, lane))
                    << idle << " " << lane;
            }
        }
    }
}

TEST(Tables, know_what_of_the_companion_the_best_fill_uses) {
    const Built built;
    const Rates* use = built.tables[0].use(0);
    EXPECT_EQ(use[0].lane[0], 0);
    // At no price of cores: 810 + 190, then two whole cards for one good.
    EXPECT_EQ(use[part_row(810)].lane[0], 200);
    EXPECT_EQ(use[idle_row + 2].lane[0], 300);
}

TEST(Tables, never_ask_less_for_cores_than_tasks_without_cards_pay) {
    const Built built;
    for (const float rate : built.tables[0].rates().lane) EXPECT_GE(rate, 5.0F / 100 * unit);
}

// So the cores of a full node are taken first: on a node whose cards have room they count at a higher price.
TEST(Tables, charge_nothing_for_plentiful_cores_at_what_they_can_be_had_for_alone) {
    const Built plenty(2), scarce(5);
    for (int lane = 0; lane < lanes; ++lane) {
        EXPECT_EQ(scarce.tables[0].paid().lane[lane], scarce.tables[0].rates().lane[lane]);
        const float rate = plenty.tables[0].rates().lane[lane];
        EXPECT_EQ(plenty.tables[0].paid().lane[lane], lane == 0 ? 0 : rate);
    }
    const std::vector<std::int16_t> none{0, 0}, room{0, 1000};
    const auto lost = [&](const std::vector<std::int16_t>& cards) {
        Free before{.type = 0, .cards = cards, .amounts = {500}}, after = before;
        after.amounts[cpu] -= 100;
        return node_value(plenty.book(), before) - node_value(plenty.book(), after);
    };
    EXPECT_EQ(lost(none), 2 * unit);
    EXPECT_GT(lost(room), 2 * unit);
}

TEST(Tables, count_what_they_fill_with) {
    const Built built;
    const auto cells = static_cast<std::size_t>(built.tables[0].rows() * lanes);
    std::vector<double> fills(cells), served(goods.size());
    const Cells cell{fills};
    cell.at(idle_row + 3, 0) = 10;  // one pair, and 810 + 190 on the third
    built.tables[0].count(goods, 0, cell, served);
    EXPECT_EQ(served, (std::vector<double>{0, 0, 0, 10, 10, 0}));
    std::fill(fills.begin(), fills.end(), 0);
    cell.at(part_row(990), 0) = 1;
    std::fill(served.begin(), served.end(), 0);
    built.tables[0].count(goods, 0, cell, served);
    EXPECT_EQ(served, (std::vector<double>{0, 2, 0, 0, 0, 0}));
}

TEST(Steps, never_make_fewer_parts_fit_on_a_card) {
    for (int milli = 1; milli <= whole_card; ++milli) {
        ASSERT_GE(steps_of(milli), 1);
        if (whole_card / milli > steps_per_card) continue;  // below a hundredth there is no telling
        EXPECT_LE(steps_of(milli) * (whole_card / milli), steps_per_card) << milli;
    }
}

TEST(Classes, are_of_types_that_accept_the_same) {
    std::vector<Good> some{a_good(1, 500, 1, 1), a_good(1, 300, 1, 1)};
    some[0].types = 0b0011;
    const Classes classes = classify(some, 0b1111, 8);
    EXPECT_EQ(classes.count(), 2);
    EXPECT_EQ(classes.of(0), classes.of(1));
    EXPECT_EQ(classes.of(2), classes.of(3));
    EXPECT_NE(classes.of(0), classes.of(2));
}

// A node at random, the same ones each time.
struct Draw {
    std::uint32_t state = 1;
    int below(int n) {
        state = state * 1664525 + 1013904223;
        return static_cast<int>((state >> 8) % static_cast<std::uint32_t>(n));
    }
    std::vector<std::int16_t> cards() {
        std::vector<std::int16_t> out;
        for (int i = 0; i < most_idle; ++i) {
            out.push_back(static_cast<std::int16_t>(below(3) == 0 ? whole_card : 10 * below(100)));
        }
        return out;
    }
};

TEST(Regret, sums_rows_as_a_plain_loop_does) {
    const Built built;
    Draw draw;
    for (int i = 0; i < 1000; ++i) {
        const auto cards = draw.cards();
        Free free{.type = 0, .cards = cards};
        free.amounts[cpu] = draw.below(4000);
        ASSERT_EQ(node_value(built.book(), free), built.plain_value(free));
    }
}

TEST(Regret, is_never_below_nothing) {
    const Built built;
    Draw draw;
    constexpr int rounding = 3;  // units
    for (int i = 0; i < 1000; ++i) {
        auto cards = draw.cards();
        Free free{.type = 0, .cards = cards};
        free.amounts[cpu] = 1000 + draw.below(4000);
        const std::int32_t before = node_value(built.book(), free);
        const auto& good = goods[static_cast<std::size_t>(draw.below(3))];
        for (auto& left : cards) {
            if (left < good.milli) continue;
            left = static_cast<std::int16_t>(left - good.milli);
            Free after = free;
            after.amounts[cpu] -= static_cast<std::int64_t>(good.amounts[cpu]);
            EXPECT_GE(before - node_value(built.book(), after) - std::lround(good.price * unit), -rounding);
            left = static_cast<std::int16_t>(left + good.milli);
        }
    }
}

Rating chosen(const Book& book, const Free& free, const Demand& kind, std::int32_t price,
              std::uint64_t allowed, bool together = false) {
    Row sums[companions];
    return least_regret(book, free, appraise(book, free, sums), kind, price, allowed, together);
}

TEST(Regret, takes_the_card_whose_rest_is_worth_most) {
    const Built built;
    const std::vector<std::int16_t> cards{810, 470, 1000, 190};
    Free free{.type = 0, .cards = cards};
    free.amounts[cpu] = 100000;
    Demand kind{.cards = 1, .milli = 190};
    kind.amounts[cpu] = 40;
    const auto price = static_cast<std::int32_t>(150 * unit);
    EXPECT_EQ(chosen(built.book(), free, kind, price, ~std::uint64_t{0}).card, 3);
    EXPECT_EQ(chosen(built.book(), free, kind, price, 0b0011).card, 0);  // 470 is a good's place
    EXPECT_EQ(chosen(built.book(), free, kind, price, 0).level, -1);
}

TEST(Regret, keeps_idle_cards_together_when_told_to) {
    const Built built;
    const std::vector<std::int16_t> one{1000, 0, 0, 0}, three{1000, 1000, 1000, 0};
    const Demand kind{.cards = 1, .milli = whole_card};
    const auto level = [&](const std::vector<std::int16_t>& cards, bool together) {
        const Free free{.type = 0, .cards = cards};
        return chosen(built.book(), free, kind, 0, ~std::uint64_t{0}, together).level;
    };
    EXPECT_EQ(level(one, false), level(three, false));  // without cores the cards are worth nothing anyway
    EXPECT_GT(level(one, true), level(three, true));
}

}  // namespace
}  // namespace crater::engine::price
