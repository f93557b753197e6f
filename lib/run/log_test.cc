#include <gmock/gmock.h>

#include "kit_test.h"

namespace crater::run::testing {
namespace {

class Logs : public RuntimeTest {
  protected:
    void SetUp() override {
        RuntimeTest::SetUp();
        options_.log_bytes_max = 4096;
        open();
    }
    static std::string line(int n) {
        std::string digits = std::to_string(n);
        return std::string(9 - digits.size(), '0') + digits +
               "\n";  // 10 bytes, so that an offset tells the number
    }
};

TEST_F(Logs, are_bounded_and_rotated_once) {
    const auto launch = shell("i=0; while [ $i -lt 2000 ]; do printf '%09d\\n' $i; i=$((i+1)); done");
    run(launch);
    const std::string path = task_paths(options_, launch.id).log;
    EXPECT_LE(std::filesystem::file_size(path), 4096U);
    EXPECT_EQ(std::filesystem::file_size(path + ".1"), 4096U);
    EXPECT_EQ(list_folder(options_.data + "/logs").size(), 2U);
    // From the start: what is kept, to the end of all that was ever written.
    const auto all = runtime_->log(launch.id, 0, 1 << 20);
    ASSERT_TRUE(all);
    EXPECT_EQ(all->second, 20'000);
    EXPECT_TRUE(all->first.ends_with(line(1999)));
    EXPECT_LE(all->first.size(), 8192U);
    EXPECT_GT(all->first.size(), 4096U);
    // From an offset across the border of the two files, in small pieces.
    std::int64_t at = 15'000;
    std::string text;
    while (true) {
        const auto part = runtime_->log(launch.id, at, 7);
        ASSERT_TRUE(part);
        if (part->first.empty()) break;
        ASSERT_LE(part->first.size(), 7U);
        text += part->first;
        at = part->second;
    }
    std::string wanted;
    for (int n = 1500; n < 2000; ++n) wanted += line(n);
    EXPECT_TRUE(text == wanted) << "from " << text.substr(0, 30);
}

TEST_F(Logs, are_followed_while_they_are_rotated) {
    // The task goes on only when the reader has seen what it wrote, so nothing may be missing.
    const auto launch = shell(
        "i=0; while [ $i -lt 1500 ]; do printf '%09d\\n' $i; i=$((i+1)); "
        "[ $((i % 300)) -ne 0 ] || while [ ! -e seen$i ]; do sleep 0.005; done; done");
    start(launch);
    std::string text;
    std::int64_t at = 0;
    EXPECT_TRUE(loop_.until([&] {
        if (const auto part = runtime_->log(launch.id, at, 1000)) {
            EXPECT_EQ(part->second - at, static_cast<std::int64_t>(part->first.size())) << "a gap";
            text += part->first;
            at = part->second;
        }
        if (at > 0 && at % 3000 == 0)
            std::ofstream(folder(launch.id) + "/work/seen" + std::to_string(at / 10)) << "";
        return at == 15'000;
    }));
    std::string wanted;
    for (int n = 0; n < 1500; ++n) wanted += line(n);
    EXPECT_TRUE(text == wanted);
}

TEST_F(Logs, both_streams_go_in_and_others_cannot_read_them) {
    const auto launch = shell("echo out; echo err >&2");
    run(launch);
    EXPECT_EQ(log_of(launch.id), "out\nerr\n");
    const auto mode = std::filesystem::status(task_paths(options_, launch.id).log).permissions();
    EXPECT_EQ(mode & std::filesystem::perms(0077), std::filesystem::perms::none);
}

TEST_F(Logs, an_offset_beyond_the_end_gives_nothing) {
    const auto launch = shell("echo out");
    run(launch);
    const auto part = runtime_->log(launch.id, 1000, 100);
    ASSERT_TRUE(part);
    EXPECT_EQ(*part, std::pair(std::string(), std::int64_t{1000}));
}

}  // namespace
}  // namespace crater::run::testing
