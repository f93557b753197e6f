#include "forecast/run_times.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "crater/base/ids.h"

namespace crater::engine {
namespace {

constexpr std::string_view run_times_head = "run-times-1";
constexpr std::size_t keys_max = 1024;
constexpr std::uint32_t jobs_enough = 10;  // jobs, before what they took says anything
constexpr std::uint64_t keep_after = 256;  // ends of jobs
constexpr std::uint32_t half = Spread::one / 2, nine_in_ten = Spread::one * 9 / 10;
constexpr std::int64_t ratio_one = 1000;
// How late the last of ten are where nothing is known of how far durations are off.
constexpr std::int64_t ratio_before = 1250;

// What a job asks for, as far as it tells how long it may run.
std::uint64_t kind_of(const JobSpec& spec) {
    const auto& gpu = spec.resources.gpu;
    std::string text = std::to_string(static_cast<int>(spec.type)) + ' ' + std::to_string(spec.tasks) + ' ' +
                       std::to_string(gpu.count.value) + ' ' + std::to_string(gpu.memory.value) + ' ' +
                       gpu.model;
    if (gpu.count.value == 0 && gpu.memory.value == 0)
        text += ' ' + std::to_string(std::bit_width(static_cast<std::uint64_t>(
                          std::max<std::int64_t>(0, spec.resources.cpu.cores.value))));
    return std::max<std::uint64_t>(1, hash64(text));
}

std::uint64_t name_of_tenant(const std::string& tenant) { return std::max<std::uint64_t>(1, hash64(tenant)); }

// The part of a standard normal below z, turned round: a rational approximation, good to three digits.
double deviation(double part) {
    const double p = std::clamp(part, 1e-6, 1 - 1e-6);
    const double t = std::sqrt(-2 * std::log(std::min(p, 1 - p)));
    const double z = t - (2.30753 + 0.27061 * t) / (1 + 0.99229 * t + 0.04481 * t * t);
    return p < 0.5 ? -z : z;
}
// And the part below a deviation.
double part_below(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

constexpr double deviation_of_p90 = 1.2815515655446004;

// Times given by their P50 and P90: log-normal between and beyond.
std::int64_t given_at(const RunTime& time, std::uint32_t part, std::int64_t age) {
    const double p50 = static_cast<double>(std::max<std::int64_t>(1, time.p50.count()));
    const double wide =
        std::log(std::max(1.0, static_cast<double>(time.p90.count()) / p50)) / deviation_of_p90;
    const double asked = static_cast<double>(part) / Spread::one;
    if (wide < 1e-9) return std::max<std::int64_t>(time.p50.count(), age + 1);
    const double gone = age <= 0 ? 0 : part_below(std::log(static_cast<double>(age) / p50) / wide);
    const double out = p50 * std::exp(wide * deviation(gone + asked * (1 - gone)));
    return std::max(age + 1, static_cast<std::int64_t>(std::min(out, 4e15)));
}

std::int64_t scaled(std::int64_t ms, std::int64_t ratio) {
    return static_cast<std::int64_t>(static_cast<double>(ms) * (static_cast<double>(ratio) / ratio_one));
}

}  // namespace

const Spread* RunTimes::known(const Key& key) const {
    const auto it = spreads_.find(key);
    return it != spreads_.end() && it->second.spread.count() >= jobs_enough ? &it->second.spread : nullptr;
}

void RunTimes::learn(const Key& key, std::int64_t value) {
    Entry& entry = spreads_[key];
    entry.spread.add(value);
    entry.touched = clock_;
    if (spreads_.size() <= keys_max) return;
    // The one that was not touched for longest makes room; those of any tenant and any kind stay.
    auto oldest = spreads_.end();
    for (auto it = spreads_.begin(); it != spreads_.end(); ++it)
        if ((it->first.tenant || it->first.kind) &&
            (oldest == spreads_.end() || it->second.touched < oldest->second.touched))
            oldest = it;
    spreads_.erase(oldest);
}

void RunTimes::ended(const EngineJob& job, Millis total) {
    ++clock_;
    const auto ms = std::max<std::int64_t>(1, total.count());
    const auto tenant = name_of_tenant(job.tenant), kind = kind_of(*job.spec);
    learn({tenant, kind}, ms);
    learn({0, kind}, ms);
    learn({}, ms);
    if (const auto said = job.spec->duration.count(); said > 0) {
        const auto ratio =
            static_cast<std::int64_t>(static_cast<double>(ms) / static_cast<double>(said) * ratio_one);
        learn({tenant, 0, true}, ratio);
        learn({0, 0, true}, ratio);
    }
}

RunTimes::Source RunTimes::source(const EngineJob& job) const {
    Source out;
    if (const auto limit = job.spec->time_limit.count(); limit > 0) out.limit = limit + job.progress.count();
    if (job.run_time && job.run_time->p50.count() > 0) {
        out.given = {job.run_time->p50, std::max(job.run_time->p50, job.run_time->p90)};
        out.basis = Basis::given;
        return out;
    }
    const auto tenant = name_of_tenant(job.tenant);
    if (const auto said = job.spec->duration; said.count() > 0) {
        out.scale = said.count();
        out.basis = Basis::declared;
        out.given = {said, Millis(scaled(said.count(), ratio_before))};
        if (!(out.spread = known({tenant, 0, true}))) out.spread = known({0, 0, true});
        return out;
    }
    const auto kind = kind_of(*job.spec);
    if ((out.spread = known({tenant, kind})))
        out.basis = Basis::tenant;
    else if ((out.spread = known({0, kind})))
        out.basis = Basis::alike;
    else if ((out.spread = known({})))
        out.basis = Basis::all;
    else if (out.limit != INT64_MAX)
        out.basis = Basis::limit, out.given = {Millis(out.limit), Millis(out.limit)};
    return out;
}

std::int64_t RunTimes::Source::at(std::uint32_t part, std::int64_t age) const {
    std::int64_t out = 0;
    if (!spread)
        out = given_at(given, part, age);
    else if (scale > 0)
        out = scaled(scale,
                     spread->at(part, static_cast<std::int64_t>(static_cast<double>(age) /
                                                                static_cast<double>(scale) * ratio_one)));
    else
        out = spread->at(part, age);
    return std::max(age + 1, std::min(out, limit));
}

RunTimes::Expected RunTimes::expected(const EngineJob& job) const {
    const Source from = source(job);
    if (from.basis == Basis::unknown) return {};
    Expected out{{}, from.basis};
    if (!from.spread) {
        out.time = from.given;
    } else if (from.scale > 0) {
        out.time = {Millis(from.scale),
                    Millis(std::max(from.scale, scaled(from.scale, from.spread->at(nine_in_ten))))};
    } else {
        out.time = {Millis(from.spread->at(half)), Millis(from.spread->at(nine_in_ten))};
    }
    const auto limited = [&](Millis time) {
        return Millis(std::clamp<std::int64_t>(time.count(), 1, from.limit));
    };
    out.time = {limited(out.time.p50), limited(std::max(out.time.p50, out.time.p90))};
    return out;
}

Millis RunTimes::over_by(const EngineJob& job, std::uint32_t part, Millis age) const {
    const Source from = source(job);
    return from.basis == Basis::unknown ? Millis{0} : Millis(from.at(part, age.count()));
}

bool RunTimes::worth_keeping() {
    if (clock_ < kept_at_ + keep_after) return false;
    kept_at_ = clock_;
    return true;
}

std::string RunTimes::save() const {
    std::string out(run_times_head);
    const auto number = [&](std::uint64_t value) { out += ' ', out += std::to_string(value); };
    number(clock_);
    number(spreads_.size());
    for (const auto& [key, entry] : spreads_) {
        number(key.tenant), number(key.kind), number(key.ratio), number(entry.touched),
            number(entry.spread.counts().size());
        for (const auto& [bucket, many] : entry.spread.counts()) number(bucket), number(many);
    }
    return out;
}

bool RunTimes::load(std::string_view text) {
    if (!text.starts_with(run_times_head)) return false;
    text.remove_prefix(run_times_head.size());
    bool bad = false;
    const auto number = [&](auto limit) {
        std::uint64_t value = 0;
        if (!text.starts_with(' ')) return bad = true, std::uint64_t{0};
        const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), value);
        bad |= error != std::errc{} || value > static_cast<std::uint64_t>(limit);
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        return value;
    };
    const auto clock = number(UINT64_MAX), size = number(keys_max);
    std::map<Key, Entry> read;
    for (std::uint64_t i = 0; i < size && !bad; ++i) {
        Key key{number(UINT64_MAX), number(UINT64_MAX), number(1) == 1};
        Entry entry;
        entry.touched = number(UINT64_MAX);
        const auto buckets = number(UINT16_MAX);
        Spread::Counts counts;
        for (std::uint64_t b = 0; b < buckets && !bad; ++b) {
            const auto bucket = static_cast<std::uint16_t>(number(UINT16_MAX));
            counts.emplace_back(bucket, static_cast<std::uint16_t>(number(UINT16_MAX)));
        }
        if (bad || !entry.spread.restore(std::move(counts))) return false;
        read.emplace(key, std::move(entry));
    }
    if (bad || !text.empty()) return false;
    spreads_ = std::move(read);
    clock_ = kept_at_ = clock;
    return true;
}

}  // namespace crater::engine
