#include "draw_jobs.h"

namespace crater::sim {
namespace {

Millis span_between(Rng& rng, std::int64_t low_ms, std::int64_t high_ms) {
    return Millis(low_ms +
                  static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(high_ms - low_ms + 1))));
}

void draw_cards(Rng& rng, const JobKinds& kinds, GpuRequest& gpu) {
    if (kinds.cpu_only && rng.below(3) == 0) return;
    static constexpr std::int64_t whole[] = {1000, 1000, 1000, 2000, 2000, 4000, 8000};
    gpu.count = MilliGpu(whole[rng.below(std::size(whole))]);
    if (!kinds.shared_cards || rng.below(2)) return;
    // A part of a card by count, or by memory: the latter is also how an instance is asked for.
    if (rng.below(3) == 0) {
        gpu.count = MilliGpu(static_cast<std::int64_t>(100 + 100 * rng.below(8)));
    } else {
        gpu.count = MilliGpu(1000);
        gpu.memory = Mebibytes(static_cast<std::int64_t>(2048 + 2048 * rng.below(9)));
    }
}

Bytes draw_memory(Rng& rng, bool large) {
    const auto gib = static_cast<std::int64_t>(1 + rng.below(8));
    if (!large || rng.below(2)) return Bytes(gib << 30);
    // Just around what 32 bits hold, and terabytes.
    static constexpr std::int64_t sizes[] = {(4ll << 30) - 1, 4ll << 30, (4ll << 30) + 1, 1ll << 40,
                                             1ll << 50};
    return Bytes(sizes[rng.below(std::size(sizes))]);
}

void draw_dependency(Rng& rng, std::uint64_t earlier, JobSpec& spec) {
    const std::string id = "t" + std::to_string(1 + rng.below(earlier));
    (rng.below(2) ? spec.after_ok : spec.after_any).push_back(id);
}

JobSpec draw_job(Rng& rng, const JobKinds& kinds, std::uint64_t number, int nodes) {
    JobSpec spec;
    spec.name = "job " + std::to_string(number);
    spec.command.argv = {"work"};
    static constexpr JobType types[] = {JobType::training, JobType::training, JobType::batch};
    spec.type = kinds.inference && rng.below(3) == 0
                    ? (rng.below(2) ? JobType::inference : JobType::interactive)
                    : types[rng.below(std::size(types))];
    draw_cards(rng, kinds, spec.resources.gpu);
    spec.resources.cpu.cores = MilliCpu(static_cast<std::int64_t>(500 + 500 * rng.below(8)));
    spec.resources.memory.size = draw_memory(rng, kinds.large_memory);
    if (kinds.gangs && rng.below(3) == 0) spec.tasks = static_cast<std::int64_t>(2 + rng.below(3));
    if (kinds.topology && spec.tasks > 1 && rng.below(2))
        spec.topology.level = rng.below(2) ? TopologyLevel::rack : TopologyLevel::node;
    if (kinds.topology && spec.tasks > 1 && spec.tasks <= nodes && rng.below(4) == 0)
        spec.anti_affinity.spread_tasks = true;
    if (rng.below(2)) spec.priority = {static_cast<int>(100 * (1 + rng.below(7)))};
    if (kinds.gives_way) spec.preemptible = rng.below(3) > 0;
    if (kinds.all_give_way) spec.preemptible = true;
    spec.duration = rng.below(5) ? span_between(rng, 200, 40'000) : span_between(rng, 40'000, 200'000);
    spec.grace_period = span_between(rng, 1'000, 9'000);
    if (kinds.restarts && rng.below(2))
        spec.restart = {RestartPolicy::on_failure, static_cast<std::int64_t>(1 + rng.below(3))};
    if (kinds.time_limits && rng.below(3) == 0) spec.time_limit = span_between(rng, 2'000, 40'000);
    if (rng.below(10) == 0) spec.max_queue_time = span_between(rng, 1'000, 60'000);
    if (kinds.tenants && rng.below(2)) spec.tenant = capped_tenants()[rng.below(capped_tenants().size())];
    if (kinds.dependencies && number > 1 && rng.below(6) == 0) draw_dependency(rng, number - 1, spec);
    return spec;
}

}  // namespace

JobKinds draw_kinds(Rng& rng) {
    JobKinds out;
    for (bool* kind : {&out.gangs, &out.shared_cards, &out.cpu_only, &out.dependencies, &out.gives_way,
                       &out.restarts, &out.time_limits, &out.inference, &out.tenants, &out.cancels,
                       &out.evictions, &out.large_memory, &out.topology})
        *kind = rng.below(2) == 0;
    return out;
}

const std::vector<std::string>& capped_tenants() {
    static const std::vector<std::string> tenants{"lab", "lab/one", "lab/two"};
    return tenants;
}

void draw_jobs(Rng& rng, const JobKinds& kinds, const std::vector<hw::SimulatedNode>& nodes, Millis length,
               std::vector<Step>& steps) {
    const std::uint64_t jobs = 15 + rng.below(50);
    // Some days begin with a rush: then there is a backlog to choose from.
    const Millis rush = rng.below(2) ? length : Millis(length.count() / 4);
    std::vector<Millis> at;
    for (std::uint64_t i = 0; i < jobs; ++i)
        at.push_back(span_between(rng, 1'000, (rng.below(5) ? rush : length).count()));
    std::sort(at.begin(), at.end());
    for (std::uint64_t i = 0; i < jobs; ++i) {
        const std::string id = "t" + std::to_string(i + 1);
        const auto ask_later = [&](Act act) {
            const Millis later = at[i] + span_between(rng, 0, rng.below(3) ? 3'000 : 60'000);
            steps.push_back({.at = std::min(later, length), .act = act, .job = id});
        };
        steps.push_back({.at = at[i],
                         .act = Act::submit,
                         .job = id,
                         .spec = draw_job(rng, kinds, i + 1, static_cast<int>(nodes.size()))});
        if (kinds.cancels && rng.below(6) == 0) ask_later(Act::cancel);
        if (kinds.evictions && rng.below(8) == 0) ask_later(Act::evict);
    }
}

void draw_long_jobs(Rng& rng, const JobKinds& kinds, const std::vector<hw::SimulatedNode>& nodes,
                    Millis least, std::vector<Step>& steps) {
    for (std::uint64_t i = 0, jobs = 2 + rng.below(4); i < jobs; ++i) {
        JobSpec spec = draw_job(rng, kinds, 1, static_cast<int>(nodes.size()));
        spec.duration = least + span_between(rng, 20'000, 200'000);
        spec.time_limit = Millis(0);
        spec.tenant.clear();
        steps.push_back({.at = span_between(rng, 1'000, 10'000),
                         .act = Act::submit,
                         .job = "long" + std::to_string(i + 1),
                         .spec = std::move(spec)});
    }
}

}  // namespace crater::sim
