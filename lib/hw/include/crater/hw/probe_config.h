// probe-config.yaml: what the hardware is worth, by hand or measured. SPEC 2. All that stands at the top
// level was written by a person; `measured` belongs to `crater-probe calibrate`, which replaces that block
// and leaves every other line as it is. By hand wins over measured, measured over nominal.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "crater/base/describe.h"
#include "crater/base/error.h"
#include "crater/base/quantity.h"
#include "crater/model/node.h"

namespace crater::hw {

// Logical CPUs as "0-31,64-95", in documents also a list.
struct CpuSet {
    std::vector<std::int64_t> cpus;
};
Result<void> from_list(std::vector<std::string> words, CpuSet& out);
Result<void> from_text(std::string_view text, CpuSet& out);
std::vector<std::string> to_list(const CpuSet& set);

struct ProbeGpu {
    std::int64_t sm_count = 0;  // 0 = not given, here and below
    std::optional<bool> tensor_core_support;
    BytesPerSecond memory_bandwidth;
};
template <class V>
void describe(V& v, ProbeGpu& g) {
    v.field("sm_count", g.sm_count, "Streaming multiprocessors.", {.minimum = 0, .maximum = 4096});
    v.field("tensor_core_support", g.tensor_core_support, "false: no tensor precision is offered.");
    v.field("memory_bandwidth", g.memory_bandwidth, "Memory bandwidth of a card.");
}

struct ProbeNuma {
    std::int64_t id = 0;
    BytesPerSecond memory_bandwidth;
    CpuSet cores;
};
template <class V>
void describe(V& v, ProbeNuma& n) {
    v.field("id", n.id, "NUMA domain.", {.required = true, .minimum = 0, .maximum = 4096});
    v.field("memory_bandwidth", n.memory_bandwidth, "Memory bandwidth of the domain.");
    v.field("cores", n.cores, "Logical CPUs that tasks may use; all when absent.");
}

struct ProbeCpu {
    std::vector<ProbeNuma> numa_nodes;
};
template <class V>
void describe(V& v, ProbeCpu& c) {
    v.field("numa_nodes", c.numa_nodes, "NUMA domains.");
}

struct ProbeDisk {
    double latency_us = 0, latency_p99_us = 0;
    Iops iops;
    Iops write_iops;
    BytesPerSecond bandwidth, write_bandwidth;
    double iops_stability_ratio = 0;
    std::optional<bool> use_io_uring;
};
template <class V>
void describe(V& v, ProbeDisk& d) {
    v.field("latency_us", d.latency_us, "Mean random-read latency.", {.minimum = 0, .maximum = 1e9});
    v.field("latency_p99_us", d.latency_p99_us, "Random-read latency that 99 of 100 reads keep.",
            {.minimum = 0, .maximum = 1e9});
    v.field("iops", d.iops, "4 KiB random reads per second.");
    v.field("write_iops", d.write_iops, "4 KiB random writes per second.");
    v.field("bandwidth", d.bandwidth, "Sequential read bandwidth.");
    v.field("write_bandwidth", d.write_bandwidth, "Sequential write bandwidth.");
    v.field("iops_stability_ratio", d.iops_stability_ratio, "min/max IOPS over the run.",
            {.minimum = 0, .maximum = 1});
    v.field("use_io_uring", d.use_io_uring, "Whether the disk should be driven with io_uring.");
}

struct ProbeMeasured {
    Instant at;
    ProbeCpu cpu;
    std::map<std::string, ProbeDisk> ssd;
};
template <class V>
void describe(V& v, ProbeMeasured& m) {
    v.field("at", m.at, "When.");
    v.field("cpu", m.cpu, "Memory bandwidth by NUMA domain.");
    v.field("ssd", m.ssd, "Disks by device name.");
}

struct ProbeConfig {
    std::map<std::string, ProbeGpu> gpu;  // by model
    ProbeCpu cpu;
    std::map<std::string, ProbeDisk> ssd;  // by device name
    ProbeMeasured measured;
};
template <class V>
void describe(V& v, ProbeConfig& c) {
    v.field("gpu", c.gpu, "Cards by model.");
    v.field("cpu", c.cpu, "CPUs.");
    v.field("ssd", c.ssd, "Disks by device name; `use_io_uring` beside them is for all.", {.alias = "disk"});
    v.field("measured", c.measured, "Written by crater-probe calibrate.");
}

Result<ProbeConfig> parse_probe_config(std::string_view yaml);
// A file; or a folder with any of probe-config.yaml, gpu_topology.yaml and cpu_topology.yaml. What does not
// exist is an empty config.
Result<ProbeConfig> read_probe_config(const std::string& path);
// Puts the config's values over what `inventory` says.
void apply(const ProbeConfig& config, NodeInventory& inventory);
// `text` with its `measured` block replaced or added; all else stays as it was written.
std::string with_measured(std::string_view text, const ProbeMeasured& measured);

}  // namespace crater::hw
