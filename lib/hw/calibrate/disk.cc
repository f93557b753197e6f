#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <utility>

#include "calibrate/disk_load.h"
#include "crater/base/ids.h"
#include "crater/hw/calibrate.h"

namespace crater::hw {
namespace {

constexpr std::int64_t mib = 1 << 20;

// How much of everything.
struct DiskBounds {
    std::int64_t file, random_write, random_us, latency_us, sequential_us, interval_us;
};
constexpr DiskBounds quick_bounds = {256 * mib, 512 * mib, 2'000'000, 1'000'000, 2'000'000, 200'000};
constexpr DiskBounds full_bounds = {2048 * mib, 4096 * mib, 15'000'000, 5'000'000, 10'000'000, 500'000};

// A file that nobody else sees: unlinked as soon as it is open.
class ScratchFile {
  public:
    static Result<ScratchFile> create(const std::string& folder) {
        std::string path = folder + "/.crater-calibrate-XXXXXX";
        struct statfs system {};
        if (statfs(folder.c_str(), &system) == 0 &&
            (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC))
            return fail(Code::invalid, shown(folder) + " is memory, not a disk", "path",
                        "name a folder on a disk");
        const int fd = mkostemp(path.data(), O_CLOEXEC);
        if (fd < 0)
            return fail(Code::invalid, "cannot make a file in " + shown(folder) + ": " + strerror(errno),
                        "path");
        ScratchFile file(fd);
        unlink(path.c_str());
        if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_DIRECT) != 0)
            return fail(Code::invalid,
                        shown(folder) + " does not allow direct IO, so only memory would be measured", "path",
                        "name a folder on a disk");
        return file;
    }
    explicit ScratchFile(int fd) : fd_(fd) {}
    ScratchFile(ScratchFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    ScratchFile& operator=(ScratchFile&&) = delete;
    ~ScratchFile() {
        if (fd_ >= 0) close(fd_);
    }
    int fd() const { return fd_; }

  private:
    int fd_;
};

Result<std::int64_t> scratch_size(const std::string& folder, std::int64_t wanted) {
    struct statvfs space {};
    if (statvfs(folder.c_str(), &space) != 0)
        return fail(Code::invalid, "cannot look at " + shown(folder) + ": " + strerror(errno), "path");
    const auto free = static_cast<std::int64_t>(space.f_bavail * space.f_frsize);
    const std::int64_t size = std::min(wanted, free / 10 / mib * mib);
    constexpr std::int64_t least = 64 * mib;
    if (size < least)
        return fail(Code::invalid,
                    shown(folder) + " has " + format(Bytes(free)) + " free; at least " +
                        format(Bytes(10 * least)) + " are needed",
                    "path");
    return size;
}

double stability(const LoadResult& load) {
    if (load.per_interval.size() < 3) return 0;
    const auto [least, most] = std::minmax_element(load.per_interval.begin() + 1, load.per_interval.end());
    return *most > 0 ? static_cast<double>(*least) / static_cast<double>(*most) : 0;
}

void put_latency(LoadResult& load, ProbeDisk& out) {
    auto& all = load.latencies_us;
    if (all.empty()) return;
    const auto place = all.begin() + static_cast<std::ptrdiff_t>((all.size() - 1) * 99 / 100);
    const auto sum = std::accumulate(all.begin(), all.end(), std::uint64_t{0});
    std::nth_element(all.begin(), place, all.end());
    out.latency_us = static_cast<double>(sum * 10 / all.size()) / 10;  // one decimal is plenty
    out.latency_p99_us = *place;
}

std::int64_t rounded(double value) { return static_cast<std::int64_t>(value + 0.5); }
BytesPerSecond bandwidth_of(const LoadResult& load) {
    return BytesPerSecond(rounded(load.per_second(load.bytes) / 1e6) * 1'000'000);
}

}  // namespace

Result<ProbeDisk> measure_disk(const CalibrateOptions& options, const Clock& clock,
                               const CalibrateProgress& progress) {
    const DiskBounds& bounds = options.quick ? quick_bounds : full_bounds;
    constexpr int jobs = 4, depth = 64, steps = 5;
    CRATER_TRY(size, scratch_size(options.path, bounds.file));
    CRATER_TRY(file, ScratchFile::create(options.path));
    if (const int code = posix_fallocate(file.fd(), 0, size); code != 0)
        return fail(
            Code::unavailable,
            "cannot reserve " + format(Bytes(size)) + " in " + shown(options.path) + ": " + strerror(code),
            "path");

    ProbeDisk out;
    LoadShape sequential{.write = true,
                         .block = mib,
                         .jobs = 1,
                         .depth = 8,
                         .time_us = bounds.sequential_us * 6,
                         .interval_us = bounds.interval_us,
                         .bytes_max = size};
    progress("sequential write", 0, steps);  // the whole file, so that reads find written blocks
    CRATER_TRY(written, run_load(file.fd(), size, sequential, clock));
    if (fdatasync(file.fd()) != 0)
        return fail(Code::unavailable, std::string("fdatasync failed: ") + strerror(errno));
    if (written.bytes < size)
        return fail(Code::timeout,
                    "the disk took longer than " + std::to_string(sequential.time_us / 1'000'000) +
                        " s to write " + format(Bytes(size)),
                    "path");
    out.write_bandwidth = bandwidth_of(written);

    progress("sequential read", 1, steps);
    sequential.write = false;
    sequential.time_us = bounds.sequential_us;
    sequential.bytes_max = size * 16;
    CRATER_TRY(streamed, run_load(file.fd(), size, sequential, clock));
    out.bandwidth = bandwidth_of(streamed);

    progress("random read, one by one", 2, steps);
    LoadShape random{.random = true,
                     .time_us = bounds.latency_us,
                     .interval_us = bounds.interval_us,
                     .bytes_max = size * 64};
    CRATER_TRY(single, run_load(file.fd(), size, random, clock));
    put_latency(single, out);

    progress("random read", 3, steps);
    random.jobs = jobs;
    random.depth = depth;
    random.time_us = bounds.random_us;
    random.bytes_max = std::int64_t{1} << 50;
    CRATER_TRY(reads, run_load(file.fd(), size, random, clock));
    out.iops = Iops(rounded(reads.per_second(reads.operations)));
    out.iops_stability_ratio = static_cast<double>(rounded(stability(reads) * 1000)) / 1000;
    out.use_io_uring = reads.ring;

    progress("random write", 4, steps);
    random.write = true;
    random.bytes_max = bounds.random_write;
    CRATER_TRY(writes, run_load(file.fd(), size, random, clock));
    out.write_iops = Iops(rounded(writes.per_second(writes.operations)));
    return out;
}

}  // namespace crater::hw
