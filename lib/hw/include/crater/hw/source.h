// Where knowledge of a node's hardware comes from. A source is asked for the inventory once in a while and
// for live samples every few seconds. The machine's own source composes the parts (topology, cpu, memory,
// disk, network, accelerators); a simulated one is made from a `simulated_nodes` document and says
// `simulated` in all it gives. Used from one thread.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "crater/base/clock.h"
#include "crater/base/error.h"
#include "crater/model/node.h"

namespace crater::hw {

class Source {
  public:
    virtual ~Source() = default;
    // name, labels and pools are the agent's business and are left empty.
    virtual Result<NodeInventory> inventory() = 0;
    // Rates are over the time since the last call. What cannot be read is 0.
    virtual NodeSample sample(Instant now) = 0;
    // Something that changes the inventory happened since it was last read (a card lost or back, other data
    // in the cache).
    virtual bool changed() = 0;
};

struct MachineOptions {
    std::string root = "/";       // prefix of /proc and /sys: tests give recorded trees
    std::string data_path = "/";  // the folder whose disk serves tasks
    std::int64_t reserved_cores = 0;
    std::string nvml_library = "libnvidia-ml.so.1";
    std::string cache;  // root of the cache of datasets and models; empty = none
    // probe-config.yaml (SPEC 2): values by hand win over measured over nominal; empty = none
    std::string probe_config;
};
// This machine. Absent parts (no NVML, no NUMA) are simply absent, never an error.
std::unique_ptr<Source> machine_source(MachineOptions options, const Clock& clock);

// ---- simulated nodes: the document of `crater up --nodes FILE` --------------------------------------------
struct SimulatedGpus {
    std::string model = "a100-pcie-40gb";
    std::int64_t count = 0;
    std::string nvlink = "none";  // none, pairs, all
    Mebibytes memory;             // 0 = the model's
    bool mig = false;             // in MIG mode: given out as instances
};
template <class V>
void describe(V& v, SimulatedGpus& g) {
    v.field("model", g.model, "Model from the table of known GPUs.");
    v.field("count", g.count, "Cards.", {.minimum = 0, .maximum = 64});
    v.field("nvlink", g.nvlink, "none, pairs or all.");
    v.field("memory", g.memory, "Memory per card; the model's when absent.");
    v.field("mig", g.mig, "In MIG mode: given out as instances, for models that have them.");
}
struct SimulatedCpu {
    std::int64_t sockets = 1, cores = 8;  // cores of the node, each with two threads
    std::vector<std::string> features;
    BytesPerSecond memory_bandwidth;  // per NUMA domain
};
template <class V>
void describe(V& v, SimulatedCpu& c) {
    v.field("sockets", c.sockets, "Sockets, one NUMA domain each.", {.minimum = 1, .maximum = 16});
    v.field("cores", c.cores, "Physical cores of the node.", {.minimum = 1, .maximum = 4096});
    v.field("features", c.features, "Instruction sets.");
    v.field("memory_bandwidth", c.memory_bandwidth, "Per NUMA domain.");
}
struct SimulatedDisk {
    Bytes size{1'000'000'000'000};
    Iops iops{500'000};
    Micros latency_us{100};
    BytesPerSecond bandwidth{3'000'000'000};
    double iops_stability_ratio = 0.9;
};
template <class V>
void describe(V& v, SimulatedDisk& d) {
    v.field("size", d.size, "Capacity.");
    v.field("iops", d.iops, "Random reads per second.");
    v.field("latency_us", d.latency_us, "Mean random-read latency.");
    v.field("bandwidth", d.bandwidth, "Sequential bandwidth.");
    v.field("iops_stability_ratio", d.iops_stability_ratio, "min/max IOPS.", {.minimum = 0, .maximum = 1});
}
struct SimulatedCache {
    std::vector<std::string> datasets, models;
};
template <class V>
void describe(V& v, SimulatedCache& c) {
    v.field("datasets", c.datasets, "Ids of datasets that lie in its cache.");
    v.field("models", c.models, "Ids of models whose weights do.");
}
enum class SimulatedRuntime { none, process };
inline std::span<const EnumName<SimulatedRuntime>> enum_names(SimulatedRuntime) {
    static constexpr EnumName<SimulatedRuntime> names[] = {{SimulatedRuntime::none, "none"},
                                                           {SimulatedRuntime::process, "process"}};
    return names;
}
struct SimulatedNode {
    std::string name;  // "gpu-node-{01..04}" stands for four nodes
    std::map<std::string, std::string> labels;
    std::vector<std::string> pools;
    SimulatedGpus gpus;
    SimulatedCpu cpu;
    Bytes memory{64'000'000'000};
    std::map<std::string, SimulatedDisk> disks;
    SimulatedCache cache;
    SimulatedRuntime runtime = SimulatedRuntime::none;
};
template <class V>
void describe(V& v, SimulatedNode& n) {
    v.field("name", n.name, "Node name; {01..04} makes several.", {.required = true});
    v.field("labels", n.labels, "Labels.");
    v.field("pools", n.pools, "Named pools.");
    v.field("gpus", n.gpus, "Cards.");
    v.field("cpu", n.cpu, "CPU.");
    v.field("memory", n.memory, "Memory.");
    v.field("disks", n.disks, "Disks by device name.");
    v.field("cache", n.cache, "What its cache holds.");
    v.field("runtime", n.runtime,
            "none: a task occupies its slices for its duration; process: its command runs on this machine.");
}
struct SimulatedNodes {
    std::vector<SimulatedNode> simulated_nodes;
};
template <class V>
void describe(V& v, SimulatedNodes& n) {
    v.field("simulated_nodes", n.simulated_nodes, "Nodes.", {.required = true});
}

// Ranges expanded; duplicate names, unknown GPU models (with the nearest) are errors. At most 100,000 nodes.
Result<std::vector<SimulatedNode>> read_simulated_nodes(std::string_view yaml);
Result<NodeInventory> simulated_inventory(const SimulatedNode& node);
std::unique_ptr<Source> simulated_source(SimulatedNode node);

// ---- known GPU models -------------------------------------------------------------------------------------
struct GpuModel {
    std::string_view name;          // "a100-pcie-40gb"
    std::string_view driver_names;  // as NVML says it, separated by '|': "NVIDIA A100-PCIE-40GB"
    std::int64_t memory_mib, sm_count;
    double memory_bandwidth_gbps;
    std::string_view compute_capability;
    std::string_view precisions;  // separated by spaces
    // "1g.5gb:7:4864 ...": name, most of them on a card, MiB where a listing was seen
    std::string_view mig_profiles;
    std::string_view source;  // where the figures come from
};
std::span<const GpuModel> known_gpus();
const GpuModel* find_gpu(std::string_view name);  // by `name`
// What a card of the model is cut into in MIG mode; empty when it has none. Memory that no listing gives is
// the slots' part of the card.
std::vector<GpuPartition> mig_partitions(const GpuModel& model);
// "NVIDIA A100-PCIE-40GB" -> "a100-pcie-40gb", also for unknown ones
std::string normalised_gpu(std::string_view driver_name);

}  // namespace crater::hw
