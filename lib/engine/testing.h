// Small words for tests: nodes, jobs and engines in one line each.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "crater/engine/engine.h"

namespace crater::engine::testing {

inline constexpr std::int64_t gib = 1LL << 30;
inline constexpr Instant noon{1'700'000'000'000};

// Of no term of a policy that adds terms up: a test sets those it is about.
inline PlacementWeights no_weights() {
    return {.capacity = 0,
            .dataset_locality = 0,
            .disk = 0,
            .fit = 0,
            .fragmentation = 0,
            .gpu_thrift = 0,
            .health = 0,
            .interconnect = 0,
            .load = 0,
            .low_utilization = 0,
            .model_cache = 0,
            .numa = 0};
}

// `cards` equal cards over `domains` NUMA domains, two threads a core, 8 cores and 64 GiB a card (or in all,
// without cards).
inline NodeInventory make_node(const std::string& name, int cards = 8, int domains = 2,
                               std::int64_t card_mib = 40960, const std::string& model = "a100-pcie-40gb") {
    NodeInventory node;
    node.name = name;
    node.runtimes = {"process", "docker"};
    node.cpu_features = {"avx2", "avx512f"};
    const int cores = 8 * std::max(1, cards);
    node.cpu = MilliCpu(cores * 1000);
    node.memory = Bytes(64 * gib * std::max(1, cards));
    for (int d = 0; d < domains; ++d) {
        NumaDomain domain;
        domain.id = d;
        for (int c = d * cores / domains; c < (d + 1) * cores / domains; ++c) {
            domain.cpus.push_back(c);
            domain.core_of.push_back(c / 2);
        }
        domain.memory = Bytes(node.memory.value / domains);
        domain.memory_bandwidth = BytesPerSecond(140'000'000'000);
        node.numa.push_back(std::move(domain));
    }
    for (int g = 0; g < cards; ++g) {
        Gpu gpu;
        gpu.index = g;
        gpu.model = model;
        gpu.uuid = "GPU-" + name + "-" + std::to_string(g);
        gpu.numa_node = g * domains / cards;
        gpu.memory = Mebibytes(card_mib);
        gpu.compute_capability = "8.0";
        gpu.precisions = {"fp16", "bf16", "int8"};
        node.gpus.push_back(std::move(gpu));
    }
    Disk disk;
    disk.name = "nvme0n1";
    disk.type = "nvme";
    disk.capacity = disk.free = Bytes(4096 * gib);
    disk.iops = Iops(1'000'000);
    disk.latency = Micros(90);
    disk.bandwidth = BytesPerSecond(6'000'000'000);
    disk.iops_stability_ratio = 0.9;
    node.disks.push_back(std::move(disk));
    return node;
}

struct JobMaker {
    JobSpec spec;
    EngineJob job;

    explicit JobMaker(std::string id) {
        job.id = std::move(id);
        job.queue = "training";
        job.tenant = "team";
        job.submitted = noon;
        spec.type = JobType::training;
        spec.resources.cpu.cores = MilliCpu(1000);
        spec.resources.memory.size = Bytes(gib);
    }
    JobMaker& gpus(std::int64_t milli) { return spec.resources.gpu.count = MilliGpu(milli), *this; }
    JobMaker& gpu_memory(std::int64_t mib) { return spec.resources.gpu.memory = Mebibytes(mib), *this; }
    JobMaker& cpu(std::int64_t milli) { return spec.resources.cpu.cores = MilliCpu(milli), *this; }
    JobMaker& memory(std::int64_t bytes) { return spec.resources.memory.size = Bytes(bytes), *this; }
    JobMaker& tasks(std::int64_t n) { return spec.tasks = n, *this; }
    JobMaker& type(JobType t) { return spec.type = t, *this; }
    JobMaker& priority(int p) { return job.priority = p, *this; }
    JobMaker& preemptible() { return job.preemptible = true, *this; }
    JobMaker& at(std::int64_t second) { return job.submitted = {noon.ms + second * 1000}, *this; }
    JobMaker& queue(const std::string& q) { return job.queue = q, *this; }
    JobMaker& tenant(const std::string& t) { return job.tenant = t, *this; }
    operator EngineJob() const {
        EngineJob out = job;
        out.spec = std::make_shared<JobSpec>(spec);
        return out;
    }
};
inline JobMaker a_job(std::string id) { return JobMaker(std::move(id)); }

inline void add_queue(Engine& engine, const std::string& name, Policy policy, int priority = 500) {
    QueueSpec queue;
    queue.name = name;
    queue.policy = policy;
    queue.priority.value = priority;
    engine.apply(QueueSet{queue});
}

// What a task of a placed job got, null when it did not start; and its node, "" then.
inline std::unique_ptr<Allocation> allocation_of(const Engine& engine, const Plan& plan,
                                                 const std::string& job, std::size_t task = 0) {
    for (const auto& placement : plan.placements)
        if (placement.job == job)
            return std::make_unique<Allocation>(engine.allocations(placement).at(task).second);
    return nullptr;
}
inline std::string node_of(const Engine& engine, const Plan& plan, const std::string& job) {
    const auto allocation = allocation_of(engine, plan, job);
    return allocation ? allocation->node : "";
}

// As an A100 in MIG mode is.
inline void cut_into_instances(Gpu& gpu) {
    gpu.mig_enabled = true;
    gpu.partitions = {{"1g.5gb", MilliGpu(142), Mebibytes(4864), 1, {0, 1, 2, 3, 4, 5, 6}},
                      {"2g.10gb", MilliGpu(285), Mebibytes(9856), 2, {0, 2, 4}},
                      {"3g.20gb", MilliGpu(428), Mebibytes(19968), 4, {0, 4}},
                      {"4g.20gb", MilliGpu(571), Mebibytes(19968), 4, {0}},
                      {"7g.40gb", MilliGpu(1000), Mebibytes(40192), 8, {0}}};
}

}  // namespace crater::engine::testing
