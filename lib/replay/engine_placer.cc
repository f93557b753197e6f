#include "engine_placer.h"

#include <cstdio>
#include <cstdlib>

namespace crater::replay {
namespace {

constexpr std::int64_t card_mib = 16'000;
constexpr int rank_digits = 4;
const char* const the_queue = "openb";

std::string job_id(const Arrival& arrival) { return "pod-" + std::to_string(arrival.number); }

// Each rank once, smallest first: the names are made so.
int rank_of(const std::string& node) { return std::atoi(node.c_str()); }

}  // namespace

engine::Settings openb_settings() {
    engine::Settings out;
    out.cpu_threshold = out.memory_threshold = out.disk_io_threshold = 1;
    out.gpu_threshold = 0;
    out.max_tasks_per_gpu = whole_card;
    out.gpu_preprocessing_reserve = 0;
    return out;
}

NodeInventory node_of(const Server& server, const std::string& model, std::size_t rank) {
    NodeInventory out;
    auto digits = std::to_string(rank);
    digits.insert(0, rank_digits - std::min<std::size_t>(rank_digits, digits.size()), '0');
    out.name = digits + "-" + server.name;
    out.simulated = true;
    out.runtimes = {"none"};
    out.cpu = MilliCpu(server.cpu);
    out.memory = Bytes(std::int64_t{server.memory} << 20);
    for (int c = 0; c < server.cards; ++c) {
        Gpu gpu;
        gpu.index = c;
        gpu.model = model;
        gpu.uuid = out.name + "/" + std::to_string(c);
        gpu.memory = Mebibytes(card_mib);
        out.gpus.push_back(std::move(gpu));
    }
    return out;
}

JobSpec job_of(const Request& request) {
    JobSpec out;
    out.type = JobType::batch;  // given, so that nothing is inferred
    out.queue = the_queue;
    out.numa_binding_policy = NumaPolicy::none;
    out.resources.cpu.cores = MilliCpu(request.cpu);
    out.resources.memory.size = Bytes(std::int64_t{request.memory} << 20);
    out.resources.gpu.count = MilliGpu(request.gpu());
    out.resources.gpu.model = request.models;
    return out;
}

EnginePlacer::EnginePlacer(const Trace& trace, Policy policy) : engine_(openb_settings()) {
    QueueSpec queue;
    queue.name = the_queue;
    queue.policy = policy;
    engine_.apply(engine::QueueSet{queue});
    for (std::size_t s = 0; s < trace.servers.size(); ++s) {
        const auto& server = trace.servers[s];
        engine_.apply(
            engine::NodeSet{node_of(server, trace.models[static_cast<std::size_t>(server.model)], s)});
    }
    for (const auto& request : trace.requests) specs_.push_back(std::make_shared<JobSpec>(job_of(request)));
}

Placement EnginePlacer::arrive(const Arrival& arrival) {
    engine::EngineJob job;
    job.id = job_id(arrival);
    job.spec = specs_[static_cast<std::size_t>(arrival.request)];
    job.queue = the_queue;
    job.submitted = arrival.at;
    engine_.apply(engine::JobAdded{std::move(job)});
    const engine::Plan plan = engine_.pass(arrival.at);
    learned_ = plan.learned;
    if (plan.placements.empty()) {
        engine_.apply(engine::JobRemoved{job_id(arrival)});
        return {};
    }
    const Allocation allocation = engine_.allocations(plan.placements.front()).front().second;
    Placement out{rank_of(allocation.node), 0};
    for (const auto& slice : allocation.gpus) out.cards |= std::uint32_t{1} << slice.index;
    return out;
}

void EnginePlacer::leave(const Arrival& arrival, const Placement&, Instant) {
    engine_.apply(engine::JobRemoved{job_id(arrival)});
}

}  // namespace crater::replay
