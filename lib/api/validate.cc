#include <fmt/format.h>

#include <cmath>
#include <set>

#include "crater/api/documents.h"
#include "crater/base/ids.h"
#include "environment.h"
#include "validate_resources.h"

namespace crater::api {
namespace {

constexpr std::size_t path_bytes_max = 4096;
constexpr std::size_t argument_bytes_max = 128 << 10;  // Linux takes no longer one
constexpr std::size_t start_bytes_max = 1 << 20;       // arguments and environment together
constexpr std::size_t words_max = 4096;                // arguments; and entries of the other lists
constexpr std::size_t label_value_max = 256;
constexpr std::int64_t array_max = 10'000;
constexpr Millis grace_max = std::chrono::hours(1);
constexpr Millis span_max = std::chrono::hours(24 * 3653);  // ten years

Result<void> check_span(Millis span, Millis most, std::string_view field) {
    if (span.count() < 0) return fail(Code::invalid, "a span of time is not negative", std::string(field));
    if (span > most)
        return fail(Code::invalid, fmt::format("{} is too long; at most {}", format(span), format(most)),
                    std::string(field));
    return {};
}

Result<void> check_path(std::string_view path, std::string_view field) {
    const auto wrong = [&](std::string_view what, std::string hint = {}) {
        return fail(Code::invalid, fmt::format("{} {}", shown(path), what), std::string(field),
                    std::move(hint));
    };
    if (path.size() > path_bytes_max) return wrong("is too long; a path has at most 4096 bytes");
    if (!path.starts_with('/')) return wrong("is not an absolute path", "start it with /");
    if (!valid_utf8(path)) return wrong("is not UTF-8");
    for (const char c : path)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return wrong("holds a control character");
    for (std::size_t from = 0; from <= path.size();) {
        const std::size_t end = std::min(path.find('/', from), path.size());
        if (path.substr(from, end - from) == "..") return wrong("holds ..", "write the path it leads to");
        from = end + 1;
    }
    return {};
}

Result<void> check_size(std::size_t size, std::size_t most, std::string_view field) {
    if (size > most)
        return fail(Code::invalid, fmt::format("{} entries; at most {}", size, most), std::string(field));
    return {};
}

// Keys as in Kubernetes, and plain words; values are text for people.
Result<void> check_labels(const std::map<std::string, std::string>& labels, std::string_view field) {
    CRATER_TRY_VOID(check_size(labels.size(), 256, field));
    for (const auto& [key, value] : labels) {
        const std::string at = fmt::format("{}.{}", field, key);
        bool good = !key.empty() && key.size() <= 128;
        for (const char c : key)
            good = good && ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                            std::string_view("._/-").find(c) != std::string_view::npos);
        if (!good)
            return fail(Code::invalid,
                        shown(key) + " cannot be the key of a label; 1-128 characters of A-Z a-z 0-9 . _ - /",
                        std::string(field));
        if (value.empty()) continue;
        if (auto ok = check_name(value, at); !ok || value.size() > label_value_max)
            return fail(Code::invalid, "the value of a label is at most 128 printable characters", at);
    }
    return {};
}

Result<void> check_ids(const std::vector<std::string>& ids, std::string_view field) {
    CRATER_TRY_VOID(check_size(ids.size(), words_max, field));
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const std::string at = fmt::format("{}[{}]", field, i);
        CRATER_TRY_VOID(check_id(ids[i], at));
        if (!seen.insert(ids[i]).second)
            return fail(Code::invalid, shown(ids[i]) + " stands there twice", at);
    }
    return {};
}

Result<void> check_names(const JobSpec& s) {
    if (!s.name.empty()) CRATER_TRY_VOID(check_name(s.name, "name"));
    CRATER_TRY_VOID(check_labels(s.labels, "labels"));
    if (!s.queue.empty()) CRATER_TRY_VOID(check_id(s.queue, "queue"));
    if (!s.tenant.empty()) CRATER_TRY_VOID(check_tenant(s.tenant, "tenant"));
    if (s.priority.value < -1 || s.priority.value > 1000)
        return fail(
            Code::invalid,
            fmt::format("{} is no priority; low, medium, high, critical or 0 to 1000", s.priority.value),
            "priority");
    if (s.tasks < 1 || s.tasks > 4096)
        return fail(Code::invalid, fmt::format("{} tasks; 1 to 4096 are possible", s.tasks), "tasks");
    if (!s.quota_policy.empty()) CRATER_TRY_VOID(check_id(s.quota_policy, "quota_policy"));
    CRATER_TRY_VOID(check_ids(s.after_ok, "after_ok"));
    CRATER_TRY_VOID(check_ids(s.after_any, "after_any"));
    return {};
}

