#include "crater/sim/scenario.h"

#include "crater/base/clock.h"

namespace crater::sim {
namespace {

JobSpec random_job(Rng& rng, std::uint64_t n) {
    JobSpec spec;
    spec.name = "job " + std::to_string(n);
    spec.type = rng.below(3) == 0 ? JobType::batch : JobType::training;
    spec.command.argv = {"work"};
    spec.resources.cpu.cores = MilliCpu(static_cast<std::int64_t>(500 + 500 * rng.below(8)));
    spec.resources.memory.size = Bytes(static_cast<std::int64_t>(1 + rng.below(8)) << 30);
    static constexpr std::int64_t cards[] = {0, 500, 1000, 1000, 2000, 4000};
    spec.resources.gpu.count = MilliGpu(cards[rng.below(std::size(cards))]);
    if (spec.resources.gpu.count.value == 1000 && rng.below(2)) spec.resources.gpu.memory = Mebibytes(static_cast<std::int64_t>(4096 + 4096 * rng.below(4)));
    if (rng.below(4) == 0) spec.tasks = static_cast<std::int64_t>(2 + rng.below(2));
    spec.priority = {static_cast<int>(100 * (1 + rng.below(7)))};
    spec.preemptible = rng.below(2) == 0;
    spec.duration = Millis(static_cast<std::int64_t>(500 + rng.below(60'000)));
    spec.grace_period = Millis(static_cast<std::int64_t>(1'000 + rng.below(5'000)));
    if (rng.below(3) == 0) spec.restart = {RestartPolicy::on_failure, static_cast<std::int64_t>(1 + rng.below(3))};
    if (rng.below(6) == 0) spec.time_limit = Millis(static_cast<std::int64_t>(5'000 + rng.below(30'000)));
    return spec;
}

}  // namespace

Outcome run_seed(std::uint64_t seed, bool keep_trace) {
    SeededRng rng(seed ^ 0xc7a7e75eed);
    WorldOptions options{.seed = seed, .agents = static_cast<int>(2 + rng.below(2)), .gpus_per_node = 4, .nodes = {}, .weather = {}, .settings = {}};
    options.weather.message_loss = static_cast<double>(rng.below(3)) * 0.002;
    World world(options);

    std::vector<std::string> ids;
    world.run_for(Millis(2'000));
    Quota little;
    little.gpu = MilliGpu(2'000);
    little.jobs = 3;
    world.set_quota("little", little);
    const std::uint64_t rounds = 12 + rng.below(12);
    for (std::uint64_t round = 0; round < rounds && world.violations().empty(); ++round) {
        for (std::uint64_t i = rng.below(4); i > 0; --i) {
            ids.push_back("task-" + std::to_string(ids.size() + 1));
            JobSpec spec = random_job(rng, ids.size());
            const auto& known = world.acknowledged();
            if (!known.empty() && rng.below(8) == 0) (rng.below(2) ? spec.after_ok : spec.after_any).push_back(known[rng.below(known.size())]);
            if (spec.tasks == 1 && spec.resources.gpu.count.value <= 2'000 && rng.below(5) == 0) spec.tenant = "little/one";
            world.submit(std::move(spec), ids.back());
        }
        if (!ids.empty() && rng.below(5) == 0) world.cancel(ids[rng.below(ids.size())]);
        const int node = static_cast<int>(rng.below(static_cast<std::uint64_t>(options.agents)));
        const Millis cut(static_cast<std::int64_t>(rng.below(60'000)));
        const auto strike = [&](Fault fault) { world.inject({.fault = fault, .at = world.elapsed(), .node = node, .span = cut}); };
        if (!ids.empty() && rng.below(8) == 0) world.evict(ids[rng.below(ids.size())]);
        if (rng.below(10) == 0) world.drain(node, rng.below(2) == 0, cut);
        if (rng.below(14) == 0) strike(Fault::power_loss);
        if (rng.below(6) == 0) strike(Fault::partition);
        if (rng.below(10) == 0) strike(Fault::scheduler_crash);
        if (rng.below(10) == 0) strike(Fault::agent_crash);
        if (rng.below(15) == 0) strike(Fault::disk_full);
        world.run_for(Millis(static_cast<std::int64_t>(rng.below(12'000))));
    }
    world.heal();
    if (world.violations().empty()) world.run_until_idle(Millis(3'600'000));
    return {seed, world.events(), world.trace_hash(), world.violations(),
            keep_trace || !world.violations().empty() ? world.trace(keep_trace ? 20'000 : 200) : std::string()};
}

}  // namespace crater::sim
