#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <barrier>
#include <thread>
#include <vector>

#include "crater/hw/calibrate.h"

namespace crater::hw {
namespace {

// Pages of one array, touched first by the thread that made them and so local to its domain.
class TriadArray {
  public:
    explicit TriadArray(std::size_t elements) : bytes_(elements * sizeof(double)) {
        void* pages = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CRATER_CHECK(pages != MAP_FAILED);
        madvise(pages, bytes_, MADV_HUGEPAGE);
        data_ = static_cast<double*>(pages);
        std::fill_n(data_, elements, 1.0);
    }
    ~TriadArray() { munmap(data_, bytes_); }
    TriadArray(const TriadArray&) = delete;
    TriadArray& operator=(const TriadArray&) = delete;
    double* data() const { return data_; }

  private:
    std::size_t bytes_;
    double* data_;
};

constexpr std::size_t triad_chunk = 4096;  // a constant trip count, so that the loop is vectorised

void triad(double* __restrict a, const double* __restrict b, const double* __restrict c, double scale) {
    for (std::size_t i = 0; i < triad_chunk; ++i) a[i] = b[i] + scale * c[i];
}

void pin_to(std::int64_t cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(cpu), &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);  // where it fails the figure is less exact
}

}  // namespace

BytesPerSecond measure_memory_bandwidth(const NumaDomain& domain, bool quick, const Clock& clock) {
    if (domain.cpus.empty()) return BytesPerSecond(0);
    constexpr std::int64_t arrays = 3;
    const auto threads = static_cast<std::int64_t>(domain.cpus.size());
    // Far more than the caches hold, but never more than an eighth of the domain.
    const std::int64_t wanted = (quick ? 64 : 192) * (std::int64_t{1} << 20) * threads;
    const std::int64_t bytes = domain.memory ? std::min(wanted, domain.memory.value / 8) : wanted;
    const auto chunks = std::max<std::size_t>(
        1, static_cast<std::size_t>(bytes / threads / arrays) / sizeof(double) / triad_chunk);
    const std::size_t elements = chunks * triad_chunk;
    const int rounds = quick ? 8 : 30;

    std::vector<std::int64_t> marks;  // ticks at the start and at each round's end
    std::barrier meeting(static_cast<std::ptrdiff_t>(threads),
                         [&]() noexcept { marks.push_back(clock.ticks_us()); });
    {
        std::vector<std::jthread> workers;
        for (const auto cpu : domain.cpus)
            workers.emplace_back([&, cpu] {
                pin_to(cpu);
                const TriadArray a(elements), b(elements), c(elements);
                for (int round = 0; round < rounds; ++round) {
                    meeting.arrive_and_wait();
                    for (std::size_t at = 0; at < elements; at += triad_chunk)
                        triad(a.data() + at, b.data() + at, c.data() + at, static_cast<double>(round));
                }
                meeting.arrive_and_wait();
            });
    }
    std::int64_t best = 0;
    for (std::size_t i = 1; i < marks.size(); ++i) {
        const std::int64_t took = marks[i] - marks[i - 1];
        if (i > 1 && took > 0 && (best == 0 || took < best)) best = took;  // the first round warms up
    }
    const auto moved = static_cast<double>(elements) * sizeof(double) * arrays * static_cast<double>(threads);
    return BytesPerSecond(best > 0 ? static_cast<std::int64_t>(moved * 1e6 / static_cast<double>(best)) : 0);
}

Result<ProbeMeasured> calibrate(const CalibrateOptions& options, const NodeInventory& inventory,
                                const Clock& clock, const CalibrateProgress& progress) {
    ProbeMeasured out;
    out.at = clock.now();
    const int domains = static_cast<int>(inventory.numa.size());
    int total = domains + 5;
    for (int i = 0; i < domains; ++i) {
        const NumaDomain& domain = inventory.numa[static_cast<std::size_t>(i)];
        progress("memory bandwidth of NUMA domain " + std::to_string(domain.id), i, total);
        auto measured = measure_memory_bandwidth(domain, options.quick, clock);
        measured.value = measured.value / 100'000'000 * 100'000'000;  // to 0.1 GB/s
        if (measured) out.cpu.numa_nodes.push_back({.id = domain.id, .memory_bandwidth = measured});
    }
    if (inventory.disks.empty()) return out;
    CRATER_TRY(disk, measure_disk(options, clock, [&](std::string_view what, int done, int steps) {
                   progress(inventory.disks.front().name + ": " + std::string(what), domains + done,
                            domains + steps);
               }));
    out.ssd[inventory.disks.front().name] = disk;
    return out;
}

}  // namespace crater::hw
