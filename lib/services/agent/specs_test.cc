#include "crater/agent/specs.h"

#include <gtest/gtest.h>

#include "crater/codec/codec.h"

namespace crater::agent {
namespace {

std::string text_of(const std::string& name) {
    JobSpec spec;
    spec.name = name;
    return codec::write_json(spec);
}

TEST(Specs, read_equal_texts_once) {
    Specs specs;
    const auto first = specs.of(text_of("a")), again = specs.of(text_of("a"));
    ASSERT_TRUE(first && again);
    EXPECT_EQ((*first)->name, "a");
    EXPECT_EQ(*first, *again);
}

TEST(Specs, tell_texts_apart_however_many_there_are) {
    Specs specs;
    for (int round = 0; round < 2; ++round)
        for (int i = 0; i < 50; ++i) {
            const auto spec = specs.of(text_of(std::to_string(i)));
            ASSERT_TRUE(spec);
            EXPECT_EQ((*spec)->name, std::to_string(i));
        }
}

TEST(Specs, keep_nothing_of_what_cannot_be_read) {
    Specs specs;
    EXPECT_FALSE(specs.of("{"));
    EXPECT_FALSE(specs.of("{"));
    EXPECT_FALSE(specs.of(""));
    EXPECT_TRUE(specs.of(text_of("a")));
}

}  // namespace
}  // namespace crater::agent