Result<void> check_image(std::string_view image) {
    const auto allowed = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               std::string_view("._-/:@+").find(c) != std::string_view::npos;
    };
    if (image.size() > 512 || !std::all_of(image.begin(), image.end(), allowed) || image.front() == '-' ||
        image.front() == '/')
        return fail(Code::invalid, shown(image) + " is not the name of an image", "image",
                    "for example registry.internal/pytorch:2.1");
    return {};
}

Result<void> check_command(const JobSpec& s) {
    if (s.command.argv.empty() && s.image.empty())
        return fail(Code::invalid, "there is nothing to run", "command",
                    "give a command, or an image with one of its own");
    if (!s.image.empty()) CRATER_TRY_VOID(check_image(s.image));
    CRATER_TRY_VOID(check_size(s.command.argv.size(), words_max, "command"));
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < s.command.argv.size(); ++i) {
        const std::string& word = s.command.argv[i];
        const std::string at = fmt::format("command[{}]", i);
        if (i == 0 && word.empty()) return fail(Code::invalid, "the program to run has no name", at);
        if (word.find('\0') != std::string::npos)
            return fail(Code::invalid, "an argument cannot hold NUL", at);
        if (word.size() >= argument_bytes_max)
            return fail(Code::invalid,
                        fmt::format("the argument has {} bytes; less than {} are possible", word.size(),
                                    argument_bytes_max),
                        at, "put it into a file");
        bytes += word.size();
    }
    for (const auto& [name, value] : s.env) bytes += name.size() + value.size();
    if (bytes > start_bytes_max)
        return fail(Code::invalid,
                    fmt::format("command and env have {} bytes together; at most {}", bytes, start_bytes_max),
                    "command", "put it into a file");
    if (!s.working_dir.empty()) {
        auto ok = check_path(s.working_dir, "working_dir");
        if (!ok && !s.working_dir.starts_with('/'))
            return fail(
                Code::invalid,
                shown(s.working_dir) + " is relative, and nothing is known that it could be relative to",
                "working_dir", "give an absolute path; `crater job submit --file` resolves against the file");
        CRATER_TRY_VOID(std::move(ok));
    }
    if (!s.output.empty()) CRATER_TRY_VOID(check_path(s.output, "output"));
    return {};
}

Result<void> check_mounts(const std::vector<Mount>& mounts) {
    CRATER_TRY_VOID(check_size(mounts.size(), 256, "mounts"));
    std::set<std::string_view> targets;
    for (std::size_t i = 0; i < mounts.size(); ++i) {
        const std::string source = fmt::format("mounts[{}].source", i),
                          target = fmt::format("mounts[{}].target", i);
        CRATER_TRY_VOID(check_path(mounts[i].source, source));
        CRATER_TRY_VOID(check_path(mounts[i].target, target));
        if (mounts[i].target.find_first_not_of('/') == std::string::npos)
            return fail(Code::invalid, "nothing can be mounted over /", target);
        if (!targets.insert(mounts[i].target).second)
            return fail(Code::invalid, "two mounts go to " + shown(mounts[i].target), target);
    }
    return {};
}

Result<void> check_node(const NodeConstraint& node) {
    CRATER_TRY_VOID(check_labels(node.labels, "node.labels"));
    CRATER_TRY_VOID(check_ids(node.include, "node.include"));
    CRATER_TRY_VOID(check_ids(node.exclude, "node.exclude"));
    if (!node.pool.empty()) CRATER_TRY_VOID(check_id(node.pool, "node.pool"));
    const std::set<std::string_view> included(node.include.begin(), node.include.end());
    for (std::size_t i = 0; i < node.exclude.size(); ++i)
        if (included.contains(node.exclude[i]))
            return fail(Code::invalid, shown(node.exclude[i]) + " is both included and excluded",
                        fmt::format("node.exclude[{}]", i));
    return {};
}

