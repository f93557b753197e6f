#include "price/fragmentation.h"

#include <gtest/gtest.h>

#include <cmath>

namespace crater::engine::price {
namespace {

Demand a_request(int cards, int milli, std::int64_t cpu_milli) {
    Demand out{.cards = cards, .milli = milli};
    out.amounts[cpu] = cpu_milli;
    return out;
}

struct Small {
    std::vector<std::int16_t> cards;
    std::int64_t cpu_milli = 8000;
    Free free() const {
        Free out{.type = 0, .cards = cards};
        out.amounts[cpu] = cpu_milli;
        return out;
    }
};

// Half of the tasks want 600 of a card, half want cores only, for whom all card capacity is unusable.
class FragmentationGradient : public ::testing::Test {
  protected:
    FragmentationGradient() {
        policy.set_targets({{a_request(1, 600, 1000), 0.5}, {a_request(0, 0, 1000), 0.5}});
    }
    Fragmentation policy;
};

TEST_F(FragmentationGradient, counts_what_typical_tasks_cannot_use) {
    EXPECT_DOUBLE_EQ(policy.unusable(Small{{1000, 500}}.free()), 0.5 * 500 + 0.5 * 1500);
    EXPECT_DOUBLE_EQ(policy.unusable(Small{{500, 500}}.free()), 0.5 * 1000 + 0.5 * 1000);
    EXPECT_DOUBLE_EQ(policy.unusable(Small{{1000}, 500}.free()), 1000);  // cores are missing
}

TEST_F(FragmentationGradient, takes_the_card_that_leaves_least_unusable) {
    const Rating choice = policy.choose(Small{{1000, 500}}.free(), a_request(1, 500, 1000), 0);
    EXPECT_EQ(choice.card, 1);
    EXPECT_EQ(choice.level, 62);  // from 1000 to 500: 100 sigmoid(0.5) = 62.2
}

TEST_F(FragmentationGradient, remembers_without_changing_the_answer) {
    const Small node{{1000, 700, 500, 700}};
    const Rating first = policy.choose(node.free(), a_request(1, 500, 1000), 3);
    const Rating again = policy.choose(node.free(), a_request(1, 500, 1000), 3);
    EXPECT_EQ(first.level, again.level);
    EXPECT_EQ(first.card, again.card);
    policy.set_targets({{a_request(1, 300, 0), 1.0}});
    EXPECT_NE(policy.choose(node.free(), a_request(1, 500, 1000), 3).level, first.level);
}

TEST_F(FragmentationGradient, whole_cards_and_several_parts_have_no_card_to_choose) {
    EXPECT_EQ(policy.choose(Small{{1000, 1000}}.free(), a_request(2, 1000, 0), 1).card, -1);
    EXPECT_EQ(policy.choose(Small{{1000, 400, 300}}.free(), a_request(2, 300, 0), 2).card, -1);
}

TEST(FragmentationLevel, is_the_published_sigmoid) {
    Fragmentation policy;
    policy.set_targets(
        {{a_request(0, 0, 0), 1.0}});  // everything idle is unusable: the gain is what is taken
    for (int milli = 1; milli < 1000; ++milli) {
        const Rating choice = policy.choose(Small{{1000}}.free(), a_request(1, milli, 0), milli);
        EXPECT_EQ(choice.level, static_cast<int>(std::floor(100.0 / (1.0 + std::exp(-milli / 1000.0)))));
    }
    policy.set_targets({{a_request(8, 1000, 0), 1.0}});
    EXPECT_EQ(policy.choose(Small{{1000}}.free(), a_request(0, 0, 100), 0).level, 50);
}

TEST(Typical, are_the_most_frequent_until_95_percent) {
    std::vector<Arrived> arrived{{a_request(1, 500, 1), 60},
                                 {a_request(1, 300, 1), 36},
                                 {a_request(2, 1000, 1), 3},
                                 {a_request(4, 1000, 1), 1}};
    const auto targets = typical(arrived);
    ASSERT_EQ(targets.size(), 2u);
    EXPECT_EQ(targets[0].kind.milli, 500);
    EXPECT_DOUBLE_EQ(targets[0].share + targets[1].share, 1.0);
    EXPECT_DOUBLE_EQ(targets[0].share, 60.0 / 96);
}

TEST(Typical, look_at_cards_and_cores_only) {
    Demand small = a_request(1, 500, 1), large = small;
    large.amounts[memory] = 1 << 30;
    const std::vector<Arrived> arrived{{small, 1}, {large, 1}};
    EXPECT_EQ(typical(arrived).size(), 1u);
    EXPECT_TRUE(typical({}).empty());
}

}  // namespace
}  // namespace crater::engine::price
