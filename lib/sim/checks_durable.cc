// What must hold of each group that became durable.
#include "world_impl.h"

namespace crater::sim {
namespace {

constexpr Millis usage_slack{1'000};
constexpr Millis wait_slack{10'000};

bool holds(const TaskStatus& task) { return state_row(task.state).holds && task.allocation; }

struct Sum {
    std::int64_t gpu = 0, gpu_memory = 0, cpu = 0, memory = 0, disk = 0, iops = 0, jobs = 0;

    void add(const Allocation& a) {
        for (const GpuSlice& slice : a.gpus) gpu += slice.compute.value, gpu_memory += slice.memory.value;
        cpu += a.cpu.value;
        memory += a.memory.value;
        disk += a.disk_size.value;
        iops += a.disk_iops.value;
    }
    void add(const Sum& o) {
        gpu += o.gpu, gpu_memory += o.gpu_memory, cpu += o.cpu, memory += o.memory, disk += o.disk,
            iops += o.iops, jobs += o.jobs;
    }
};

// The first cap that what was placed exceeds, in words.
std::string over(const Quota& caps, const Sum& before, const Sum& now) {
    std::string out;
    const auto look = [&](const char* kind, std::optional<std::int64_t> cap, std::int64_t held,
                          std::int64_t holds) {
        if (cap && holds > *cap && holds > held && out.empty())
            out =
                std::string(kind) + ": holds " + std::to_string(holds) + ", may hold " + std::to_string(*cap);
    };
    const auto value = [](const auto& cap) {
        return cap ? std::optional(cap->value) : std::optional<std::int64_t>();
    };
    look("gpu", value(caps.gpu), before.gpu, now.gpu);
    look("gpu_memory", value(caps.gpu_memory), before.gpu_memory, now.gpu_memory);
    look("cpu", value(caps.cpu), before.cpu, now.cpu);
    look("memory", value(caps.memory), before.memory, now.memory);
    look("disk", value(caps.disk), before.disk, now.disk);
    look("iops", value(caps.iops), before.iops, now.iops);
    look("jobs", caps.jobs, before.jobs, now.jobs);
    return out;
}

}  // namespace

// A job's way is along the table.
void World::Impl::check_change(const std::string& id, const StateChange& change) {
    // An older agent does not say why.
    if (change.reason == Reason::rejected && !change.detail.empty() &&
        change.detail.find("there is no card") == std::string::npos)
        violate("books", id + ": a node had to refuse what was placed on it: " + change.detail);
    if (change.reason == Reason::node_lost && change.detail.find("came back without it") != std::string::npos)
        check_not_here(id);
    const auto [last, first] = told_state_.try_emplace(id, change.state);
    if (first) {
        if (change.state != State::pending)
            violate("states", id + " begins as " + std::string(name_of(change.state)));
        return;
    }
    // a new life
    const bool resumed = change.state == State::pending && change.detail.starts_with("resumed");
    if (last->second != change.state && !may_change(last->second, change.state) && !resumed)
        violate("states",
                id + ": " + std::string(name_of(last->second)) + " -> " + std::string(name_of(change.state)));
    last->second = change.state;
}

// The scheduler believes that a machine has nothing of a job any more. It must not have an end that was never
// heard.
void World::Impl::check_not_here(const std::string& id) {
    const auto known = durable_.find(id);
    // Of a gang another task may be meant.
    if (known == durable_.end() || known->second.status->tasks.size() != 1) return;
    const TaskStatus& task = known->second.status->tasks.front();
    if (!state_row(task.state).holds || !task.allocation) return;
    // Of two machines of one name it may have been the other.
    const auto carries = [&](const auto& h) { return h->machine->name() == task.allocation->node; };
    if (std::count_if(hosts_.begin(), hosts_.end(), carries) != 1) return;
    const run::TaskId task_id{id, task.index, task.attempt};
    if ((*std::find_if(hosts_.begin(), hosts_.end(), carries))->machine->keeps_end_of(task_id))
        violate("exits", task_id.text() + " is taken for lost with " + task.allocation->node +
                             ", which knows how it ended");
}

void World::Impl::check_tasks(const std::string& id, const JobStatus& was, const JobStatus& now) {
    if (now.sequence < was.sequence)
        violate("callbacks", id + ": its number fell to " + std::to_string(now.sequence));
    if (now.tasks.size() != was.tasks.size())
        return violate("states", id + ": the number of its tasks changed");
    for (std::size_t i = 0; i < now.tasks.size(); ++i) {
        const TaskStatus &before = was.tasks[i], &task = now.tasks[i];
        if (task.attempt < before.attempt)
            violate("starts", id + ": attempt " + std::to_string(task.attempt) + " after " +
                                  std::to_string(before.attempt));
        if (state_row(task.state).holds && !task.allocation)
            violate("books", id + ": a task holds nothing and is " + std::string(name_of(task.state)));
        if (task.ended && (before.ended != task.ended || before.attempt != task.attempt))
            check_usage(id, task);
    }
}

// What is billed is what ran, to the second.
void World::Impl::check_usage(const std::string& id, const TaskStatus& task) {
    const auto found = truth_.find({id, task.index, task.attempt});
    if (found == truth_.end() || found->second.doubtful) return;
    const Truth& truth = found->second;
    // Given up while nobody heard its node: how long it still ran there nobody can know.
    if (!truth.ended || !leader_ || truth.told != leader_->life || task.since < truth.told_at ||
        !task.started || !truth.running)
        return;
    const auto differs = [](Instant a, Instant b) { return a - b > usage_slack || b - a > usage_slack; };
    if (differs(task.started, truth.running) || differs(task.ended, truth.ended))
        violate("usage", id + "." + std::to_string(task.index) + "." + std::to_string(task.attempt) +
                             " ran from " + format(truth.running) + " to " + format(truth.ended) +
                             ", on the books from " + format(task.started) + " to " + format(task.ended));
}

// Nothing is let in above a quota. What was held before it was lowered stays.
void World::Impl::check_quotas(const std::set<std::string>& placed) {
    std::set<std::string> roots;
    for (const std::string& id : placed)
        for (std::string path = facts_[id].tenant; !path.empty();) {
            if (caps_.contains(path)) roots.insert(path);
            const auto slash = path.rfind('/');
            path.resize(slash == std::string::npos ? 0 : slash);
        }
    for (const std::string& root : roots) {
        Sum before, now;
        for (const auto& [id, job] : durable_) {
            const std::string& tenant = facts_[id].tenant;
            if (tenant != root && !tenant.starts_with(root + "/")) continue;
            Sum its;
            for (const TaskStatus& task : job.status->tasks)
                if (holds(task)) its.add(*task.allocation), its.jobs = 1;
            now.add(its);
            if (!placed.contains(id)) before.add(its);
        }
        if (const std::string text = over(caps_.at(root), before, now); !text.empty())
            violate("quota", "tenant " + root + " " + text);
    }
}

engine::EngineJob World::Impl::naive_job(const std::string& id) const {
    const scheduler::StoredJobFacts& facts = facts_.at(id);
    return {.id = id, .spec = facts.spec, .queue = facts.queue, .tenant = facts.tenant};
}

void World::Impl::fill_naive() {
    naive_.now = time_.now();
    naive_.tasks.clear();
    for (const auto& [id, job] : durable_)
        for (const TaskStatus& task : job.status->tasks)
            if (holds(task)) naive_.tasks.push_back({naive_job(id), task.index, *task.allocation, {}});
}

// A job that waits alone and that the naive engine would let in has been let in. Faults, quotas, reserves and
// what follows others excuse.
void World::Impl::check_waiting() {
    if (!leader() || !maintained_.empty() || !closings_.empty() ||
        time_.ticks_us() < disturbed_us_ + wait_slack.count() * 1000)
        return;
    if (std::any_of(config_.queues.begin(), config_.queues.end(),
                    [](const QueueSpec& queue) { return queue.reserved_gpu > 0; }))
        return;
    const std::string* alone = nullptr;
    for (const auto& [id, job] : durable_) {
        if (state_row(job.status->state).terminal) continue;
        if (job.stopping || job.status->state == State::lost) return;  // its slices are promised to somebody
        if (job.status->state != State::pending) continue;
        if (std::exchange(alone, &id)) return;
    }
    if (!alone) return;
    const JobSpec& spec = *facts_.at(*alone).spec;
    const bool since_long = time_.ticks_us() > since_.at({*alone, 0}).us + wait_slack.count() * 1000;
    if (!since_long || spec.tasks > 1 || !spec.after_ok.empty() || !spec.after_any.empty()) return;
    for (const auto& [path, caps] : caps_)
        if (facts_.at(*alone).tenant.starts_with(path)) return;
    fill_naive();
    if (naive_.fits_anywhere(naive_job(*alone)))
        violate("naive", *alone + " waits, and would fit by the naive engine");
}

// The naive engine would have let each of them in beside all others, and finds nothing given twice.
void World::Impl::check_placements(const std::set<std::string>& placed) {
    fill_naive();
    if (const std::string text = naive_.overbooked(); !text.empty())
        violate("naive", "given out twice: " + text);
    for (const std::string& id : placed) {
        auto mine = naive_.tasks;
        std::erase_if(mine, [&](const auto& task) { return task.job.id != id; });
        for (const auto& task : mine) {
            if (durable_.at(id).status->tasks[static_cast<std::size_t>(task.index)].state != State::preparing)
                continue;
            std::erase_if(naive_.tasks,
                          [&](const auto& other) { return other.job.id == id && other.index == task.index; });
            if (!naive_.fits(task.job, task.held.node))
                violate("naive", id + "." + std::to_string(task.index) + " does not fit on " +
                                     task.held.node + " by the naive engine");
            naive_.tasks.push_back(task);
        }
    }
}

}  // namespace crater::sim
