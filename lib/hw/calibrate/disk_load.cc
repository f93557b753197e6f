#include "calibrate/disk_load.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

namespace crater::hw {

double LoadResult::per_second(std::int64_t amount) const {
    return took_us > 0 ? static_cast<double>(amount) * 1e6 / static_cast<double>(took_us) : 0;
}

std::int64_t LoadOffsets::next() {
    if (shape_.random)
        return static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(blocks_))) * shape_.block;
    const std::int64_t block = next_ % blocks_;
    next_ += shape_.jobs;
    return block * shape_.block;
}

void LoadCount::done(const LoadShape& shape, const LoadBudget& budget, std::int64_t now_us) {
    ++operations;
    const auto interval = static_cast<std::size_t>((now_us - budget.start_us()) / shape.interval_us);
    if (interval >= per_interval.size()) per_interval.resize(interval + 1);
    ++per_interval[interval];
}

void LoadCount::fail_with(const char* call, int error_number) {
    failed = true;
    error = {Code::unavailable, std::string(call) + " failed: " + strerror(error_number), {}, {}};
}

LoadBuffer::LoadBuffer(std::int64_t bytes, std::uint64_t seed) : data(nullptr) {
    constexpr std::size_t page = 4096;
    const auto size = static_cast<std::size_t>(bytes);
    data = static_cast<char*>(aligned_alloc(page, (size + page - 1) / page * page));
    CRATER_CHECK(data != nullptr);
    SeededRng rng(seed);
    for (std::size_t i = 0; i + sizeof(std::uint64_t) <= size; i += sizeof(std::uint64_t)) {
        const std::uint64_t word = rng.next();
        memcpy(data + i, &word, sizeof word);
    }
}
LoadBuffer::~LoadBuffer() { free(data); }

void thread_job(int fd, const LoadShape& shape, LoadBudget& budget, LoadOffsets offsets, LoadCount& count) {
    const LoadBuffer buffer(shape.block, 1);
    const auto size = static_cast<std::size_t>(shape.block);
    for (std::int64_t before = budget.now(); budget.take(before);) {
        const auto offset = offsets.next();
        const ssize_t moved =
            shape.write ? pwrite(fd, buffer.data, size, offset) : pread(fd, buffer.data, size, offset);
        if (moved != shape.block)
            return count.fail_with(shape.write ? "pwrite" : "pread", moved < 0 ? errno : EIO);
        const std::int64_t after = budget.now();
        count.done(shape, budget, after);
        if (shape.jobs * shape.depth == 1)
            count.latencies_us.push_back(static_cast<std::uint32_t>(after - before));
        before = after;
    }
}

namespace {

// Runs `count` jobs at once and sums them.
template <class Job>
Result<LoadResult> run_jobs(int count, const LoadBudget& budget, const Job& job) {
    std::vector<LoadCount> counts(static_cast<std::size_t>(count));
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < count; ++i)
            threads.emplace_back([&, i] { job(i, counts[static_cast<std::size_t>(i)]); });
    }
    LoadResult sum;
    sum.took_us = budget.now() - budget.start_us();
    for (auto& one : counts) {
        if (one.failed) return fail(std::move(one.error));
        sum.operations += one.operations;
        if (one.per_interval.size() > sum.per_interval.size())
            sum.per_interval.resize(one.per_interval.size());
        for (std::size_t i = 0; i < one.per_interval.size(); ++i) sum.per_interval[i] += one.per_interval[i];
        sum.latencies_us.insert(sum.latencies_us.end(), one.latencies_us.begin(), one.latencies_us.end());
    }
    if (!sum.per_interval.empty()) sum.per_interval.pop_back();  // the last is not full
    return sum;
}

}  // namespace

Result<LoadResult> run_load(int fd, std::int64_t size, const LoadShape& shape, const Clock& clock) {
    std::atomic<bool> no_ring = false;
    Result<LoadResult> result = LoadResult{};
    if (shape.jobs * shape.depth > 1) {
        LoadBudget budget(shape, clock);
        result = run_jobs(shape.jobs, budget, [&](int job, LoadCount& count) {
            if (!uring_job(fd, shape, budget, LoadOffsets(shape, size, job), count)) no_ring = true;
        });
        if (result) result->ring = true;
    }
    if (shape.jobs * shape.depth == 1 || no_ring) {
        constexpr int threads_max = 64;
        LoadShape flat = shape;
        flat.jobs = std::min(threads_max, shape.jobs * shape.depth);
        flat.depth = 1;
        LoadBudget budget(flat, clock);
        result = run_jobs(flat.jobs, budget, [&](int job, LoadCount& count) {
            thread_job(fd, flat, budget, LoadOffsets(flat, size, job), count);
        });
    }
    if (result) result->bytes = result->operations * shape.block;
    return result;
}

}  // namespace crater::hw
