// A cluster of equal nodes with 8 cards, and a mix of requests that comes and goes on it: what the benchmarks
// of the engine drive.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "crater/base/clock.h"
#include "crater/engine/engine.h"

namespace crater::bench {

using engine::Engine;
inline constexpr std::int64_t gib = 1LL << 30, mib = 1LL << 20;
inline constexpr Instant noon{1'700'000'000'000};

// A request and how often it comes.
struct Request {
    std::int64_t cpu = 0, memory_mib = 0, cards = 0, milli = 0;
    double weight = 1;
};

// The mix of the openb pod list; without that folder a mix of our own of the same kind: many parts of cards,
// many single cards, few groups, some work without a GPU.
inline std::vector<Request> requests_of(const std::string& shared) {
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>, double> mix;
    std::ifstream file(shared + "/openb/openb_pod_list_default.csv");
    std::string line;
    for (std::getline(file, line); std::getline(file, line);) {
        std::int64_t cpu = 0, memory = 0, cards = 0, milli = 0;
        const auto comma = line.find(',');
        if (std::sscanf(line.c_str() + comma, ",%ld,%ld,%ld,%ld", &cpu, &memory, &cards, &milli) < 3)
            continue;
        mix[{cpu, memory, cards, cards == 0 ? 0 : std::min<std::int64_t>(1000, milli)}] += 1;
    }
    if (mix.empty())
        mix = {{{3000, 8192, 1, 500}, 14},   {{4000, 16384, 1, 250}, 9},   {{6000, 12288, 1, 450}, 9},
               {{2000, 8192, 1, 100}, 4},    {{3200, 9000, 1, 810}, 12},   {{12000, 32768, 1, 1000}, 25},
               {{8000, 32768, 1, 1000}, 12}, {{24000, 65536, 2, 1000}, 1}, {{64000, 262144, 8, 1000}, 1},
               {{4000, 8192, 0, 0}, 8},      {{1000, 2048, 0, 0}, 5}};
    std::vector<Request> out;
    for (const auto& [key, weight] : mix) {
        const auto [cpu, memory, cards, milli] = key;
        out.push_back({cpu, memory, cards, milli, weight});
    }
    return out;
}

inline JobSpec spec_of(const Request& request) {
    JobSpec spec;
    spec.type = JobType::training;
    spec.resources.cpu.cores = MilliCpu(request.cpu);
    spec.resources.memory.size = Bytes(request.memory_mib * mib);
    spec.resources.gpu.count = MilliGpu(request.milli < 1000 ? request.milli : request.cards * 1000);
    return spec;
}

inline NodeInventory node_number(int n) {
    NodeInventory node;
    char name[16];
    std::snprintf(name, sizeof name, "n%05d", n);
    node.name = name;
    node.simulated = true;
    node.runtimes = {"process"};
    node.cpu_features = {"avx2", "avx512f"};
    node.cpu = MilliCpu(128'000);
    node.memory = Bytes(768 * gib);
    for (int d = 0; d < 2; ++d) {
        NumaDomain domain;
        domain.id = d;
        for (int c = d * 64; c < (d + 1) * 64; ++c) domain.cpus.push_back(c), domain.core_of.push_back(c / 2);
        domain.memory = Bytes(384 * gib);
        domain.memory_bandwidth = BytesPerSecond(140'000'000'000);
        node.numa.push_back(std::move(domain));
    }
    for (int g = 0; g < 8; ++g) {
        Gpu gpu;
        gpu.index = g;
        gpu.model = "a100-pcie-40gb";
        gpu.uuid = "GPU-" + node.name + "-" + std::to_string(g);
        gpu.numa_node = g / 4;
        gpu.memory = Mebibytes(40960);
        gpu.compute_capability = "8.0";
        gpu.precisions = {"fp16", "bf16"};
        node.gpus.push_back(std::move(gpu));
    }
    return node;
}

struct Cluster {
    Engine engine;
    std::vector<Request> mix;
    std::vector<std::shared_ptr<const JobSpec>> specs;
    std::vector<std::shared_ptr<const engine::Profile>> profiles;  // empty: nothing is known of any request
    std::vector<double> cumulative;
    SeededRng rng{42};
    std::int64_t next = 0, milli_held = 0, milli_total = 0;
    struct Running {
        std::string job;
        std::int64_t milli;
    };
    std::vector<Running> running;
    std::map<std::string, std::int64_t> waiting;  // job -> milli

    static engine::Settings settings() {
        engine::Settings out;
        out.gpu_preprocessing_reserve = 0;
        return out;
    }

    Cluster(int nodes, Policy policy, std::vector<Request> requests)
        : engine(settings()), mix(std::move(requests)) {
        QueueSpec queue;
        queue.name = "q";
        queue.policy = policy;
        engine.apply(engine::QueueSet{queue});
        for (int n = 0; n < nodes; ++n) engine.apply(engine::NodeSet{node_number(n)});
        milli_total = nodes * 8000LL;
        double sum = 0;
        for (const auto& request : mix) {
            specs.push_back(std::make_shared<JobSpec>(spec_of(request)));
            cumulative.push_back(sum += request.weight);
        }
    }

    // Of every request it is known that it uses three quarters of what it asks for.
    void know_profiles() {
        for (const auto& request : mix) {
            engine::Profile profile;
            profile.cpu = MilliCpu(request.cpu * 3 / 4);
            profile.memory = Bytes(request.memory_mib * mib / 4 * 3);
            if (request.cards > 0) profile.gpu_memory = Mebibytes(40960 * request.milli / 1000 * 3 / 4);
            profiles.push_back(std::make_shared<engine::Profile>(profile));
        }
    }

    std::size_t draw() {
        const double at = static_cast<double>(rng.below(1 << 30)) / (1 << 30) * cumulative.back();
        return static_cast<std::size_t>(std::upper_bound(cumulative.begin(), cumulative.end(), at) -
                                        cumulative.begin());
    }
    void queue_one() {
        const auto r = std::min(draw(), mix.size() - 1);
        engine::EngineJob job;
        job.id = "job-" + std::to_string(next);
        job.spec = specs[r];
        job.queue = "q";
        job.tenant = "team";
        job.submitted = {noon.ms + next++};
        job.profile = profiles.empty() ? nullptr : profiles[r];
        waiting[job.id] = mix[r].cards * mix[r].milli;
        engine.apply(engine::JobAdded{std::move(job)});
    }
    void took(const engine::Plan& plan) {
        for (const auto& placement : plan.placements) {
            const auto it = waiting.find(placement.job);
            running.push_back({placement.job, it->second});
            milli_held += it->second;
            waiting.erase(it);
        }
    }
    // Jobs that found no place give up, so that the mix stays what it is.
    void drop_waiting() {
        for (const auto& [job, milli] : waiting) engine.apply(engine::JobRemoved{job});
        waiting.clear();
    }
    double load() const { return static_cast<double>(milli_held) / static_cast<double>(milli_total); }
    void fill(double to) {
        while (load() < to) {
            for (int i = 0; i < 500; ++i) queue_one();
            took(engine.pass(noon, {.placements_max = 1000, .evaluations_max = 1'000'000}));
            drop_waiting();
        }
    }
    void free_random() {
        const auto i = static_cast<std::size_t>(rng.below(running.size()));
        milli_held -= running[i].milli;
        leaving.push_back({engine::JobRemoved{running[i].job}});
        running[i] = running.back();
        running.pop_back();
    }
    std::vector<engine::Event> leaving;
    std::size_t allocated = 0;  // tasks

    // Small work without a GPU that stays: what runs must not matter to what is decided.
    void background(std::int64_t tasks) {
        JobSpec spec;
        spec.type = JobType::batch;
        spec.resources.cpu.cores = MilliCpu(100);
        spec.resources.memory.size = Bytes(64 * mib);
        const auto small = std::make_shared<JobSpec>(spec);
        QueueSpec queue;
        queue.name = "background";
        queue.policy = Policy::spread;
        engine.apply(engine::QueueSet{queue});
        const auto books = engine.books();
        for (std::int64_t t = 0; t < tasks; ++t) {
            engine::EngineJob job;
            job.id = "small-" + std::to_string(t);
            job.spec = small;
            job.queue = "background";
            job.tenant = "team";
            job.submitted = noon;
            engine.apply(engine::JobAdded{job});
            Allocation slices;
            slices.node = books[static_cast<std::size_t>(t) % books.size()].node;
            slices.cpu = spec.resources.cpu.cores;
            slices.memory = spec.resources.memory.size;
            engine.apply(engine::TaskPlaced{job.id, 0, slices, noon});
        }
    }

    // Time this thread computed: these machines are shared, and waiting for a core is not deciding.
    static double cpu_seconds() {
        timespec t{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
    }
    // Places and releases for about `seconds`; gives placements per second of the time in pass and release.
    // Beside it, what queueing a job costs, and making the allocations that are stored out of what was
    // decided.
    struct Rate {
        double per_second = 0, queueing_ns = 0, allocating_ns = 0, load = 0;
        std::int64_t placed = 0, refused = 0;
    };
    Rate churn(double seconds, double at_load) {
        Rate out;
        double spent = 0, queueing = 0, allocating = 0;
        std::int64_t queued = 0;
        while (spent < seconds) {
            leaving.clear();
            while (load() > at_load && !running.empty()) free_random();
            const auto t0 = cpu_seconds();
            for (int i = 0; i < 100; ++i) queue_one();
            const auto t1 = cpu_seconds();
            for (const auto& event : leaving) engine.apply(event);
            const auto plan = engine.pass(noon, {.placements_max = 1000, .evaluations_max = 1'000'000});
            const auto t2 = cpu_seconds();
            queued += 100;
            queueing += t1 - t0;
            for (const auto& placement : plan.placements) allocated += engine.allocations(placement).size();
            allocating += cpu_seconds() - t2;
            spent += t2 - t1;
            out.placed += static_cast<std::int64_t>(plan.placements.size());
            took(plan);
            out.refused += static_cast<std::int64_t>(waiting.size());
            drop_waiting();
        }
        out.per_second = static_cast<double>(out.placed) / spent;
        out.queueing_ns = queueing / static_cast<double>(queued) * 1e9;
        out.allocating_ns = allocating / static_cast<double>(std::max<std::int64_t>(1, out.placed)) * 1e9;
        out.load = load();
        return out;
    }
};

inline Result<Policy> policy_named(const std::string& name) {
    for (const auto& row : enum_names(Policy{}))
        if (row.name == name) return row.value;
    return fail(Code::invalid, "unknown policy " + name, "policy");
}

}  // namespace crater::bench
