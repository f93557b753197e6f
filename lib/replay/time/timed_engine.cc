#include "timed_engine.h"

#include <charconv>

#include "crater/base/ids.h"

namespace crater::replay {
namespace {

constexpr Instant time_begin{1'700'000'000'000};
constexpr int id_digits = 7;  // so that the order of ids is that of arrivals
const char* const timed_queue = "simulated";

Instant instant(Millis now) { return time_begin + now; }

std::string padded(int number, std::size_t digits) {
    auto out = std::to_string(number);
    if (out.size() < digits) out.insert(0, digits - out.size(), '0');
    return out;
}
std::string id_of(int job) { return "job-" + padded(job, id_digits); }
int job_of_id(const std::string& id) {
    int out = -1;
    std::from_chars(id.data() + 4, id.data() + id.size(), out);
    return out;
}

}  // namespace

// What a trace knows nothing of is off: live load, how many tasks share a card, what one service may have of
// it.
engine::Settings timed_settings(const TimedOptions& options) {
    engine::Settings out;
    out.cpu_threshold = out.memory_threshold = out.disk_io_threshold = 1;
    out.gpu_threshold = 0;
    out.max_tasks_per_gpu = 64;
    out.gpu_preprocessing_reserve = 0;
    out.inference_max_gpu_fraction = 1;
    out.gpu_memory_granularity_mb = 1024;
    out.restart_cost = options.resume_cost;
    out.enable_prediction = false;
    out.preemption_budget = 1'000'000;
    return out;
}

NodeInventory timed_node(const Fleet& fleet, int node) {
    NodeInventory out;
    out.name = "node-" + padded(node, 4);
    out.simulated = true;
    out.runtimes = {"none"};
    out.cpu = MilliCpu(fleet.cards * 64'000);
    out.memory = Bytes(std::int64_t{fleet.cards} << 38);
    for (int c = 0; c < fleet.cards; ++c) {
        Gpu gpu;
        gpu.index = c;
        gpu.model = "simulated-" + std::to_string(fleet.card_mib / 1024) + "gb";
        gpu.uuid = out.name + "/" + std::to_string(c);
        gpu.memory = Mebibytes(fleet.card_mib);
        out.gpus.push_back(std::move(gpu));
    }
    return out;
}

JobSpec timed_spec(const TimedJob& job, const EngineChoice& choice) {
    JobSpec out;
    out.type = job.service ? JobType::inference : JobType::training;
    out.queue = timed_queue;
    out.tasks = job.tasks;
    out.numa_binding_policy = NumaPolicy::none;
    out.preemptible = choice.preempt && !job.service;
    if (job.near) out.topology = {TopologyLevel::node, false};
    out.resources.cpu.cores = MilliCpu(1000 * job.cards);
    out.resources.memory.size = Bytes(std::int64_t{job.cards} << 30);
    out.resources.gpu.count = MilliGpu(1000 * job.cards);
    if (job.shares_card()) {
        out.resources.gpu.memory = Mebibytes(job.memory_mib);
        out.resources.gpu.compute = MilliGpu(job.compute);
    }
    return out;
}

TimedEngine::TimedEngine(const Workload& workload, const EngineChoice& choice, const TimedOptions& options)
    : workload_(workload),
      choice_(choice),
      saves_on_stop_(options.checkpoint.count() == 0),
      engine_(timed_settings(options)),
      stops_(workload.jobs.size()) {
    QueueSpec queue;
    queue.name = timed_queue;
    queue.policy = choice.policy;
    queue.order = choice.order;
    queue.default_preemptible = choice.preempt;
    engine_.apply(engine::QueueSet{queue});
    for (int n = 0; n < workload.fleet.nodes; ++n) {
        auto node = timed_node(workload.fleet, n);
        nodes_.emplace(node.name, n);
        engine_.apply(engine::NodeSet{std::move(node)});
    }
}

std::shared_ptr<const JobSpec> TimedEngine::shared_spec(const TimedJob& job) {
    auto& spec =
        specs_[{job.tasks, job.cards, job.memory_mib, job.shares_card() ? job.compute : 0, job.near}];
    if (!spec) spec = std::make_shared<JobSpec>(timed_spec(job, choice_));
    return spec;
}

void TimedEngine::arrived(int j, Millis told, Millis now) {
    engine::EngineJob job;
    job.id = id_of(j);
    job.spec = shared_spec(spec(j));
    job.queue = timed_queue;
    job.tenant = spec(j).service ? "services" : "training";
    job.submitted = instant(now);
    job.preemptible = choice_.preempt && !spec(j).service;
    job.saves_on_stop = saves_on_stop_;
    if (told.count() > 0) job.run_time = engine::RunTime{told, told};
    engine_.apply(engine::JobAdded{std::move(job)});
}

void TimedEngine::ended(int j, Millis now) {
    engine_.apply(engine::JobRemoved{id_of(j), instant(now), true});
}

void TimedEngine::stopped(int j, Millis, Millis now) {
    const auto id = id_of(j);
    if (saves_on_stop_) engine_.apply(engine::Checkpointed{id, instant(now)});
    for (int t = 0; t < spec(j).tasks; ++t) engine_.apply(engine::TaskFreed{id, t, instant(now)});
    engine_.apply(engine::JobRequeued{id, ++stops_[static_cast<std::size_t>(j)]});
}

void TimedEngine::checkpointed(int j, Millis now) {
    engine_.apply(engine::Checkpointed{id_of(j), instant(now)});
}

int TimedEngine::card_of(const std::string& node, std::int64_t index) const {
    return nodes_.find(node)->second * workload_.fleet.cards + static_cast<int>(index);
}

TimedPlan TimedEngine::pass(Millis now) {
    const engine::Plan plan = engine_.pass(instant(now));
    TimedPlan out;
    for (const auto& placement : plan.placements) {
        TimedStart start{job_of_id(placement.job), {}};
        for (const auto& [task, allocation] : engine_.allocations(placement))
            for (const auto& slice : allocation.gpus)
                start.cards.push_back(card_of(allocation.node, slice.index));
        out.starts.push_back(std::move(start));
    }
    for (const auto& preemption : plan.preemptions) out.stops.push_back(job_of_id(preemption.victim));
    out.more = plan.more;
    if (const auto wake = engine_.wake_at()) out.wake = Millis((*wake - time_begin).count());
    return out;
}

std::unique_ptr<TimedDecider> make_timed_engine(const Workload& workload, const EngineChoice& choice,
                                                const TimedOptions& options) {
    return std::make_unique<TimedEngine>(workload, choice, options);
}

}  // namespace crater::replay
