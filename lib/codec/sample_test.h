// Described structs that use everything a description can hold. For the tests.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "crater/base/clock.h"
#include "crater/base/describe.h"
#include "crater/base/ids.h"
#include "crater/base/quantity.h"

namespace crater::sample {

enum class Profile { none, training, model_loading };
inline std::span<const EnumName<Profile>> enum_names(Profile) {
    static constexpr EnumName<Profile> names[] = {
        {Profile::none, ""}, {Profile::training, "training"}, {Profile::model_loading, "model-loading"}};
    return names;
}

// Reads as text, from a number too.
struct Rank {
    int value = -1;
    bool operator==(const Rank&) const = default;
};
inline Result<void> from_text(std::string_view text, Rank& out) {
    if (text == "high") {
        out.value = 700;
        return {};
    }
    CRATER_TRY(number, parse_number(text));
    if (number < 0 || number > 1000)
        return fail(Code::invalid, "found " + shown(text) + "; allowed: high, or 0 to 1000");
    out.value = static_cast<int>(number);
    return {};
}
inline std::string to_text(const Rank& rank) { return rank.value < 0 ? "" : std::to_string(rank.value); }

// A list, or one text for a shell.
struct Argv {
    std::vector<std::string> words;
    bool operator==(const Argv&) const = default;
};
inline Result<void> from_list(std::vector<std::string> words, Argv& out) {
    if (words.empty()) return fail(Code::invalid, "the command is empty");
    out.words = std::move(words);
    return {};
}
inline Result<void> from_text(std::string_view text, Argv& out) {
    out.words = {"/bin/sh", "-c", std::string(text)};
    return {};
}
inline std::vector<std::string> to_list(const Argv& argv) { return argv.words; }

struct Gpu {
    MilliGpu count;
    Mebibytes memory;
    std::optional<MilliGpu> compute;
    std::string model;
    bool exclusive = false;
    bool operator==(const Gpu&) const = default;
};
template <class V>
void describe(V& v, Gpu& g) {
    v.field("count", g.count, "Cards.");
    v.field("memory", g.memory, "Memory per card.");
    v.field("compute", g.compute, "Cap.", {.alias = "cores"});
    v.field("model", g.model, "Model.", {.alias = "type kind"});
    v.field("exclusive", g.exclusive, "Whole cards.");
}

struct Disk {
    Bytes size;
    Iops iops;
    Micros latency_us_max;
    BytesPerSecond read_mbps_min;
    BytesPerSecond bandwidth_min;
    double stability = 0;
    Profile io_profile = Profile::none;
    bool operator==(const Disk&) const = default;
};
template <class V>
void describe(V& v, Disk& d) {
    v.field("size", d.size, "Space.");
    v.field("iops", d.iops, "Operations.", {.alias = "iops_min"});
    v.field("latency_us_max", d.latency_us_max, "Latency.", {.alias = "ssd_latency_us"});
    v.field("read_mbps_min", d.read_mbps_min, "Sequential.", {.alias = "seq_mbps"});
    v.field("bandwidth_min", d.bandwidth_min, "Any.");
    v.field("stability", d.stability, "Ratio.", {.minimum = 0, .maximum = 1});
    v.field("io_profile", d.io_profile, "Use.");
}

struct Resources {
    Gpu gpu;
    MilliCpu cores;
    Bytes memory;
    BytesPerSecond bandwidth;
    Micros latency;
    Disk disk;
    bool operator==(const Resources&) const = default;
};
template <class V>
void describe(V& v, Resources& r) {
    v.field("gpu", r.gpu, "Cards.");
    v.field("cores", r.cores, "Cores.");
    v.field("memory", r.memory, "Memory.");
    v.field("bandwidth", r.bandwidth, "Memory bandwidth.");
    v.field("latency", r.latency, "Latency.");
    v.field("disk", r.disk, "Disk.", {.alias = "ssd"});
}

struct Mount {
    std::string source, target;
    bool read_only = false;
    bool operator==(const Mount&) const = default;
};
template <class V>
void describe(V& v, Mount& m) {
    v.field("source", m.source, "From.", {.required = true});
    v.field("target", m.target, "To.", {.required = true});
    v.field("read_only", m.read_only, "Read only.");
}

// As output does it: names with units.
struct Held {
    Bytes memory;
    Mebibytes gpu_memory;
    BytesPerSecond bandwidth;
    Millis wait, poll;
    Bytes size_gb, size_mib;
    Instant started;
    bool operator==(const Held&) const = default;
};
template <class V>
void describe(V& v, Held& h) {
    v.field("memory_bytes", h.memory, "Memory.");
    v.field("gpu_memory_mib", h.gpu_memory, "GPU memory.");
    v.field("bandwidth_bytes", h.bandwidth, "Bandwidth.");
    v.field("wait_ms", h.wait, "Wait.");
    v.field("poll_interval_seconds", h.poll, "Interval.");
    v.field("size_gb", h.size_gb, "Decimal.");
    v.field("size_mib", h.size_mib, "Binary.");
    v.field("started_ms", h.started, "Start.");
}

struct Job {
    std::string name;
    std::map<std::string, std::string> labels;
    Rank priority;
    std::int64_t tasks = 1;
    std::uint32_t port = 0;
    std::uint64_t big = 0;
    std::int8_t tiny = 0;
    Resources resources;
    Argv command;
    std::map<std::string, std::string> env;
    std::vector<Mount> mounts;
    std::vector<std::string> features;
    std::vector<std::int64_t> cpus;
    std::vector<Millis> waits;
    std::map<std::string, Bytes> caps;
    std::map<std::string, Mount> named;
    std::optional<bool> preemptible;
    std::optional<Bytes> quota;
    std::optional<Disk> spare;
    std::optional<std::string> note;
    Millis grace_period{30'000};
    Millis max_queue_time{0};
    Instant submitted;
    double percent = 0;
    std::string token;
    std::optional<Held> held;
    bool operator==(const Job&) const = default;
};
template <class V>
void describe(V& v, Job& j) {
    v.field("name", j.name, "Name.");
    v.field("labels", j.labels, "Labels.");
    v.field("priority", j.priority, "Priority.");
    v.field("tasks", j.tasks, "Tasks.", {.minimum = 1, .maximum = 4096});
    v.field("port", j.port, "Port.");
    v.field("big", j.big, "Big.");
    v.field("tiny", j.tiny, "Tiny.");
    v.field("resources", j.resources, "Resources.");
    v.field("command", j.command, "Command.");
    v.field("env", j.env, "Environment.");
    v.field("mounts", j.mounts, "Mounts.");
    v.field("features", j.features, "Features.", {.alias = "avx_support"});
    v.field("cpus", j.cpus, "CPUs.");
    v.field("waits", j.waits, "Waits.");
    v.field("caps", j.caps, "Caps.");
    v.field("named", j.named, "Named.");
    v.field("preemptible", j.preemptible, "Preemptible.");
    v.field("quota", j.quota, "Quota.");
    v.field("spare", j.spare, "Spare.");
    v.field("note", j.note, "Note.");
    v.field("grace_period", j.grace_period, "Grace.");
    v.field("max_queue_time", j.max_queue_time, "Longest wait.");
    v.field("submitted", j.submitted, "When.");
    v.field("percent", j.percent, "Use.", {.minimum = 0, .maximum = 100});
    v.field("token", j.token, "Token.", {.secret = true});
    v.field("held", j.held, "Held.");
}

// Any of the values above, with much of the range of each.
class Maker {
  public:
    explicit Maker(std::uint64_t seed) : rng_(seed) {}

