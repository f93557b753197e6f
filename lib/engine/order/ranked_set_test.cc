#include "order/ranked_set.h"

#include <gtest/gtest.h>

#include <set>

#include "crater/base/clock.h"

namespace crater::engine {
namespace {

TEST(RankedSet, is_a_set_that_knows_positions) {
    SeededRng rng(7);
    RankedSet<int> ranked;
    std::set<int> plain;
    for (int i = 0; i < 20'000; ++i) {
        // Grows, mostly at its end, then shrinks.
        const int value = rng.below(4) ? i : static_cast<int>(rng.below(20'000));
        const bool adds = rng.below(20'000) > static_cast<std::uint64_t>(i) / 2;
        EXPECT_EQ(adds ? ranked.insert(value) : ranked.erase(value),
                  adds ? plain.insert(value).second : plain.erase(value) == 1);
        if (i % 97 == 0) {
            const int asked = static_cast<int>(rng.below(20'000));
            EXPECT_EQ(ranked.rank_of(asked),
                      static_cast<std::size_t>(std::distance(plain.begin(), plain.lower_bound(asked))));
        }
        ASSERT_EQ(ranked.size(), plain.size());
        if (!plain.empty()) {
            ASSERT_EQ(*ranked.begin(), *plain.begin());
        }
    }
    EXPECT_TRUE(std::equal(ranked.begin(), ranked.end(), plain.begin(), plain.end()));
    for (const int value : std::set<int>(plain)) EXPECT_TRUE(ranked.erase(value));
    EXPECT_TRUE(ranked.empty());
    EXPECT_EQ(ranked.begin(), ranked.end());
    EXPECT_TRUE(ranked.insert(1));
    EXPECT_EQ(*ranked.begin(), 1);
}

}  // namespace
}  // namespace crater::engine
