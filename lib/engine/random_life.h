// Random nodes, jobs and events: one life of a small cluster, the engine and its second opinion
// (testing/naive.h) side by side. For tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "crater/base/clock.h"
#include "crater/engine/testing/naive.h"
#include "testing.h"

namespace crater::engine::testing {

inline void fill_cache(Rng& rng, NodeCache& cache) {
    cache = {};
    for (const char* id : {"a", "b", "c"}) {
        if (rng.below(2)) cache.datasets.push_back({id, {}});
        if (rng.below(3) == 0) cache.models.push_back({id, Bytes(gib)});
    }
}

inline NodeInventory random_node(Rng& rng, const std::string& name) {
    const int cards = static_cast<int>(rng.below(5));
    const bool odd = rng.below(2) == 0;
    auto node = make_node(name, cards, 1 + static_cast<int>(rng.below(2)), odd ? 40536 : 16384,
                          odd ? "odd-40gb" : "small");
    node.labels["zone"] = rng.below(2) ? "a" : "b";
    if (rng.below(3) == 0) node.cpu = MilliCpu(node.cpu.value - 2000);
    for (auto& gpu : node.gpus) {
        gpu.healthy = rng.below(8) != 0;
        if (rng.below(2) == 0 && gpu.index + 1 < cards) gpu.nvlink_peers = {gpu.index + 1};
        if (odd && rng.below(6) == 0) cut_into_instances(gpu);
    }
    fill_cache(rng, node.cache);
    if (rng.below(2) == 0) {
        Disk second = node.disks[0];
        second.name = "sda";
        second.latency = Micros(500);
        second.iops = Iops(5'000'000);
        node.disks.push_back(second);
    }
    return node;
}

inline EngineJob random_job(Rng& rng, const std::string& id) {
    auto job = a_job(id);
    auto& want = job.spec.resources;
    const std::int64_t counts[] = {0, 500, 300, 1000, 1000, 2000, 3000};
    want.gpu.count = MilliGpu(counts[rng.below(7)]);
    if (want.gpu.count && rng.below(2)) {
        const std::int64_t sizes[] = {1000, 4096, 16384, 20480, 40000, 40960};
        want.gpu.memory = Mebibytes(sizes[rng.below(6)]);
        if (rng.below(4) == 0)
            want.gpu.compute = MilliGpu(100 * (1 + static_cast<std::int64_t>(rng.below(10))));
    }
    if (rng.below(8) == 0) want.gpu.exclusive = true;
    if (rng.below(6) == 0) want.gpu.model = "odd";
    if (want.gpu.count.value > 1000) want.gpu.interconnect = static_cast<Interconnect>(rng.below(3));
    want.cpu.cores = MilliCpu(500 * (1 + static_cast<std::int64_t>(rng.below(16))));
    want.memory.size = Bytes(gib * (1 + static_cast<std::int64_t>(rng.below(40))));
    if (rng.below(3) == 0)
        want.memory.bandwidth =
            BytesPerSecond(30'000'000'000 * (1 + static_cast<std::int64_t>(rng.below(4))));
    if (rng.below(4) == 0) want.disk.iops = Iops(300'000 * (1 + static_cast<std::int64_t>(rng.below(3))));
    if (rng.below(6) == 0) want.disk.latency_us_max = Micros(200);
    job.spec.numa_binding_policy = static_cast<NumaPolicy>(rng.below(3));
    if (rng.below(6) == 0) job.spec.node.labels["zone"] = "a";
    if (rng.below(12) == 0) job.spec.node.exclusive = true;
    if (rng.below(3) == 0) job.spec.labels["app"] = rng.below(2) ? "web" : "db";
    if (rng.below(6) == 0) job.spec.anti_affinity.jobs.push_back({{{"app", rng.below(2) ? "web" : "db"}}});
    if (rng.below(4) == 0) job.spec.tolerations.push_back({"kind", rng.below(2) ? "" : "old"});
    if (rng.below(3) == 0) job.spec.duration = std::chrono::minutes(rng.below(100));
    if (rng.below(6) == 0) job.spec.time_limit = std::chrono::minutes(1 + rng.below(100));
    if (rng.below(4) == 0) {
        const char* ids[] = {"a", "b", "c"};
        job.spec.data_locality = static_cast<DataLocality>(rng.below(2));
        job.spec.datasets.emplace_back(ids[rng.below(3)]);
        if (rng.below(3) == 0) job.spec.models.emplace_back(ids[rng.below(3)]);
    }
    job.spec.type = rng.below(3) == 0 ? JobType::inference : JobType::training;
    const char* queues[] = {"training", "wide", "packed"};
    job.job.queue = queues[rng.below(3)];
    job.job.priority = 100 * static_cast<int>(rng.below(10));
    job.job.submitted = {noon.ms + static_cast<std::int64_t>(rng.below(1000))};
    return job;
}

// The second opinion lets everybody start who fits: forecast/backfill_test.cc is about who must not.
inline Settings without_places(Settings settings) {
    settings.backfill_depth = 0;
    return settings;
}

// One random life of a small cluster, the engine and its second opinion side by side.
struct Life {
    SeededRng rng;
    Engine engine;
    Naive naive;
    std::map<std::string, EngineJob> waiting, jobs;
    std::map<std::string, std::set<std::int64_t>> ended;  // tasks of jobs that go on
    std::vector<std::string> log;
    int next = 0;

    bool sampled = false;
    QueueSpec packed{.name = "packed", .policy = Policy::binpack, .priority = {500}};

    explicit Life(std::uint64_t seed, const Settings& settings = {}, std::optional<double> wide_ratio = {})
        : rng(seed), engine(without_places(settings)) {
        naive.now = noon;
        naive.ratio = settings.memory_overcommit_ratio;
        if (wide_ratio) naive.ratios["wide"] = *wide_ratio;
        QueueSpec wide{
            .name = "wide", .policy = Policy::spread, .priority = {500}, .overcommit_ratio = wide_ratio};
        engine.apply(QueueSet{wide});
        if (rng.below(2)) packed.weights.fit = 5;  // where it goes, not whether it fits
        engine.apply(QueueSet{packed});
        const auto nodes = 1 + rng.below(3);
        for (std::uint64_t i = 0; i < nodes; ++i) set_node("n" + std::to_string(i));
    }
    void set_node(const std::string& name) {
        naive.nodes[name] = random_node(rng, name);
        naive.real.erase(name);
        engine.apply(NodeSet{naive.nodes[name]});
    }
    void take(const Plan& plan) {
        for (const auto& placement : plan.placements) {
            for (const auto& [task, allocation] : engine.allocations(placement)) {
                naive.tasks.push_back({jobs.at(placement.job), task, allocation, noon});
                log.push_back(placement.job + "/" + std::to_string(task) + "@" + allocation.node + ":" +
                              std::to_string(allocation.gpus.empty() ? -1 : allocation.gpus[0].index));
            }
            waiting.erase(placement.job);
        }
    }
    void free_one() {
        if (naive.tasks.empty()) return;
        const auto at = naive.tasks.begin() + static_cast<std::ptrdiff_t>(rng.below(naive.tasks.size()));
        const auto job = at->job;
        const auto task = at->index;
        engine.apply(TaskFreed{job.id, task});
        const auto freed = at->held;
        naive.tasks.erase(at);
        naive.forget_use(freed);
        const bool others = std::any_of(naive.tasks.begin(), naive.tasks.end(),
                                        [&](const auto& t) { return t.job.id == job.id; });
        if (others) {
            ended[job.id].insert(task);
        } else if (rng.below(3) == 0) {
            engine.apply(JobRequeued{job.id, 0});
            waiting[job.id] = job;
            ended.erase(job.id);
        } else {
            engine.apply(JobRemoved{job.id});
            jobs.erase(job.id);
            ended.erase(job.id);
        }
    }
    void step() {
        switch (rng.below(sampled ? 13 : 11)) {
            case 0:
            case 1:
            case 2:
            case 3: {
                auto job = random_job(rng, "j" + std::to_string(next++));
                if (rng.below(5) == 0) {
                    auto spec = std::make_shared<JobSpec>(*job.spec);
                    spec->tasks = 2 + static_cast<std::int64_t>(rng.below(2));
                    spec->anti_affinity.spread_tasks = rng.below(3) == 0;
                    job.spec = spec;
                }
                engine.apply(JobAdded{job});
                waiting[job.id] = jobs[job.id] = job;
                break;
            }
            case 4:
            case 5: free_one(); break;
            case 6: {
                const auto name = "n" + std::to_string(rng.below(naive.nodes.size()));
                const bool close = rng.below(2) == 0;
                engine.apply(NodeFlags{name, close, false});
                if (close)
                    naive.closed.insert(name);
                else
                    naive.closed.erase(name);
                break;
            }
            case 8: {
                const auto name = "n" + std::to_string(rng.below(naive.nodes.size()));
                auto& taints = naive.taints[name];
                taints.clear();
                if (rng.below(2)) taints.push_back({"kind", rng.below(2) ? "old" : "new"});
                engine.apply(NodeTaints{name, taints});
                break;
            }
            case 9: {
                const auto name = "n" + std::to_string(rng.below(naive.nodes.size()));
                auto& windows = naive.windows[name];
                windows.clear();
                const Instant start =
                    noon + std::chrono::minutes(static_cast<std::int64_t>(rng.below(150)) - 50);
                if (rng.below(3)) windows.push_back({start, start + std::chrono::minutes(1 + rng.below(90))});
                engine.apply(NodeMaintenance{name, windows});
                break;
            }
            case 7: {  // comes back changed, when nothing runs there
                const auto name = "n" + std::to_string(rng.below(naive.nodes.size()));
                const bool empty = std::none_of(naive.tasks.begin(), naive.tasks.end(),
                                                [&](const auto& t) { return t.held.node == name; });
                if (empty) set_node(name);
                break;
            }
            case 10: {  // whatever runs there
                const auto name = "n" + std::to_string(rng.below(naive.nodes.size()));
                fill_cache(rng, naive.nodes[name].cache);
                engine.apply(NodeSet{naive.nodes[name]});
                break;
            }
            case 11:
            case 12: {
                const auto name = "n" + std::to_string(rng.below(naive.nodes.size()));
                NodeSample sample;
                sample.at = noon;
                naive.real[name].clear();
                for (const auto& gpu : naive.nodes.at(name).gpus) {
                    const Mebibytes used(gpu.memory.value * static_cast<std::int64_t>(rng.below(20)) / 19);
                    sample.gpus.push_back({.index = gpu.index, .memory_used = used});
                    naive.real[name][gpu.index] = used.value;
                }
                engine.apply(LoadSampled{name, sample});
                break;
            }
        }
        if (rng.below(2) == 0) take(engine.pass(noon));
    }
    std::vector<Event> facts() {
        std::vector<Event> out;
        for (const auto& [name, node] : naive.nodes) out.emplace_back(NodeSet{node});
        for (const auto& name : naive.closed) out.emplace_back(NodeFlags{name, true, false});
        for (const auto& [name, taints] : naive.taints) out.emplace_back(NodeTaints{name, taints});
        for (const auto& [name, windows] : naive.windows) out.emplace_back(NodeMaintenance{name, windows});
        for (const auto& [id, job] : jobs) out.emplace_back(JobAdded{job});
        for (const auto& task : naive.tasks)
            out.emplace_back(TaskPlaced{task.job.id, task.index, task.held, task.started});
        for (const auto& [id, tasks] : ended)
            for (const auto task : tasks) out.emplace_back(TaskFreed{id, task});
        return out;
    }
};

}  // namespace crater::engine::testing
