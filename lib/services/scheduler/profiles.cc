#include "profiles.h"

#include <algorithm>
#include <cmath>

#include "crater/base/ids.h"
#include "records.h"

namespace crater::scheduler {
namespace {

template <class T>
void raise(std::optional<T>& peak, T amount) {
    if (!peak || *peak < amount) peak = amount;
}
template <class T>
void raise(std::optional<T>& peak, const std::optional<T>& other) {
    if (other) raise(peak, *other);
}

void raise_all(engine::Profile& peak, const engine::Profile& other) {
    raise(peak.gpu_memory, other.gpu_memory);
    raise(peak.cpu, other.cpu);
    raise(peak.memory, other.memory);
    raise(peak.disk_rate, other.disk_rate);
    raise(peak.memory_bandwidth, other.memory_bandwidth);
}

std::int64_t whole(double amount) {
    return static_cast<std::int64_t>(std::ceil(std::clamp(amount, 0.0, 1e15)));
}

// In steps, so that equal jobs have equal profiles for long and wait as one class.
template <class Unit>
void round_up(std::optional<Quantity<Unit>>& amount, std::int64_t step) {
    if (amount) amount->value = (amount->value + step - 1) / step * step;
}
void round_up(engine::Profile& profile) {
    constexpr std::int64_t mib = 1 << 20;
    round_up(profile.gpu_memory, 256);
    round_up(profile.cpu, 250);
    round_up(profile.memory, 256 * mib);
    round_up(profile.disk_rate, 16 * mib);
    round_up(profile.memory_bandwidth, 256 * mib);
}

}  // namespace

std::uint64_t Profiles::kind_of(const std::string& tenant, const JobSpec& spec) {
    JobSpec alike;
    alike.tenant = tenant;
    alike.type = spec.type;
    alike.image = spec.image;
    // The program and what it runs; what follows are mostly figures that differ from run to run. A text for
    // the shell counts as a whole.
    const auto& argv = spec.command.argv;
    const bool shell = argv.size() == 3 && argv[1] == "-c";
    alike.command.argv.assign(argv.begin(), argv.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(
                                                               argv.size(), shell ? 3 : 2)));
    alike.resources.gpu = spec.resources.gpu;
    return hash64(stored_value(alike)) | 1;
}

std::string Profiles::key_of(std::uint64_t kind) { return "profile/" + std::to_string(kind); }

void Profiles::set(Known& known, StoredProfile stored) {
    engine::Profile most;
    for (const auto& run : stored.last) raise_all(most, run);
    round_up(most);
    known.most = std::make_shared<const engine::Profile>(most);
    known.stored = std::move(stored);
}

void Profiles::take(std::uint64_t kind, StoredProfile stored) { set(kinds_[kind], std::move(stored)); }

std::shared_ptr<const engine::Profile> Profiles::of(std::uint64_t kind) const {
    const auto it = kinds_.find(kind);
    return it == kinds_.end() ? nullptr : it->second.most;
}

std::int64_t Profiles::runs(std::uint64_t kind) const {
    const auto it = kinds_.find(kind);
    return it == kinds_.end() ? 0 : it->second.stored.runs;
}

void Profiles::saw(const std::string& job, std::int64_t task, const api::MetricPoint& point,
                   std::int64_t cards) {
    Seen& seen = seen_[job];
    engine::Profile& peak = seen.peak;
    raise(peak.cpu, MilliCpu(whole(point.cpu_cores * 1000)));
    raise(peak.memory, Bytes(whole(point.memory_bytes)));
    if (cards > 0)
        raise(peak.gpu_memory, Mebibytes(whole(point.gpu_memory_mib / static_cast<double>(cards))));
    const auto [last, first] = seen.last.try_emplace(task, point);
    const double bytes =
        point.read_bytes + point.write_bytes - last->second.read_bytes - last->second.write_bytes;
    const auto ms = (point.at - last->second.at).count();
    if (!first && ms > 0 && bytes >= 0)
        raise(peak.disk_rate, BytesPerSecond(whole(bytes * 1000 / static_cast<double>(ms))));
    last->second = point;
}

const StoredProfile* Profiles::ended(const std::string& job, std::uint64_t kind, bool finished, Instant at) {
    const auto seen = seen_.extract(job);
    if (seen.empty() || !finished || kind == 0) return nullptr;
    Known& known = kinds_[kind];
    StoredProfile stored = std::move(known.stored);
    ++stored.runs;
    stored.at = at;
    stored.last.push_back(seen.mapped().peak);
    if (stored.last.size() > runs_kept) stored.last.erase(stored.last.begin());
    set(known, std::move(stored));
    return &known.stored;
}

std::vector<std::uint64_t> Profiles::forget(Instant before) {
    std::vector<std::uint64_t> out;
    for (const auto& [kind, known] : kinds_)
        if (known.stored.at < before) out.push_back(kind);
    std::sort(out.begin(), out.end());
    for (const std::uint64_t kind : out) kinds_.erase(kind);
    return out;
}

}  // namespace crater::scheduler
