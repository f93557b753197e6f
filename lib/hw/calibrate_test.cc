#include "crater/hw/calibrate.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "calibrate/disk_load.h"

namespace crater::hw {
namespace {

// A clock whose every look costs 100 µs, so that loads end after so many operations whatever the machine
// does.
class CountingClock final : public Clock {
  public:
    Instant now() const override { return {1}; }
    std::int64_t ticks_us() const override { return us_ += 100; }

  private:
    mutable std::atomic<std::int64_t> us_{0};
};

class DiskLoad : public testing::Test {
  protected:
    DiskLoad() {
        char path[] = "/tmp/crater-load-XXXXXX";
        fd_ = mkostemp(path, O_CLOEXEC);
        unlink(path);
        EXPECT_EQ(ftruncate(fd_, size), 0);
    }
    ~DiskLoad() override { close(fd_); }
    static constexpr std::int64_t size = 1 << 20;
    int fd_;
    CountingClock clock_;
};

TEST_F(DiskLoad, stops_when_its_bytes_are_used_up) {
    const auto done = run_load(
        fd_, size, {.write = true, .jobs = 4, .depth = 8, .time_us = 1'000'000'000, .bytes_max = 100 * 4096},
        clock_);
    ASSERT_TRUE(done) << done.error().text();
    EXPECT_EQ(done->operations, 100);
    EXPECT_EQ(done->bytes, 100 * 4096);
}

TEST_F(DiskLoad, stops_when_its_time_is_used_up) {
    const auto done = run_load(
        fd_, size, {.random = true, .time_us = 10'000, .interval_us = 1'000, .bytes_max = 1 << 30}, clock_);
    ASSERT_TRUE(done);
    EXPECT_LE(done->operations, 100);
    EXPECT_GT(done->operations, 10);
    EXPECT_EQ(done->latencies_us.size(), static_cast<std::size_t>(done->operations));
    EXPECT_GE(done->per_interval.size(), 8U);
}

TEST_F(DiskLoad, writes_every_block_once_when_sequential) {
    const auto done = run_load(
        fd_, size,
        {.write = true, .block = 4096, .jobs = 3, .depth = 4, .time_us = 1'000'000'000, .bytes_max = size},
        clock_);
    ASSERT_TRUE(done);
    EXPECT_EQ(done->bytes, size);
}

TEST_F(DiskLoad, says_what_failed) {
    const int read_only = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    for (int depth : {1, 8}) {
        const auto done =
            run_load(read_only, size,
                     {.write = true, .depth = depth, .time_us = 1'000'000'000, .bytes_max = size}, clock_);
        ASSERT_FALSE(done) << depth;
        EXPECT_NE(done.error().message.find("Bad file descriptor"), std::string::npos)
            << done.error().message;
    }
    close(read_only);
}

TEST(Calibrate, refuses_a_folder_that_is_memory_or_not_there) {
    CountingClock clock;
    const auto none = [](std::string_view, int, int) {};
    EXPECT_EQ(measure_disk({.path = "/no/such/folder", .quick = true}, clock, none).error().field, "path");
    EXPECT_EQ(measure_disk({.path = "/dev/shm", .quick = true}, clock, none).error().field, "path");
    EXPECT_EQ(measure_disk({.path = "/proc", .quick = true}, clock, none).error().field, "path");
}

TEST(Calibrate, memory_bandwidth_comes_from_the_domains_own_cpus) {
    CountingClock clock;
    EXPECT_EQ(measure_memory_bandwidth({}, true, clock), BytesPerSecond(0));
    const NumaDomain small{.cpus = {0}, .core_of = {0}, .memory = Bytes(8 << 20)};
    EXPECT_EQ(measure_memory_bandwidth(small, true, clock),
              BytesPerSecond(std::int64_t{10} * 4096 * 10 * 3 * 8 * 1000));
}

}  // namespace
}  // namespace crater::hw
