#include "crater/base/error.h"

#include <gtest/gtest.h>

#include <set>

namespace crater {
namespace {

Result<int> half(int n) {
    if (n % 2 != 0) return fail(Code::invalid, "odd", "n", "give an even number");
    return n / 2;
}
Result<int> quarter(int n) {
    CRATER_TRY(once, half(n));
    CRATER_TRY(twice, half(once));
    return twice;
}
Result<void> even(int n) {
    CRATER_TRY_VOID(quarter(n));
    return {};
}

TEST(Error, travels_through_try_unchanged) {
    EXPECT_EQ(quarter(8).value(), 2);
    EXPECT_TRUE(even(8));
    const auto refused = even(6);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::invalid);
    EXPECT_EQ(refused.error().text(), "n: odd (give an even number)");
}

TEST(Error, text_is_one_line_and_never_empty) {
    EXPECT_EQ((Error{Code::limited, "", "", ""}.text()), "limited");
    EXPECT_EQ((Error{Code::internal, "a\nb", "", ""}.text()), "a b");
}

TEST(CodeTable, has_every_code_once_with_its_statuses) {
    std::set<Code> codes;
    for (const auto& row : code_table()) {
        EXPECT_TRUE(codes.insert(row.code).second);
        EXPECT_EQ(code_named(row.name), row.code);
        EXPECT_EQ(&code_row(row.code), &row);
        EXPECT_GE(row.http_status, 400);
        EXPECT_GE(row.exit_status, 1);
        EXPECT_LE(row.exit_status, 5);
    }
    EXPECT_EQ(codes.size(), static_cast<std::size_t>(Code::internal) + 1);
    EXPECT_EQ(code_row(Code::unsatisfiable).http_status, 422);
    EXPECT_EQ(code_row(Code::unavailable).exit_status, 5);
    EXPECT_EQ(code_named("nonsense"), Code::internal);
}

TEST(CheckDeathTest, aborts_with_place_and_condition) {
    const int two = 2;
    EXPECT_DEATH(CRATER_CHECK(two == 3, "arithmetic"), "error_test.cc.*two == 3: arithmetic");
}

}  // namespace
}  // namespace crater
