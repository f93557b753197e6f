// What a spec promises beyond its place: the caps it is put under, and what is only kept, which its answer
// says.
#include "crater/base/ids.h"
#include "impl.h"

namespace crater::scheduler {
namespace {

// One kind of cap: what the job asks for in all, against what the policy allows.
struct Asked {
    const char* field;
    std::int64_t asked, cap;  // cap < 0: none
    std::string asked_words, cap_words;
};

std::string in_words(Iops amount) { return std::to_string(amount.value) + " IOPS"; }
template <class T>
std::string in_words(T amount) {
    return format(amount);
}

template <class T>
Asked against(const char* field, T asked, const std::optional<T>& cap) {
    if (!cap) return {field, asked.value, -1, {}, {}};
    return {field, asked.value, cap->value, in_words(asked), in_words(*cap)};
}

// The number of tasks is at most 4096 and amounts are bounded at the edge: no product here overflows.
std::vector<Asked> asked_of(const JobSpec& spec, const Quota& caps) {
    const Resources& r = spec.resources;
    const std::int64_t cards = (r.gpu.count.value + 999) / 1000;
    std::vector<Asked> out = {
        against("resources.gpu.count", r.gpu.count * spec.tasks, caps.gpu),
        against("resources.gpu.memory", r.gpu.memory * (cards * spec.tasks), caps.gpu_memory),
        against("resources.cpu.cores", r.cpu.cores * spec.tasks, caps.cpu),
        against("resources.memory.size", r.memory.size * spec.tasks, caps.memory),
        against("resources.disk.size", r.disk.size * spec.tasks, caps.disk),
        against("resources.disk.iops", r.disk.iops * spec.tasks, caps.iops)};
    if (caps.jobs)
        out.push_back({"quota_policy", 1, *caps.jobs, "1 job", std::to_string(*caps.jobs) + " jobs"});
    return out;
}

struct Kept {
    bool (*said)(const JobSpec&);
    const char* sentence;
};
constexpr Kept kept_rows[] = {
    {[](const JobSpec& s) { return s.min_gpu_utilization_percent > 0; },
     "min_gpu_utilization_percent is kept and shown, but this version does not watch it"},
    {[](const JobSpec& s) { return s.resources.disk.io_weight > 0; },
     "resources.disk.io_weight is kept and shown, but this version gives disks no weights; iops and read_mbps_min are held"},
    {[](const JobSpec& s) { return s.resources.disk.io_profile != IoProfile::none; },
     "resources.disk.io_profile is kept and shown, but this version does not treat disks by profile; iops and read_mbps_min are held"},
    {[](const JobSpec& s) { return !s.resources.disk.use_io_uring; },
     "resources.disk.use_io_uring is kept and shown; how the task itself reads is its own matter"},
};

}  // namespace

std::vector<std::string> kept_without_effect(const JobSpec& spec) {
    std::vector<std::string> out;
    for (const Kept& row : kept_rows)
        if (row.said(spec)) out.emplace_back(row.sentence);
    return out;
}

Result<void> Scheduler::Impl::check_quota_policy(const JobSpec& spec) const {
    if (spec.quota_policy.empty()) return {};
    const auto& policies = config_.quota_policies;
    const auto policy = policies.find(spec.quota_policy);
    if (policy == policies.end()) {
        std::vector<std::string> names;
        std::string all;
        for (const auto& [name, caps] : policies) {
            names.push_back(name);
            all += (all.empty() ? "" : ", ") + name;
        }
        const std::string near = nearest(spec.quota_policy, names);
        return fail(
            Code::invalid, "there is no quota policy " + shown(spec.quota_policy), "quota_policy",
            policies.empty()
                ? "none is set: leave it out, or set it under quota_policies in the scheduler's configuration"
                : (near.empty() ? "" : "did you mean \"" + near + "\"? ") + "known: " + all);
    }
    for (const Asked& row : asked_of(spec, policy->second))
        if (row.cap >= 0 && row.asked > row.cap)
            return fail(Code::unsatisfiable,
                        "it asks for " + row.asked_words + " in all; the quota policy " +
                            shown(policy->first) + " allows " + row.cap_words,
                        row.field, "ask for less, or name another quota policy");
    return {};
}

}  // namespace crater::scheduler