Result<void> check_near(const JobSpec& s) {
    CRATER_TRY_VOID(check_size(s.anti_affinity.jobs.size(), 16, "anti_affinity.jobs"));
    for (std::size_t i = 0; i < s.anti_affinity.jobs.size(); ++i) {
        const std::string at = fmt::format("anti_affinity.jobs[{}].labels", i);
        if (s.anti_affinity.jobs[i].labels.empty())
            return fail(Code::invalid, "no labels would mean every job", at,
                        "name one label at least, or use node.exclusive");
        CRATER_TRY_VOID(check_labels(s.anti_affinity.jobs[i].labels, at));
    }
    CRATER_TRY_VOID(check_size(s.tolerations.size(), 64, "tolerations"));
    for (std::size_t i = 0; i < s.tolerations.size(); ++i)
        CRATER_TRY_VOID(check_labels({{s.tolerations[i].key, s.tolerations[i].value}},
                                     fmt::format("tolerations[{}].key", i)));
    if (s.topology.required && s.topology.level == TopologyLevel::none)
        return fail(Code::invalid, "required, but not what", "topology.level", "node, rack or spine");
    if (s.topology.level == TopologyLevel::node && s.topology.required && s.anti_affinity.spread_tasks &&
        s.tasks > 1)
        return fail(Code::invalid, "its tasks cannot be on one node and each on another",
                    "anti_affinity.spread_tasks");
    if (s.array < 0 || s.array > array_max)
        return fail(Code::invalid, fmt::format("an array of {} jobs; at most {}", s.array, array_max),
                    "array");
    return {};
}

Result<void> check_data(const JobSpec& s) {
    CRATER_TRY_VOID(check_ids(s.datasets, "datasets"));
    CRATER_TRY_VOID(check_ids(s.models, "models"));
    if (s.data_locality == DataLocality::required && s.datasets.empty() && s.models.empty())
        return fail(Code::invalid, "required, but no data is named", "data_locality",
                    "name it in datasets or models");
    return {};
}

Result<void> check_times(const JobSpec& s) {
    CRATER_TRY_VOID(check_span(s.grace_period, grace_max, "grace_period"));
    CRATER_TRY_VOID(check_span(s.max_queue_time, span_max, "max_queue_time"));
    CRATER_TRY_VOID(check_span(s.duration, span_max, "duration"));
    CRATER_TRY_VOID(check_span(s.time_limit, span_max, "time_limit"));
    const double use = s.min_gpu_utilization_percent;
    if (!std::isfinite(use) || use < 0 || use > 100)
        return fail(Code::invalid, "a percentage is from 0 to 100", "min_gpu_utilization_percent");
    if (s.restart.max < 0 || s.restart.max > 100)
        return fail(Code::invalid, fmt::format("{} restarts; 0 to 100 are possible", s.restart.max),
                    "restart.max");
    return {};
}

}  // namespace

Result<void> validate(const JobSpec& spec) {
    CRATER_TRY_VOID(check_names(spec));
    CRATER_TRY_VOID(check_resources(spec.resources));
    CRATER_TRY_VOID(check_environment(spec.env, spec.tasks > 1));
    CRATER_TRY_VOID(check_command(spec));
    CRATER_TRY_VOID(check_mounts(spec.mounts));
    CRATER_TRY_VOID(check_node(spec.node));
    CRATER_TRY_VOID(check_near(spec));
    CRATER_TRY_VOID(check_data(spec));
    CRATER_TRY_VOID(check_times(spec));
    return {};
}

Result<void> validate(const Taint& taint) { return check_labels({{taint.key, taint.value}}, "key"); }

Result<void> validate(const Maintenance& window, Instant now) {
    if (window.end <= window.start)
        return fail(Code::invalid, "it ends at " + format(window.end) + ", before it starts", "end");
    if (window.end <= now)
        return fail(Code::invalid, "it is over already", "end", "it is " + format(now) + " now");
    CRATER_TRY_VOID(check_span(window.end - window.start, span_max, "end"));
    return check_span(std::max(Millis(0), window.start - now), span_max, "start");
}

JobSpec masked(const JobSpec& spec) {
    JobSpec copy = spec;
    for (auto& [name, value] : copy.env)
        if (secret_name(name)) value = "***";
    return copy;
}

}  // namespace crater::api
