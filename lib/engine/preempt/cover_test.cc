// The cheapest cover against all sets.
#include "preempt/cover.h"

#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "crater/base/clock.h"

namespace crater::engine {
namespace {

TEST(Cover, is_the_best_of_all_sets_and_nobody_can_be_left_out) {
    int found = 0, none = 0;
    for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
        SeededRng rng(seed * 2654435761);
        std::vector<Leaver> all;
        // cost by the card alone: many sets are equal
        const auto restart = static_cast<std::int64_t>(rng.below(3));
        for (auto n = 1 + rng.below(10); n > 0; --n) {
            Leaver one{static_cast<int>(all.size()),
                       static_cast<int>(100 * rng.below(3)),
                       0,
                       {static_cast<std::int64_t>(rng.below(6))},
                       static_cast<std::int64_t>(rng.below(9))};
            one.cost = restart > 0 ? restart * one.cards : static_cast<std::int64_t>(rng.below(30));
            all.push_back(one);
        }
        const auto wanted = 1 + static_cast<std::int64_t>(rng.below(20));
        const auto figures = [&](const std::vector<int>& set) {
            std::tuple out(0, std::int64_t{0}, set.size(), INT64_MIN);
            for (const int j : set) {
                const Leaver& one = all[static_cast<std::size_t>(j)];
                std::get<0>(out) = std::max(std::get<0>(out), one.priority);
                std::get<1>(out) += one.cost;
                std::get<3>(out) = std::max(std::get<3>(out), -one.started.ms);
            }
            return out;
        };
        const auto cards = [&](const std::vector<int>& set) {
            std::int64_t sum = 0;
            for (const int j : set) sum += all[static_cast<std::size_t>(j)].cards;
            return sum;
        };
        std::optional<std::tuple<int, std::int64_t, std::size_t, std::int64_t>> best;
        for (std::uint32_t bits = 1; bits < 1U << all.size(); ++bits) {
            std::vector<int> set;
            for (std::size_t j = 0; j < all.size(); ++j)
                if (bits >> j & 1) set.push_back(static_cast<int>(j));
            if (const auto its = figures(set); (!best || its < *best) && cards(set) >= wanted) best = its;
        }
        const auto chosen = cheapest_cover(all, wanted);
        ASSERT_EQ(chosen.has_value(), best.has_value()) << seed;
        ++(chosen ? found : none);
        if (!chosen) continue;
        ASSERT_GE(cards(*chosen), wanted) << seed;
        ASSERT_EQ(figures(*chosen), *best) << seed;
        for (const int j : *chosen)
            ASSERT_LT(cards(*chosen) - all[static_cast<std::size_t>(j)].cards, wanted) << seed;
    }
    EXPECT_GT(found, 1000);
    EXPECT_GT(none, 100);
}

}  // namespace
}  // namespace crater::engine
