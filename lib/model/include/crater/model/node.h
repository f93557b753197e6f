// What a node offers (NodeInventory, reported by its agent) and how it stands (NodeStatus, kept by the
// scheduler). SPEC 2.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "crater/base/describe.h"
#include "crater/base/quantity.h"

namespace crater {

// A kind of instance that a card can be cut into (MIG profile, vNPU template). Its places are slots of the
// card's memory: an instance covers `size` slots from one of `starts` on, and no slot is covered twice.
struct GpuPartition {
    std::string name;  // "3g.20gb"
    MilliGpu compute;
    Mebibytes memory;
    std::int64_t size = 1;
    std::vector<std::int64_t> starts;
    bool operator==(const GpuPartition&) const = default;
};
template <class V>
void describe(V& v, GpuPartition& p) {
    v.field("name", p.name, "Profile.");
    v.field("compute", p.compute, "Part of the card's compute.");
    v.field("memory_mib", p.memory, "Memory in MiB.");
    v.field("size", p.size, "Memory slots it covers.");
    v.field("starts", p.starts, "Slots it may begin at.");
}

struct Gpu {
    std::int64_t index = 0;
    std::string model;  // normalised: "a100-pcie-40gb"
    std::string uuid, pci_address;
    std::int64_t numa_node = -1;
    Mebibytes memory;
    std::int64_t sm_count = 0;
    std::string compute_capability;       // "8.0"
    std::vector<std::string> precisions;  // tensor cores
    BytesPerSecond memory_bandwidth;
    std::vector<std::int64_t> nvlink_peers;  // indexes of cards with a direct NVLink
    bool healthy = true;
    std::string health_detail;
    bool mig_enabled = false;
    // that its agent makes for tasks; a card that has them is given out in no other way
    std::vector<GpuPartition> partitions;
};
template <class V>
void describe(V& v, Gpu& g) {
    v.field("index", g.index, "Index on the node.");
    v.field("model", g.model, "Model.");
    v.field("uuid", g.uuid, "UUID.");
    v.field("pci_address", g.pci_address, "PCIe address.");
    v.field("numa_node", g.numa_node, "NUMA domain; -1 when unknown.");
    v.field("memory_mib", g.memory, "Memory in MiB.");
    v.field("sm_count", g.sm_count, "Streaming multiprocessors.");
    v.field("compute_capability", g.compute_capability, "CUDA compute capability.");
    v.field("precisions", g.precisions, "Tensor core precisions.");
    v.field("memory_bandwidth_bytes", g.memory_bandwidth, "Memory bandwidth in bytes/s.");
    v.field("nvlink_peers", g.nvlink_peers, "Cards with a direct NVLink.");
    v.field("healthy", g.healthy, "Whether tasks may be placed on it.");
    v.field("health_detail", g.health_detail, "What is wrong with it.");
    v.field("mig_enabled", g.mig_enabled, "MIG mode.");
    v.field("partitions", g.partitions, "Instances it is cut into for tasks.");
}

struct NumaDomain {
    std::int64_t id = 0;
    std::vector<std::int64_t> cpus;  // logical CPUs
    // physical core of cpus[i]; the same number = threads of one core
    std::vector<std::int64_t> core_of;
    Bytes memory;
    BytesPerSecond memory_bandwidth;  // measured, by hand or nominal; 0 = unknown
};
template <class V>
void describe(V& v, NumaDomain& n) {
    v.field("id", n.id, "NUMA domain.");
    v.field("cpus", n.cpus, "Logical CPUs.");
    v.field("core_of", n.core_of, "Physical core of each logical CPU.");
    v.field("memory_bytes", n.memory, "Memory in bytes.");
    v.field("memory_bandwidth_bytes", n.memory_bandwidth, "Memory bandwidth in bytes/s; 0 when unknown.");
}

struct Disk {
    std::string name;   // nvme0n1
    std::string type;   // nvme, ssd, hdd, unknown
    std::string mount;  // where tasks' space comes from
    std::int64_t numa_node = -1;
    Bytes capacity, free;
    Iops iops;                 // measured, by hand or nominal; 0 = unknown
    Micros latency;            // mean random read; 0 = unknown
    BytesPerSecond bandwidth;  // sequential read
    double iops_stability_ratio = 0;
};
template <class V>
void describe(V& v, Disk& d) {
    v.field("name", d.name, "Device.");
    v.field("type", d.type, "nvme, ssd, hdd or unknown.");
    v.field("mount", d.mount, "Mount point.");
    v.field("numa_node", d.numa_node, "NUMA domain; -1 when unknown.");
    v.field("capacity_bytes", d.capacity, "Capacity in bytes.");
    v.field("free_bytes", d.free, "Free space in bytes.");
    v.field("iops", d.iops, "4 KiB random reads per second.");
    v.field("latency_us", d.latency, "Mean random-read latency.");
    v.field("bandwidth_bytes", d.bandwidth, "Sequential bandwidth in bytes/s.");
    v.field("iops_stability_ratio", d.iops_stability_ratio, "min/max IOPS over a calibration run.");
}

struct NetworkInterface {
    std::string name;
    std::int64_t speed_mbps = 0;
    std::string rdma_device;
    std::int64_t numa_node = -1;
};
template <class V>
void describe(V& v, NetworkInterface& n) {
    v.field("name", n.name, "Interface.");
    v.field("speed_mbps", n.speed_mbps, "Link speed in Mbit/s; 0 when unknown.");
    v.field("rdma_device", n.rdma_device, "RDMA device, when it has one.");
    v.field("numa_node", n.numa_node, "NUMA domain; -1 when unknown.");
}

// Which mechanism holds each limit on this node; "advisory" = none. SPEC 4.
struct Enforcement {
    // "cgroup v1", "cgroup v2", "simulated", "advisory"
    std::string cpu, memory, pids, disk_io, gpu_memory, gpu_compute;
};
template <class V>
void describe(V& v, Enforcement& e) {
    v.field("cpu", e.cpu, "CPU.");
    v.field("memory", e.memory, "Memory.");
    v.field("pids", e.pids, "Processes.");
    v.field("disk_io", e.disk_io, "Disk IO.");
    v.field("gpu_memory", e.gpu_memory, "GPU memory.");
    v.field("gpu_compute", e.gpu_compute, "GPU compute.");
}

// A dataset, or the weights of a model, that lie complete in the node's cache.
struct CachedItem {
    std::string id;
    Bytes size;  // 0: not counted
    bool operator==(const CachedItem&) const = default;
};
template <class V>
void describe(V& v, CachedItem& c) {
    v.field("id", c.id, "Id that jobs name it by.");
    v.field("size_bytes", c.size, "Size in bytes; 0 when it was not counted.");
}
struct NodeCache {
    std::vector<CachedItem> datasets, models;  // by id
    bool operator==(const NodeCache&) const = default;
};
template <class V>
void describe(V& v, NodeCache& c) {
    v.field("datasets", c.datasets, "Datasets.");
    v.field("models", c.models, "Models of which the weights are there.");
}

struct NodeInventory {
    std::string name;
    std::map<std::string, std::string> labels;
    std::vector<std::string> pools;  // named pools it belongs to
    bool simulated = false;
    std::vector<std::string> runtimes;  // process, docker, none
    std::string agent_version, os, cpu_model;
    std::int64_t sockets = 1;
    std::vector<std::string> cpu_features;  // avx2, avx512f, ...
    MilliCpu cpu;                           // schedulable cores, after reserved_cores
    MilliCpu cpu_reserved;                  // kept for the system
    Bytes memory;                           // schedulable
    std::vector<NumaDomain> numa;
    std::vector<Gpu> gpus;
    std::vector<Disk> disks;
    std::vector<NetworkInterface> networks;
    Enforcement enforcement;
    bool allow_unenforced = false;
    std::string checkpoint_path;  // folder of the tasks' checkpoints, one folder a job below it
    NodeCache cache;
};
template <class V>
void describe(V& v, NodeInventory& n) {
    v.field("name", n.name, "Node name.");
    v.field("labels", n.labels, "Labels.");
    v.field("pools", n.pools, "Named pools it belongs to.");
    v.field("simulated", n.simulated, "Its hardware is simulated.");
    v.field("runtimes", n.runtimes, "How it can start tasks.");
    v.field("agent_version", n.agent_version, "Version of its agent.");
    v.field("os", n.os, "Operating system.");
    v.field("cpu_model", n.cpu_model, "CPU model.");
    v.field("sockets", n.sockets, "CPU sockets.");
    v.field("cpu_features", n.cpu_features, "Instruction sets.");
    v.field("cpu", n.cpu, "Schedulable cores.");
    v.field("cpu_reserved", n.cpu_reserved, "Cores kept for the system.");
    v.field("memory_bytes", n.memory, "Schedulable memory in bytes.");
    v.field("numa", n.numa, "NUMA domains.");
    v.field("gpus", n.gpus, "Cards.");
    v.field("disks", n.disks, "Disks.");
    v.field("networks", n.networks, "Network interfaces.");
    v.field("enforcement", n.enforcement, "Which mechanism holds each limit.");
    v.field("allow_unenforced", n.allow_unenforced,
            "Tasks run even where a limit cannot be held; shown as advisory.");
    v.field("checkpoint_path", n.checkpoint_path,
            "Folder of the tasks' checkpoints, one folder a job below it.");
    v.field("cache", n.cache, "Data that lie complete in its cache.");
}

// What keeps jobs away from a node that do not tolerate it. Set by operators, kept by the scheduler.
enum class TaintEffect { no_schedule };
inline std::span<const EnumName<TaintEffect>> enum_names(TaintEffect) {
    static constexpr EnumName<TaintEffect> names[] = {{TaintEffect::no_schedule, "no_schedule"}};
    return names;
}
struct Taint {
    std::string key, value;
    TaintEffect effect = TaintEffect::no_schedule;
    bool operator==(const Taint&) const = default;
};
template <class V>
void describe(V& v, Taint& t) {
    v.field("key", t.key, "Key.", {.required = true});
    v.field("value", t.value, "Value; may be empty.");
    v.field("effect", t.effect, "What it does to jobs that do not tolerate it.");
}
struct Toleration {
    std::string key, value;  // no value: any
    TaintEffect effect = TaintEffect::no_schedule;
    bool tolerates(const Taint& taint) const {
        return key == taint.key && (value.empty() || value == taint.value) && effect == taint.effect;
    }
};
template <class V>
void describe(V& v, Toleration& t) {
    v.field("key", t.key, "Key of the taint.", {.required = true});
    v.field("value", t.value, "Value of the taint; any when absent.");
    v.field("effect", t.effect, "Effect of the taint.");
}

// A span of time in which the node takes no work, known before.
struct Maintenance {
    Instant start, end;
    bool operator==(const Maintenance&) const = default;
};
template <class V>
void describe(V& v, Maintenance& m) {
    v.field("start", m.start, "From when on it takes no work.", {.required = true});
    v.field("end", m.end, "When it takes work again.", {.required = true});
}

enum class NodeState { up, draining, lost };
inline std::span<const EnumName<NodeState>> enum_names(NodeState) {
    static constexpr EnumName<NodeState> names[] = {
        {NodeState::up, "up"}, {NodeState::draining, "draining"}, {NodeState::lost, "lost"}};
    return names;
}

struct NodeStatus {
    NodeInventory inventory;
    bool draining = false;
    bool lost = false;
    std::string detail;  // why
    Instant since, last_heartbeat;
    NodeState state() const {
        return lost ? NodeState::lost : draining ? NodeState::draining : NodeState::up;
    }
};
template <class V>
void describe(V& v, NodeStatus& n) {
    v.field("inventory", n.inventory, "What it offers.");
    v.field("draining", n.draining, "Takes no new work.");
    v.field("lost", n.lost, "Its agent is not heard.");
    v.field("detail", n.detail, "Why.");
    v.field("since", n.since, "When it entered this state.");
    v.field("last_heartbeat", n.last_heartbeat, "When its agent was last heard.");
}

// What is really used, sampled by the agent every few seconds. Never durable, never part of the engine's
// hash.
struct GpuSample {
    std::int64_t index = 0;
    double utilization_percent = 0, temperature_celsius = 0, power_watts = 0;
    Mebibytes memory_used;
};
template <class V>
void describe(V& v, GpuSample& g) {
    v.field("index", g.index, "Card.");
    v.field("utilization_percent", g.utilization_percent, "Compute use.");
    v.field("temperature_celsius", g.temperature_celsius, "Temperature.");
    v.field("power_watts", g.power_watts, "Power.");
    v.field("memory_used_mib", g.memory_used, "Memory used in MiB.");
}
struct NodeSample {
    Instant at;
    double cpu_percent = 0, load1 = 0;
    Bytes memory_used, memory_total, swap_used;
    double disk_busy_percent = 0, disk_read_iops = 0, disk_write_iops = 0;
    BytesPerSecond disk_read, disk_write, network_receive, network_transmit;
    Bytes disk_free;
    std::vector<GpuSample> gpus;
};
template <class V>
void describe(V& v, NodeSample& s) {
    v.field("at", s.at, "When.");
    v.field("cpu_percent", s.cpu_percent, "CPU use.");
    v.field("load1", s.load1, "Load average of one minute.");
    v.field("memory_used_bytes", s.memory_used, "Memory used in bytes.");
    v.field("memory_total_bytes", s.memory_total, "Memory in bytes.");
    v.field("swap_used_bytes", s.swap_used, "Swap used in bytes.");
    v.field("disk_busy_percent", s.disk_busy_percent, "Busiest disk.");
    v.field("disk_read_iops", s.disk_read_iops, "Reads per second.");
    v.field("disk_write_iops", s.disk_write_iops, "Writes per second.");
    v.field("disk_read_bytes", s.disk_read, "Read bytes/s.");
    v.field("disk_write_bytes", s.disk_write, "Written bytes/s.");
    v.field("network_receive_bytes", s.network_receive, "Received bytes/s.");
    v.field("network_transmit_bytes", s.network_transmit, "Sent bytes/s.");
    v.field("disk_free_bytes", s.disk_free, "Free disk space in bytes.");
    v.field("gpus", s.gpus, "Per card.");
}

}  // namespace crater
