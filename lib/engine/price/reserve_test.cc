#include "price/reserve.h"

#include <gtest/gtest.h>

namespace crater::engine::price {
namespace {

Good whole_card_good(std::uint64_t types, double mix) {
    return {.cards = 1, .milli = 1000, .types = types, .mix = mix};
}

std::array<double, card_types> two_types(double first, double second) {
    std::array<double, card_types> out{};
    out[0] = first;
    out[1] = second;
    return out;
}

TEST(Reserve, is_nothing_while_everybody_takes_any_card) {
    const std::vector<Good> goods{whole_card_good(~std::uint64_t{0}, 10)};
    EXPECT_EQ(reserve(goods, two_types(1000, 9000)), Reserve{});
    EXPECT_EQ(reserve({}, two_types(1000, 9000)), Reserve{});
}

TEST(Reserve, is_for_those_who_can_use_no_other_type) {
    const std::vector<Good> goods{whole_card_good(~std::uint64_t{0}, 10), whole_card_good(0b01, 1)};
    const Reserve out = reserve(goods, two_types(1000, 9000));
    EXPECT_GT(out[0], 0);
    EXPECT_EQ(out[1], 0);
    EXPECT_GT(reserve(goods, two_types(500, 9000))[0], out[0]);  // the less there is of it
}

TEST(Reserve, stays_a_tie_break_however_short_a_type_is) {
    const std::vector<Good> goods{whole_card_good(~std::uint64_t{0}, 10), whole_card_good(0b01, 1000)};
    EXPECT_LT(reserve(goods, two_types(1, 9000))[0], 50 * 64);  // of a thousand
}

}  // namespace
}  // namespace crater::engine::price
