// Who gives way: the plans against brute force on small cases, and the time they take at size. Prints one
// JSON object.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "support/cluster.h"

namespace crater::bench {
namespace {

using engine::Engine;
using engine::EngineJob;

NodeInventory node_with(const std::string& name, int cards, const std::string& rack) {
    NodeInventory node = node_number(0);
    node.name = name;
    node.gpus.resize(static_cast<std::size_t>(cards));
    for (auto& gpu : node.gpus) gpu.uuid = "GPU-" + name + "-" + std::to_string(gpu.index);
    if (!rack.empty()) node.labels["topology.rack"] = rack;
    return node;
}

EngineJob a_job(const std::string& id, std::int64_t cards, std::int64_t tasks, int priority,
                bool preemptible) {
    JobSpec spec;
    spec.type = JobType::training;
    spec.tasks = tasks;
    spec.resources.cpu.cores = MilliCpu(100);
    spec.resources.memory.size = Bytes(64 * mib);
    spec.resources.gpu.count = MilliGpu(cards * 1000);
    EngineJob job;
    job.id = id;
    job.spec = std::make_shared<JobSpec>(spec);
    job.queue = "q";
    job.tenant = "team";
    job.priority = priority;
    job.preemptible = preemptible;
    job.submitted = noon;
    return job;
}

void add_queue(Engine& engine) {
    QueueSpec queue;
    queue.name = "q";
    queue.policy = Policy::best_fit;
    queue.order = Order::fifo;
    engine.apply(engine::QueueSet{queue});
}

// ---- Small cases, against all sets ------------------------------------------------------------------------

struct Held {
    std::string id;
    int priority = 0;
    std::int64_t cost = 0;
    Instant started;
    std::map<int, std::int64_t> cards;  // by node
};
// priority, cost, jobs, minus the start
using Figures = std::tuple<int, std::int64_t, std::int64_t, std::int64_t>;

struct Small {
    SeededRng rng;
    Engine engine;
    std::vector<std::int64_t> free;
    std::vector<std::string> racks;
    std::vector<Held> able;
    EngineJob wants;
    std::int64_t need = 0;
    Instant now = noon;

