// From submit to placed in the engine while 100,000 jobs wait, and a CPU job behind 10,000 blocked GPU jobs.
// Prints one JSON object.
#include <algorithm>
#include <cstdlib>

#include "support/cluster.h"

namespace crater::bench {
namespace {

using engine::Engine;
using engine::EngineJob;

struct Times {
    double p50 = 0, p99 = 0;
};
Times times_of(std::vector<double> seconds) {
    std::sort(seconds.begin(), seconds.end());
    return {seconds[seconds.size() / 2] * 1e3, seconds[seconds.size() * 99 / 100] * 1e3};
}

struct Backlog {
    Engine engine;
    SeededRng rng{11};
    Instant now = noon;
    std::vector<std::string> running;
    std::int64_t next = 0;

    Backlog(Order order, int nodes) : engine(Cluster::settings()) {
        QueueSpec queue;
        queue.name = "q";
        queue.policy = Policy::best_fit;
        queue.order = order;
        engine.apply(engine::QueueSet{queue});
        for (int n = 0; n < nodes; ++n) engine.apply(engine::NodeSet{node_number(n)});
        for (int i = 0; i < nodes * 8; ++i) running.push_back(add(1, 1, 900, 1));
        while (engine.pass(now).more) {
        }
    }
    // Shapes, people and run times as a site has them: a few of each.
    std::string add(std::int64_t cards, std::int64_t tasks, int priority, std::int64_t cpu) {
        JobSpec spec;
        spec.type = cards > 0 ? JobType::training : JobType::batch;
        spec.tasks = tasks;
        spec.resources.cpu.cores = MilliCpu(cpu * 1000);
        spec.resources.memory.size = Bytes(static_cast<std::int64_t>(1 + rng.below(4)) << 30);
        spec.resources.gpu.count = MilliGpu(cards * 1000);
        EngineJob job;
        job.id = "job-" + std::to_string(next);
        job.spec = std::make_shared<JobSpec>(spec);
        job.queue = "q";
        job.tenant = "team-" + std::to_string(rng.below(20));
        job.priority = priority;
        job.submitted = {now.ms + next++};
        job.run_time = engine::RunTime{Millis{60'000 * (1 + static_cast<std::int64_t>(rng.below(10'000)))},
                                       Millis{60'000 * 20'000LL}};
        job.served = static_cast<std::int64_t>(rng.below(1'000'000)) * 1000;
        engine.apply(engine::JobAdded{job});
        return job.id;
    }
    void wait(std::int64_t jobs) {
        for (std::int64_t i = 0; i < jobs; ++i)
            add(std::int64_t{1} << rng.below(4),
                rng.below(4) ? 1 : 2 + static_cast<std::int64_t>(rng.below(6)), 500,
                1 + static_cast<std::int64_t>(rng.below(4)));
        while (engine.pass(now).more) {
        }
    }
    // A job comes that can start: without a card, or on one that became free just before.
    std::vector<double> submit(int times, bool card) {
        std::vector<double> out;
        for (int i = 0; i < times; ++i) {
            now = now + Millis{1000};
            if (card) {
                const auto which = rng.below(running.size());
                engine.apply(engine::JobRemoved{running[which], now, true});
                running[which] = running.back();
                running.pop_back();
            }
            const double began = Cluster::cpu_seconds();
            const auto id = add(card ? 1 : 0, 1, card ? 900 : 500, 1);
            bool placed = false;
            for (bool more = true; more && !placed;) {
                const auto plan = engine.pass(now);
                for (const auto& placement : plan.placements) placed |= placement.job == id;
                more = plan.more;
            }
            out.push_back(Cluster::cpu_seconds() - began);
            if (!placed) std::fprintf(stderr, "job %s was not placed\n", id.c_str()), std::exit(1);
            if (card)
                running.push_back(id);
            else
                engine.apply(engine::JobRemoved{id, now, true});
        }
        return out;
    }
};

// The baseline: every pass asks of each waiting job whether it fits the emptiest node, and takes the first
// that does.
std::vector<double> plain_look(std::int64_t jobs, int times) {
    struct Waits {
        int priority;
        std::int64_t submitted, cards, cpu;
    };
    std::vector<Waits> waits;
    SeededRng rng{11};
    for (std::int64_t i = 0; i < jobs; ++i)
        waits.push_back({500, i, 1 << rng.below(4), 1 + static_cast<std::int64_t>(rng.below(4))});
    std::vector<double> out;
    std::int64_t found = 0;
    for (int i = 0; i < times; ++i) {
        const double began = Cluster::cpu_seconds();
        waits.push_back({500, jobs + i, 0, 1});
        std::vector<const Waits*> order;
        for (const auto& one : waits) order.push_back(&one);
        std::sort(order.begin(), order.end(), [](const Waits* a, const Waits* b) {
            return a->priority != b->priority ? a->priority > b->priority : a->submitted < b->submitted;
        });
        for (const auto* one : order)
            if (one->cards == 0 && one->cpu <= 8) ++found;
        waits.pop_back();
        out.push_back(Cluster::cpu_seconds() - began);
    }
    if (found == 0) std::exit(1);
    return out;
}

int run(int argc, char** argv) {
    std::int64_t pending = 100'000;
    int nodes = 500, times = 2000;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string key = argv[i];
        if (key == "--pending") pending = std::atoll(argv[i + 1]);
        if (key == "--nodes") nodes = std::atoi(argv[i + 1]);
        if (key == "--times") times = std::atoi(argv[i + 1]);
    }
    std::printf("{\"pending\": %ld, \"nodes\": %d, \"times\": %d", pending, nodes, times);
    for (const auto order : {Order::fair, Order::fifo, Order::shortest, Order::las}) {
        Backlog backlog(order, nodes);
        backlog.wait(pending);
        const auto cpu = times_of(backlog.submit(times, false)), card = times_of(backlog.submit(times, true));
        const std::string name(name_of(order));
        std::printf(
            ", \"%s\": {\"cpu_p50_ms\": %.4f, \"cpu_p99_ms\": %.4f, \"gpu_p50_ms\": %.4f, \"gpu_p99_ms\": %.4f}",
            name.c_str(), cpu.p50, cpu.p99, card.p50, card.p99);
    }
    Backlog blocked(Order::fair, nodes);
    blocked.wait(10'000);
    const auto behind = times_of(blocked.submit(times, false));
    const auto plain = times_of(plain_look(pending, 50)), plain_behind = times_of(plain_look(10'000, 50));
    std::printf(
        ", \"behind_10k\": {\"p50_ms\": %.4f, \"p99_ms\": %.4f}, \"plain_look\": {\"p50_ms\": %.4f, \"behind_10k_p50_ms\": %.4f}}\n",
        behind.p50, behind.p99, plain.p50, plain_behind.p50);
    return 0;
}

}  // namespace
}  // namespace crater::bench

int main(int argc, char** argv) { return crater::bench::run(argc, argv); }
