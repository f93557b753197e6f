// What each waiting job waits for, as its shown reason. The engine is asked a few times a second and once for
// all jobs that are alike; a job is written only when its reason became another one, and not more often than
// `settles`.
#include <algorithm>

#include "crater/base/ids.h"
#include "impl.h"

namespace crater::scheduler {
namespace {

constexpr Millis pause{250};              // between two rounds
constexpr Millis settles{10'000};         // a reason stays at least so long
constexpr int questions_max = 4;          // to the engine in one round
constexpr int changes_max = 200;          // written in one round
constexpr std::size_t looks_max = 4'000;  // jobs looked at in one round; the next goes on behind them

// Reasons that say nothing of what it waits for yet, or said it before. Any other tells what happened to it,
// and stays.
bool open_reason(Reason reason) {
    return reason == Reason::submitted ||
           (reason >= Reason::waiting_for_resources && reason <= Reason::held_by_queue &&
            reason != Reason::waiting_for_dependency);
}

struct Row {
    std::string_view binding;  // name of what binds, or how it begins
    Reason reason;
};
constexpr Row rows[] = {
    {"quota", Reason::waiting_for_quota},
    {"order", Reason::held_by_queue},
    {"preemption", Reason::waiting_for_preemption},
    {"dependency", Reason::waiting_for_dependency},
    {"gpu", Reason::waiting_for_gpu},
    {"cpu", Reason::waiting_for_cpu},
    {"memory", Reason::waiting_for_memory},
    {"data_locality", Reason::waiting_for_data},
    {"disk", Reason::waiting_for_disk},
    {"node", Reason::waiting_for_node},
    {"runtime", Reason::waiting_for_node},
};

Reason reason_of(const engine::Why& why, std::int64_t tasks) {
    const auto row = std::find_if(std::begin(rows), std::end(rows),
                                  [&](const Row& r) { return why.binding.starts_with(r.binding); });
    const Reason reason = row == std::end(rows) ? Reason::waiting_for_resources : row->reason;
    const bool of_nodes = reason != Reason::waiting_for_quota && reason != Reason::held_by_queue &&
                          reason != Reason::waiting_for_preemption;
    return tasks > 1 && of_nodes && why.fitting > 0 ? Reason::waiting_for_gang : reason;
}

}  // namespace

// Jobs of one kind wait for the same.
std::uint64_t Scheduler::Impl::kind_of(Job& job) const {
    if (job.kind) return job.kind;
    const auto same = [&](const FixedJob& other) {
        return other.outline == job.fixed->outline && other.queue == job.fixed->queue &&
               other.tenant == job.fixed->tenant && other.priority == job.fixed->priority &&
               other.preemptible == job.fixed->preemptible;
    };
    if (last_kind_of_ && same(*last_kind_of_)) return job.kind = last_kind_;
    const JobSpec& spec = *job.fixed->outline;
    JobSpec alike;
    alike.queue = job.fixed->queue;
    alike.tenant = job.fixed->tenant;
    alike.priority.value = static_cast<int>(job.fixed->priority);
    alike.preemptible = job.fixed->preemptible;
    alike.type = spec.type;
    alike.tasks = spec.tasks;
    alike.resources = spec.resources;
    alike.node = spec.node;
    alike.numa_binding_policy = spec.numa_binding_policy;
    alike.image = spec.image;
    alike.data_locality = spec.data_locality;
    alike.datasets = spec.datasets;
    alike.models = spec.models;
    last_kind_of_ = job.fixed;
    return job.kind = last_kind_ = hash64(stored_value(alike)) | 1;
}

// The job behind the one looked at last, queue by queue; from the front again behind the last.
Job* Scheduler::Impl::next_waiting() {
    auto queue = queues_.lower_bound(explain_queue_);
    for (std::size_t tries = 0; tries <= queues_.size(); ++tries) {
        if (queue == queues_.end()) queue = queues_.begin();
        if (queue->first != explain_queue_) explain_queue_ = queue->first, explain_job_ = {};
        const auto next = queue->second.waiting.upper_bound(explain_job_);
        if (next != queue->second.waiting.end()) {
            explain_job_ = {next->at, next->job->id()};
            return next->job;
        }
        explain_job_ = {};
        if (++queue == queues_.end()) queue = queues_.begin();
        explain_queue_ = queue->first;
    }
    return nullptr;
}

void Scheduler::Impl::explain_soon() {
    explain_wanted_ = true;
    if (explain_timer_ || stopped_) return;
    explain_timer_ = env_.loop.after(pause, [this] {
        explain_timer_ = 0;
        if (!stopped_) explain_waiting();
    });
}

void Scheduler::Impl::explain_waiting() {
    const std::uint64_t round = ++explain_round_;
    if (std::exchange(explain_wanted_, false)) {
        explain_from_ = round;
        explain_seen_ = 0;
    }
    std::size_t all = 0;
    for (const auto& [name, queue] : queues_) all += queue.waiting.size();
    const WaitingKinds waiting = waiting_kinds(std::min(all, looks_max));
    explain_seen_ += std::min(all, looks_max);
    if (all <= looks_max)
        std::erase_if(explained_, [&](const auto& entry) { return !waiting.keys.contains(entry.first); });
    else if (explained_.size() > 4 * looks_max)
        explained_.clear();
    const bool unasked = ask_why(waiting, round), unshown = show_reasons(waiting);
    if (unasked || unshown) explain_seen_ = 0;  // once round again
    if ((unasked || unshown || explain_seen_ < all) && !explain_timer_)
        explain_timer_ = env_.loop.after(pause, [this] {
            explain_timer_ = 0;
            if (!stopped_) explain_waiting();
        });
}

// The next so many jobs that wait and whose reason is open, and the first of each kind: those never explained
// first, then what was explained longest ago.
Scheduler::Impl::WaitingKinds Scheduler::Impl::waiting_kinds(std::size_t looks) {
    WaitingKinds out;
    for (; looks > 0; --looks) {
        Job* job = next_waiting();
        if (!job || job->blocked || !job->known_to_engine || job->s().stop ||
            job->status().state != State::pending || !open_reason(job->status().reason))
            continue;
        out.jobs.push_back(job);
        const std::uint64_t key = kind_of(*job);
        if (!out.keys.insert(key).second) continue;
        const auto known = explained_.find(key);
        out.kinds.push_back({known == explained_.end() ? 0 : known->second.round, job, key});
    }
    std::stable_sort(out.kinds.begin(), out.kinds.end(),
                     [](const auto& a, const auto& b) { return a.asked < b.asked; });
    return out;
}

// Asks the engine about a few kinds; true when there are more that something may have changed for.
bool Scheduler::Impl::ask_why(const WaitingKinds& waiting, std::uint64_t round) {
    int asked = 0;
    for (const auto& kind : waiting.kinds) {
        if (kind.asked >= explain_from_) break;
        if (asked++ == questions_max) return true;
        if (const auto why = engine_.why(kind.job->id(), now(), {.changes = false, .estimate = false}))
            explained_[kind.key] = {reason_of(*why, kind.job->fixed->outline->tasks), round};
    }
    return false;
}

// Writes the reasons that became others; true when some have to wait for the next round.
bool Scheduler::Impl::show_reasons(const WaitingKinds& waiting) {
    int changes = 0;
    bool more = false;
    for (Job* job : waiting.jobs) {
        const auto known = explained_.find(job->kind);
        if (known == explained_.end() || known->second.reason == job->status().reason) continue;
        const bool first = job->status().reason == Reason::submitted;
        if (!first && now() - job->explained < settles) {
            more = true;
            continue;
        }
        if (changes++ == changes_max) return true;
        show_waiting(*job, known->second.reason);
    }
    return more;
}

// No step of its life: no line of its history, no word to AllData, but a live event.
void Scheduler::Impl::show_waiting(Job& job, Reason reason) {
    JobStatus& status = job.change();
    status.reason = reason;
    status.detail.clear();
    for (TaskStatus& task : status.tasks)
        if (task.state == State::pending && open_reason(task.reason))
            task.reason = reason, task.detail.clear();
    job.explained = now();
    event("job", job.id(), std::string(name_of(status.state)), std::string(name_of(reason)), "");
    touch(job);
}

}  // namespace crater::scheduler