    explicit Small(std::uint64_t seed) : rng(seed) {
        add_queue(engine);
        const auto nodes = 1 + rng.below(4);
        std::map<std::string, int> number;
        for (std::uint64_t n = 0; n < nodes; ++n) {
            const auto cards = 1 + static_cast<std::int64_t>(rng.below(4));
            const auto name = "n" + std::to_string(n);
            racks.push_back("r" + std::to_string(rng.below(2)));
            free.push_back(cards);
            number[name] = static_cast<int>(n);
            engine.apply(engine::NodeSet{node_with(name, static_cast<int>(cards), racks.back())});
        }
        for (int i = 0; i < 12; ++i) {
            const auto id = "v" + std::to_string(i);
            const bool preemptible = rng.below(6) != 0;
            // Falling, so that these leave each other alone.
            const auto job = a_job(id, 1 + static_cast<std::int64_t>(rng.below(2)),
                                   rng.below(3) ? 1 : 1 + static_cast<std::int64_t>(rng.below(3)),
                                   400 - 100 * (i / 4), preemptible);
            now = now + Millis{1000 * (1 + static_cast<std::int64_t>(rng.below(2000)))};
            engine.apply(engine::JobAdded{job});
            const auto plan = engine.pass(now);
            if (plan.placements.empty()) {
                engine.apply(engine::JobRemoved{id});
                continue;
            }
            Instant saved = now;
            if (rng.below(3) == 0) {
                saved = now + Millis{1000 * static_cast<std::int64_t>(rng.below(2000))};
                engine.apply(engine::Checkpointed{id, saved});
            }
            Held held{id, job.priority, saved.ms, now, {}};  // the cost is known when it is told at what time
            for (const auto& [task, allocation] : engine.allocations(plan.placements[0])) {
                const auto cards = static_cast<std::int64_t>(allocation.gpus.size());
                held.cards[number.at(allocation.node)] += cards;
                free[static_cast<std::size_t>(number.at(allocation.node))] -= cards;
            }
            if (preemptible) able.push_back(held);
        }
        now = now + Millis{5'000'000};
        for (auto& held : able) {
            const auto seconds = (now.ms - held.cost) / 1000 + 300;
            held.cost = 0;
            for (const auto& [node, cards] : held.cards) held.cost += cards * 1000 * seconds;
        }
        need = 1 + static_cast<std::int64_t>(rng.below(3));
        wants = a_job("wants", need, 1 + static_cast<std::int64_t>(rng.below(4)), 700, false);
        if (wants.spec->tasks > 1 && rng.below(3) == 0) {
            auto spec = std::make_shared<JobSpec>(*wants.spec);
            spec->topology = {TopologyLevel::rack, true};
            wants.spec = spec;
        }
    }
    bool fits(std::uint32_t gone) const {
        std::map<std::string, std::int64_t> rooms;
        for (std::size_t n = 0; n < free.size(); ++n) {
            auto here = free[n];
            for (std::size_t v = 0; v < able.size(); ++v)
                if (gone >> v & 1)
                    if (const auto it = able[v].cards.find(static_cast<int>(n)); it != able[v].cards.end())
                        here += it->second;
            rooms[wants.spec->topology.required ? racks[n] : ""] += here / need;
        }
        return std::any_of(rooms.begin(), rooms.end(),
                           [&](const auto& room) { return room.second >= wants.spec->tasks; });
    }
    Figures figures(std::uint32_t gone) const {
        int priority = 0;
        std::int64_t cost = 0, jobs = 0, started = INT64_MAX;
        for (std::size_t v = 0; v < able.size(); ++v)
            if (gone >> v & 1) {
                priority = std::max(priority, able[v].priority);
                cost += able[v].cost;
                ++jobs;
                started = std::min(started, able[v].started.ms);
            }
        return {priority, cost, jobs, -started};
    }
};

struct Shares {
    std::int64_t cases = 0, same = 0, minimal = 0, failed = 0;
    double worst = 1;
};

Shares small_cases(std::int64_t wanted) {
    Shares out;
    for (std::uint64_t seed = 1; out.cases < wanted; ++seed) {
        Small small(seed * 2654435761);
        if (small.fits(0)) continue;
        std::optional<Figures> best;
        for (std::uint32_t gone = 1; gone < 1U << small.able.size(); ++gone)
            if (const auto f = small.figures(gone); (!best || f < *best) && small.fits(gone)) best = f;
        if (!best) continue;
        ++out.cases;
        small.engine.apply(engine::JobAdded{small.wants});
        const auto plan = small.engine.pass(small.now);
        std::uint32_t chosen = 0;
        for (const auto& p : plan.preemptions)
            for (std::size_t v = 0; v < small.able.size(); ++v)
                if (small.able[v].id == p.victim) chosen |= 1U << v;
        if (chosen == 0 || !small.fits(chosen)) {
            ++out.failed;
            continue;
        }
        const auto its = small.figures(chosen);
        out.same += its == *best;
        bool minimal = true;
        for (std::size_t v = 0; v < small.able.size(); ++v)
            if (chosen >> v & 1) minimal &= !small.fits(chosen & ~(1U << v));
        out.minimal += minimal;
        // A higher priority than need be is worse than any cost.
        const double ratio =
            std::get<0>(its) != std::get<0>(*best)
                ? 1e9
                : static_cast<double>(std::get<1>(its)) / static_cast<double>(std::get<1>(*best));
        out.worst = std::max(out.worst, ratio);
    }
    return out;
}

// ---- At size ----------------------------------------------------------------------------------------------

struct Timed {
    double seconds = 0, baseline = 0;
    std::size_t preemptions = 0;
};

// 500 nodes of 8 cards full of jobs of one card, and as many of a higher priority come at once. The baseline
// decides on a copy of bare counters for each of them, as schedulers do that plan on a snapshot.
Timed wave(int nodes) {
    Engine engine(Cluster::settings());
    add_queue(engine);
    for (int n = 0; n < nodes; ++n) engine.apply(engine::NodeSet{node_number(n)});
    Instant now = noon;
    const int jobs = nodes * 8;
    for (int i = 0; i < jobs; ++i) {
        engine.apply(engine::JobAdded{a_job("run-" + std::to_string(i), 1, 1, 400, true)});
        if (i % 50 == 49) now = now + Millis{1000}, engine.pass(now);
    }
    now = now + Millis{3'600'000};
    for (int i = 0; i < jobs; ++i)
        engine.apply(engine::JobAdded{a_job("wait-" + std::to_string(i), 1, 1, 700, false)});
    Timed out;
    const double began = Cluster::cpu_seconds();
    for (bool more = true; more;) {
        const auto plan = engine.pass(now);
        out.preemptions += plan.preemptions.size();
        more = plan.more;
    }
    out.seconds = Cluster::cpu_seconds() - began;

    struct Running {
        int node;
        std::int64_t cost;
        bool gone;
    };
    std::vector<Running> running;
    for (int i = 0; i < jobs; ++i) running.push_back({i / 8, 1000 + i % 50, false});
    std::vector<int> free(static_cast<std::size_t>(nodes), 0);
    const double from = Cluster::cpu_seconds();
    for (int i = 0; i < jobs; ++i) {
        auto snapshot = running;
        auto room = free;
        int best = -1;
        for (std::size_t v = 0; v < snapshot.size(); ++v)
            if (!snapshot[v].gone && room[static_cast<std::size_t>(snapshot[v].node)] + 1 >= 1 &&
                (best < 0 || snapshot[v].cost < snapshot[static_cast<std::size_t>(best)].cost))
                best = static_cast<int>(v);
        running[static_cast<std::size_t>(best)].gone = true;
    }
    out.baseline = Cluster::cpu_seconds() - from;
    return out;
}

// 2,000 nodes in racks of 32; 700 jobs that may give way, two a node, among others that may not; a gang of 12
// whole nodes of one rack. The baseline grows a set by cost and leaves out who is not needed, judging each
// set by all racks' counters.
Timed racks() {
    constexpr int nodes = 2000, per_rack = 32, victims = 700;
    constexpr std::int64_t tasks = 12;
    Engine engine(Cluster::settings());
    add_queue(engine);
    SeededRng rng{9};
    std::vector<int> order(nodes);
    for (int n = 0; n < nodes; ++n) {
        NodeInventory node = node_number(n);
        node.labels["topology.rack"] = "rack-" + std::to_string(n / per_rack);
        engine.apply(engine::NodeSet{node});
        order[static_cast<std::size_t>(n)] = n;
    }
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
    // The nodes that can be cleared stand together, so that some rack can hold the gang.
    std::sort(order.begin(), order.begin() + 1200, [](int a, int b) { return a / per_rack < b / per_rack; });
    Instant now = noon;
    std::vector<std::pair<int, std::int64_t>> held;  // node, cost
    const auto place = [&](const std::string& id, std::int64_t cards, bool preemptible, int node,
                           int priority) {
        auto job = a_job(id, cards, 1, priority, preemptible);
        auto spec = std::make_shared<JobSpec>(*job.spec);
        spec->node.include = {node_number(node).name};
        job.spec = spec;
        engine.apply(engine::JobAdded{job});
    };
    for (int i = 0; i < nodes; ++i) {
        const int node = order[static_cast<std::size_t>(i)];
        const bool clears = i < victims / 2;
        for (int part = 0; part < 2; ++part)
            place((clears ? "may-" : "may-not-") + std::to_string(i) + "-" + std::to_string(part), 4, clears,
                  node, clears && rng.below(4) == 0 ? 300 : 200);
        if (i % 10 == 9) {
            now = now + Millis{1000 * (1 + static_cast<std::int64_t>(rng.below(60)))};
            engine.pass(now);
        }
        if (clears)
            held.emplace_back(node, 4000 * (static_cast<std::int64_t>(rng.below(5000)) + 300)),
                held.emplace_back(node, 4000 * (static_cast<std::int64_t>(rng.below(5000)) + 300));
    }
    now = now + Millis{3'600'000};
    auto gang = a_job("gang", 8, tasks, 700, false);
    auto spec = std::make_shared<JobSpec>(*gang.spec);
    spec->topology = {TopologyLevel::rack, true};
    gang.spec = spec;
    engine.apply(engine::JobAdded{gang});
    Timed out;
    const double began = Cluster::cpu_seconds();
    out.preemptions = engine.pass(now).preemptions.size();
    out.seconds = Cluster::cpu_seconds() - began;

    const double from = Cluster::cpu_seconds();
    std::vector<std::size_t> by_cost(held.size()), kept;
    for (std::size_t v = 0; v < held.size(); ++v) by_cost[v] = v;
    std::sort(by_cost.begin(), by_cost.end(),
              [&](auto a, auto b) { return held[a].second < held[b].second; });
    const auto enough = [&](const std::vector<std::size_t>& gone) {
        std::vector<int> free(nodes, 0);
        for (const auto v : gone) free[static_cast<std::size_t>(held[v].first)] += 4;
        std::vector<int> room(nodes / per_rack + 1, 0);
        for (int n = 0; n < nodes; ++n)
            room[static_cast<std::size_t>(n / per_rack)] += free[static_cast<std::size_t>(n)] / 8;
        return *std::max_element(room.begin(), room.end()) >= tasks;
    };
    for (const auto v : by_cost) {
        kept.push_back(v);
        if (enough(kept)) break;
    }
    for (auto i = kept.size(); i-- > 0;) {
        auto rest = kept;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
        if (enough(rest)) kept = std::move(rest);
    }
    out.baseline = Cluster::cpu_seconds() - from;
    return out;
}

int run(int argc, char** argv) {
    std::int64_t cases = 10'000;
    int nodes = 500;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string key = argv[i];
        if (key == "--cases") cases = std::atoll(argv[i + 1]);
        if (key == "--nodes") nodes = std::atoi(argv[i + 1]);
    }
    const Shares shares = small_cases(cases);
    const Timed all = wave(nodes), gang = racks();
    std::printf(
        "{\"cases\": %ld, \"same_objective\": %.5f, \"worst_cost_ratio\": %.4f, \"none_can_be_left_out\": %.5f, \"no_plan\": %ld, "
        "\"wave_jobs\": %d, \"wave_preemptions\": %zu, \"wave_seconds\": %.4f, \"wave_snapshot_loop_seconds\": %.4f, "
        "\"racks_preemptions\": %zu, \"racks_seconds\": %.5f, \"racks_bare_trial_seconds\": %.5f}\n",
        shares.cases, static_cast<double>(shares.same) / static_cast<double>(shares.cases), shares.worst,
        static_cast<double>(shares.minimal) / static_cast<double>(shares.cases), shares.failed, nodes * 8,
        all.preemptions, all.seconds, all.baseline, gang.preemptions, gang.seconds, gang.baseline);
    return 0;
}

}  // namespace
}  // namespace crater::bench

int main(int argc, char** argv) { return crater::bench::run(argc, argv); }
