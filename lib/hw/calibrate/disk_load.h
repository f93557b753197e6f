// One kind of IO against a file, by several jobs at once, bounded in time and bytes.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "crater/base/clock.h"
#include "crater/base/error.h"

namespace crater::hw {

struct LoadShape {
    bool write = false, random = false;
    std::int64_t block = 4096;
    int jobs = 1, depth = 1;  // operations in flight at once: jobs × depth
    std::int64_t time_us = 1'000'000, interval_us = 100'000;
    std::int64_t bytes_max = 0;  // of all jobs
};

struct LoadResult {
    std::int64_t operations = 0, bytes = 0, took_us = 0;
    std::vector<std::int64_t> per_interval;   // operations completed in each full interval
    std::vector<std::uint32_t> latencies_us;  // of each operation, when jobs × depth is 1
    bool ring = false;                        // done through io_uring
    double per_second(std::int64_t amount) const;
};

// `fd` is open for direct IO on a file of `size` bytes, a multiple of the block.
Result<LoadResult> run_load(int fd, std::int64_t size, const LoadShape& shape, const Clock& clock);

// ---- what the two ways of doing IO share
// ------------------------------------------------------------------------------------ The work of one run:
// hands out offsets until time or bytes are used up. Thread-safe but for `Offsets`.
class LoadBudget {
  public:
    LoadBudget(const LoadShape& shape, const Clock& clock)
        : shape_(shape), clock_(clock), start_us_(clock.ticks_us()), bytes_left_(shape.bytes_max) {}
    bool take(std::int64_t now_us) {
        return now_us - start_us_ < shape_.time_us && bytes_left_.fetch_sub(shape_.block) >= shape_.block;
    }
    std::int64_t now() const { return clock_.ticks_us(); }
    std::int64_t start_us() const { return start_us_; }

  private:
    const LoadShape& shape_;
    const Clock& clock_;
    const std::int64_t start_us_;
    std::atomic<std::int64_t> bytes_left_;
};

// Where one job reads or writes next: anywhere, or its own stripes one after the other.
class LoadOffsets {
  public:
    LoadOffsets(const LoadShape& shape, std::int64_t size, int job)
        : shape_(shape), blocks_(size / shape.block), next_(job), rng_(static_cast<std::uint64_t>(job) + 1) {}
    std::int64_t next();

  private:
    const LoadShape& shape_;
    std::int64_t blocks_, next_;
    SeededRng rng_;
};

// What one job did; summed when all are done.
struct LoadCount {
    std::int64_t operations = 0;
    std::vector<std::int64_t> per_interval;
    std::vector<std::uint32_t> latencies_us;
    Error error;
    bool failed = false;
    void done(const LoadShape& shape, const LoadBudget& budget, std::int64_t now_us);
    void fail_with(const char* call, int error_number);
};

// One job. `uring_job` answers false without having done anything where there is no io_uring.
bool uring_job(int fd, const LoadShape& shape, LoadBudget& budget, LoadOffsets offsets, LoadCount& count);
void thread_job(int fd, const LoadShape& shape, LoadBudget& budget, LoadOffsets offsets, LoadCount& count);
// A buffer fit for direct IO, filled with what does not compress.
struct LoadBuffer {
    explicit LoadBuffer(std::int64_t bytes, std::uint64_t seed);
    ~LoadBuffer();
    LoadBuffer(const LoadBuffer&) = delete;
    LoadBuffer& operator=(const LoadBuffer&) = delete;
    char* data;
};

}  // namespace crater::hw
