// The swarm. Of hardware, settings, kinds of jobs and kinds of faults each seed has some and not others: what
// hides behind one kind of fault in a mix of all comes up where that kind is missing.
#include "draw_jobs.h"

namespace crater::sim {
namespace {

constexpr Millis second{1'000};

Millis between(Rng& rng, std::int64_t low_ms, std::int64_t high_ms) {
    return Millis(low_ms +
                  static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(high_ms - low_ms + 1))));
}

template <class T, std::size_t N>
const T& one_of(Rng& rng, const T (&list)[N]) {
    return list[rng.below(N)];
}

// Sums of memory pass 2^32 bytes on each, and on the largest are far beyond what a careless type holds.
constexpr std::int64_t node_memories[] = {16ll << 30, 64'000'000'000, (256ll << 30) + 4096, 6ll << 40,
                                          1ll << 52};

hw::SimulatedNode draw_node(Rng& rng, int index, const hw::SimulatedNode& like, bool alike) {
    hw::SimulatedNode node = like;
    if (!alike) {
        static constexpr const char* models[] = {"a100-pcie-40gb", "a100-sxm4-80gb", "h100-sxm5-80gb", "a10"};
        static constexpr std::int64_t counts[] = {0, 1, 2, 4, 4, 8};
        node.gpus.model = one_of(rng, models);
        node.gpus.count = one_of(rng, counts);
        node.gpus.mig = node.gpus.count > 0 && node.gpus.model != "a10" && rng.below(4) == 0;
        node.gpus.nvlink = rng.below(2) ? "pairs" : "none";
        node.cpu.sockets = static_cast<std::int64_t>(1 + rng.below(2));
        node.cpu.cores = static_cast<std::int64_t>(8 + 8 * rng.below(4));
        node.memory = Bytes(one_of(rng, node_memories));
        node.disks["nvme0n1"] = {};
        node.labels["topology.rack"] = rng.below(2) ? "r1" : "r2";
    }
    node.name = "n" + std::to_string(index + 1);
    return node;
}

std::vector<hw::SimulatedNode> draw_nodes(Rng& rng) {
    const bool alike = rng.below(2) == 0;
    const int count = static_cast<int>(1 + rng.below(4));
    std::vector<hw::SimulatedNode> nodes;
    for (int i = 0; i < count; ++i)
        nodes.push_back(draw_node(rng, i, i ? nodes.front() : hw::SimulatedNode(), alike && i > 0));
    // Somebody has cards.
    if (std::all_of(nodes.begin(), nodes.end(), [](const auto& node) { return node.gpus.count == 0; }))
        nodes.front().gpus.count = 4;
    return nodes;
}

std::vector<QueueSpec> draw_queues(Rng& rng) {
    static constexpr Order orders[] = {Order::fair, Order::fifo, Order::shortest, Order::las};
    static constexpr Policy policies[] = {Policy::price, Policy::best_fit, Policy::binpack, Policy::spread,
                                          Policy::fragmentation};
    std::vector<QueueSpec> queues{
        {.name = "training", .priority = {500}, .types = {JobType::training}},
        {.name = "inference", .priority = {700}, .types = {JobType::inference, JobType::interactive}},
        {.name = "offline", .priority = {100}, .default_preemptible = true, .types = {JobType::batch}}};
    for (QueueSpec& queue : queues) {
        queue.order = one_of(rng, orders);
        queue.policy = one_of(rng, policies);
        if (rng.below(8) == 0) queue.reserved_gpu = 1;
    }
    return queues;
}

Settings draw_settings(Rng& rng) {
    Settings out;
    out.heartbeat_interval = between(rng, 1'000, 8'000);
    out.heartbeat_timeout = out.heartbeat_interval * static_cast<std::int64_t>(2 + rng.below(3)) + second;
    out.lost_grace = between(rng, 0, 40'000);
    if (rng.below(4) == 0) out.defragment_every = between(rng, 20'000, 90'000);
    out.min_run_time = rng.below(2) ? Millis(0) : between(rng, 0, 20'000);
    if (rng.below(4)) out.queues = draw_queues(rng);
    return out;
}

Weather draw_weather(Rng& rng) {
    Weather out;
    out.message_loss = static_cast<double>(rng.below(3)) * 0.001;
    out.delay_max = between(rng, 1, 120);
    out.commit_latency_max = between(rng, 1, 60);
    out.restart_delay_max = between(rng, 200, 8'000);
    if (rng.below(3) == 0) out.clock_skew_max = between(rng, 1, 3'000);
    out.callback_failures_percent = static_cast<int>(10 * rng.below(4));
    out.task_failures_percent = static_cast<int>(5 * rng.below(4));
    return out;
}

// Faults come one by one, and at times several at once; many just after something was asked, when most is
// under way.
std::vector<Injection> draw_faults(Rng& rng, int nodes, Millis length, const std::vector<Step>& steps) {
    std::vector<const FaultRow*> kinds;
    const std::uint64_t part = 1 + rng.below(3);  // of four
    for (const FaultRow& row : fault_table())
        if (rng.below(4) < part) kinds.push_back(&row);
    if (kinds.empty()) kinds.push_back(&fault_row(Fault::scheduler_crash));
    std::vector<Injection> out;
    const std::uint64_t wanted = 20 + rng.below(30);
    Millis at{0};
    while (out.size() < wanted) {
        const FaultRow& row = *kinds[rng.below(kinds.size())];
        const std::uint64_t when = rng.below(5);
        if (when == 0 || when == 1)
            at = between(rng, 1'000, length.count());
        else if (when == 2 || when == 3)
            at = std::min(length, steps[rng.below(steps.size())].at + between(rng, 0, 400));
        Injection fault{.fault = row.fault,
                        .at = at,
                        .steps = rng.below(60),
                        .node = static_cast<int>(rng.below(static_cast<std::uint64_t>(nodes)))};
        // Most are short; some outlast every patience.
        if (row.lasts) fault.span = rng.below(4) ? between(rng, 100, 15'000) : between(rng, 15'000, 70'000);
        out.push_back(fault);
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const Injection& a, const Injection& b) { return a.at < b.at; });
    return out;
}

void draw_quotas(Rng& rng, Millis length, std::vector<Step>& steps) {
    for (const std::string& tenant : capped_tenants()) {
        const auto say = [&](Millis at, std::int64_t cards, std::int64_t jobs, Bytes memory) {
            Step step{.at = at, .act = Act::quota, .tenant = tenant};
            step.quota.gpu = MilliGpu(cards * 1000);
            step.quota.jobs = jobs;
            step.quota.memory = memory;
            steps.push_back(std::move(step));
        };
        say(second, static_cast<std::int64_t>(2 + rng.below(4)), static_cast<std::int64_t>(1 + rng.below(4)),
            Bytes(1ll << 60));
        for (std::uint64_t changes = rng.below(3); changes > 0; --changes)
            say(between(rng, 10'000, length.count()), static_cast<std::int64_t>(1 + rng.below(6)),
                static_cast<std::int64_t>(1 + rng.below(6)),
                Bytes((4ll + static_cast<std::int64_t>(rng.below(28))) << 30));
    }
}

void draw_operations(Rng& rng, const JobKinds& kinds, int nodes, Millis length, std::vector<Step>& steps) {
    const auto some = [&](bool on, Act act, std::uint64_t most) {
        for (std::uint64_t n = on ? 1 + rng.below(most) : 0; n > 0; --n)
            steps.push_back({.at = between(rng, 5'000, length.count()),
                             .act = act,
                             .node = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(nodes))),
                             .after = between(rng, 0, 30'000),
                             .span = between(rng, 1'000, 40'000)});
    };
    some(rng.below(2), Act::drain, 3);
    some(rng.below(2), Act::drain_evict, 3);
    some(rng.below(3) == 0, Act::taint, 3);
    some(rng.below(4) == 0, Act::maintain, 2);
    some(rng.below(3) == 0, Act::defragment, 3);
    if (kinds.tenants) draw_quotas(rng, length, steps);
}

// Data that every node has and data that some have. Only the former is required: a day ends well when every
// job had its turn. Drawn by chance of its own, so that the rest of a seed's day is the same with and
// without.
void draw_data(std::uint64_t seed, Scenario& day) {
    SeededRng rng(seed ^ 0xda7a);
    if (rng.below(3) == 0) return;
    for (hw::SimulatedNode& node : day.options.nodes) {
        node.cache.datasets = {"everywhere"};
        if (rng.below(2)) node.cache.datasets.emplace_back("somewhere");
        if (rng.below(2)) node.cache.models.emplace_back("llama-7b:3");
    }
    for (Step& step : day.steps) {
        if (step.act != Act::submit || rng.below(3)) continue;
        step.spec.data_locality = rng.below(3) ? DataLocality::preferred : DataLocality::required;
        step.spec.datasets = {"everywhere"};
        if (step.spec.data_locality == DataLocality::required) continue;
        if (rng.below(2)) step.spec.datasets.emplace_back("somewhere");
        if (rng.below(2)) step.spec.models.emplace_back("llama-7b:3");
        step.spec.prefer_low_utilization = rng.below(6) == 0;
    }
}

// A quiet time before: what runs since then is waited for when its node is lost.
void begin_earlier(Rng& rng, const JobKinds& kinds, Scenario& day) {
    constexpr Millis settled{640'000};
    for (Step& step : day.steps) step.at += settled;
    for (Injection& fault : day.faults) fault.at += settled;
    day.length += settled;
    draw_long_jobs(rng, kinds, day.options.nodes, settled, day.steps);
}

}  // namespace

Scenario draw(std::uint64_t seed) {
    SeededRng rng(seed * 0x9e3779b97f4a7c15 ^ 0xc7a7e75eed);
    Scenario out;
    out.options.seed = seed;
    out.options.nodes = draw_nodes(rng);
    out.options.weather = draw_weather(rng);
    out.options.settings = draw_settings(rng);
    out.length = between(rng, 90'000, 240'000);
    const int nodes = static_cast<int>(out.options.nodes.size());
    JobKinds kinds = draw_kinds(rng);
    // What a queue keeps for itself it lends to jobs that give way: others might never have room.
    const auto& queues = out.options.settings.queues;
    kinds.all_give_way = std::any_of(queues.begin(), queues.end(),
                                     [](const QueueSpec& queue) { return queue.reserved_gpu > 0; });
    draw_jobs(rng, kinds, out.options.nodes, out.length, out.steps);
    draw_operations(rng, kinds, nodes, out.length, out.steps);
    out.faults = draw_faults(rng, nodes, out.length, out.steps);
    if (rng.below(6) == 0) begin_earlier(rng, kinds, out);
    draw_data(seed, out);
    return tidied(std::move(out));
}

}  // namespace crater::sim