    Job job() {
        Job j;
        j.name = text();
        j.labels = texts_by_name();
        if (flip()) j.priority.value = static_cast<int>(rng_.below(1001));
        j.tasks = 1 + static_cast<std::int64_t>(rng_.below(4096));
        j.port = static_cast<std::uint32_t>(rng_.next());
        j.big = rng_.next() >> rng_.below(64);
        j.tiny = static_cast<std::int8_t>(rng_.next());
        j.resources.gpu = gpu();
        j.resources.cores = MilliCpu(amount(40));
        j.resources.memory = Bytes(amount(62));
        j.resources.bandwidth = BytesPerSecond(amount(50));
        j.resources.latency = Micros(amount(40));
        j.resources.disk = disk();
        for (auto n = rng_.below(3); n > 0; --n) j.command.words.push_back(text());
        j.env = texts_by_name();
        for (auto n = rng_.below(3); n > 0; --n) j.mounts.push_back({text(), text(), flip()});
        for (auto n = rng_.below(3); n > 0; --n) j.features.push_back(text());
        for (auto n = rng_.below(3); n > 0; --n) j.cpus.push_back(static_cast<std::int64_t>(rng_.next()));
        for (auto n = rng_.below(3); n > 0; --n) j.waits.push_back(Millis(amount(40)));
        for (auto n = rng_.below(3); n > 0; --n) j.caps[text()] = Bytes(amount(60));
        for (auto n = rng_.below(3); n > 0; --n) j.named[text()] = {text(), text(), flip()};
        if (flip()) j.preemptible = flip();
        if (flip()) j.quota = Bytes(amount(62));
        if (flip()) j.spare = disk();
        if (flip()) j.note = text();
        j.grace_period = Millis(amount(40));
        j.max_queue_time = Millis(amount(40));
        if (flip()) j.submitted = Instant{1 + amount(46)};
        j.percent = static_cast<double>(rng_.below(100'001)) / 1000;
        j.token = text();
        if (flip()) j.held = held();
        return j;
    }

  private:
    bool flip() { return rng_.below(2) == 0; }
    std::int64_t amount(int bits) {
        return static_cast<std::int64_t>(rng_.next() >> (63 - rng_.below(static_cast<std::uint64_t>(bits))));
    }
    std::string text() {
        constexpr std::string_view pieces[] = {"a",  "Z", "7",    " ",    "\"", "\\", "\n", "\x01", "é",
                                               "研", "😀", "null", "true", "-",  ":",  "#",  "'",    "1.5"};
        std::string out;
        for (auto n = rng_.below(8); n > 0; --n) out += pieces[rng_.below(std::size(pieces))];
        return out;
    }
    std::map<std::string, std::string> texts_by_name() {
        std::map<std::string, std::string> out;
        for (auto n = rng_.below(4); n > 0; --n) out[text()] = text();
        return out;
    }
    Gpu gpu() {
        Gpu g{MilliGpu(amount(20)), Mebibytes(amount(30)), {}, text(), flip()};
        if (flip()) g.compute = MilliGpu(amount(10));
        return g;
    }
    Disk disk() {
        return {Bytes(amount(62)),
                Iops(amount(40)),
                Micros(amount(40)),
                BytesPerSecond(amount(50)),
                BytesPerSecond(amount(50)),
                static_cast<double>(rng_.below(1001)) / 1000,
                static_cast<Profile>(rng_.below(3))};
    }
    Held held() {
        return {Bytes(amount(62)),  Mebibytes(amount(40)), BytesPerSecond(amount(62)), Millis(amount(40)),
                Millis(amount(40)), Bytes(amount(50)),     Bytes(amount(40) << 20),    Instant{amount(46)}};
    }

    SeededRng rng_;
};

}  // namespace crater::sample
