#include <gtest/gtest.h>

#include "crater/base/log_level.h"
#include "log_line.h"

namespace crater::log {
namespace {

TEST(Log, writes_one_json_object_a_line) {
    EXPECT_EQ(json_line(Instant{1716199200123}, Level::warning, "agent", "line one\nline \"two\"",
                        {{"node", "gpu-1"}, {"count", 3}, {"ok", true}, {"ratio", 0.0 / 0.0}}),
              "{\"time\":\"2024-05-20T10:00:00.123Z\",\"level\":\"warning\",\"component\":\"agent\",\"msg\":"
              "\"line one\\nline "
              "\\\"two\\\"\",\"node\":\"gpu-1\",\"count\":3,\"ok\":true,\"ratio\":\"-nan\"}");
}

TEST(Log, keeps_control_characters_from_the_terminal) {
    const std::string line = human_line(Instant{1716199200123}, Level::info, "a\033[2J\n", {{"k", "v\r"}});
    EXPECT_EQ(line.find("10:00:00.123"), 0U);
    EXPECT_EQ(line.find("[2J") - 1, line.find(" [2J"));
    EXPECT_EQ(line.find_first_of("\r\n"), std::string::npos);
}

TEST(Log, level_bounds_what_is_written) {
    testing::internal::CaptureStderr();
    setup("test", Level::warning);
    EXPECT_FALSE(enabled(Level::info));
    info("not this");
    error("this", {{"k", 1}});
    setup("crater", Level::info);
    const std::string out = testing::internal::GetCapturedStderr();
    EXPECT_EQ(out.find("not this"), std::string::npos);
    EXPECT_NE(out.find("\"component\":\"test\",\"msg\":\"this\",\"k\":1}\n"), std::string::npos);
}

TEST(Log, level_names_are_checked) {
    EXPECT_EQ(parse_level("debug").value(), Level::debug);
    EXPECT_EQ(parse_level("warn").value(), Level::warning);
    ASSERT_FALSE(parse_level("debgu"));
    EXPECT_EQ(parse_level("debgu").error().hint, "did you mean \"debug\"?");
}

TEST(Log, the_level_can_be_changed_while_it_runs) {
    setup("test", Level::info);
    EXPECT_FALSE(enabled(Level::debug));
    set_level(Level::debug);
    EXPECT_TRUE(enabled(Level::debug));
    set_level(Level::error);
    EXPECT_FALSE(enabled(Level::warning));
    set_level(Level::info);
}

}  // namespace
}  // namespace crater::log
