// The exact slices of devices that one task holds on one node. Always persisted; what is here is charged,
// shown and enforced.
#pragma once

#include <string>
#include <vector>

#include "crater/base/describe.h"
#include "crater/base/quantity.h"

namespace crater {

struct GpuSlice {
    std::int64_t index = 0;  // the card on its node
    std::string uuid;
    MilliGpu compute;         // 1000 = the whole card; for a memory slice its weight
    Mebibytes memory;         // after rounding to the granularity
    bool exclusive = false;   // whole card
    bool capped = false;      // compute is a hard cap, not a weight
    std::string partition;    // of a card that is cut into instances: which
    std::int64_t start = -1;  // and its first memory slot
};
template <class V>
void describe(V& v, GpuSlice& s) {
    v.field("index", s.index, "Card on its node.");
    v.field("uuid", s.uuid, "The card's UUID.");
    v.field("compute", s.compute, "Part of the card's compute.");
    v.field("memory_mib", s.memory, "GPU memory in MiB.");
    v.field("exclusive", s.exclusive, "The whole card, shared with nobody.");
    v.field("capped", s.capped, "Compute is a hard cap, not a weight.");
    v.field("partition", s.partition, "Instance of a card that is cut into instances, such as 3g.20gb.");
    v.field("start", s.start, "Its first memory slot; -1 when the card is whole.");
}

struct Allocation {
    std::string node;
    std::vector<GpuSlice> gpus;
    MilliCpu cpu;
    std::vector<std::int64_t> cpu_set;  // logical CPUs reserved; empty = a share of the node's shared CPUs
    std::int64_t numa_node = -1;        // -1 = not bound
    Bytes memory;
    BytesPerSecond memory_bandwidth;
    std::string disk;  // device on the node; empty = none reserved
    Bytes disk_size;
    Iops disk_iops;
    BytesPerSecond disk_bandwidth;
    bool node_exclusive = false;
};
template <class V>
void describe(V& v, Allocation& a) {
    v.field("node", a.node, "Node.");
    v.field("gpus", a.gpus, "GPU slices.");
    v.field("cpu", a.cpu, "Cores.");
    v.field("cpu_set", a.cpu_set, "Logical CPUs reserved.");
    v.field("numa_node", a.numa_node, "NUMA domain bound to; -1 when not bound.");
    v.field("memory_bytes", a.memory, "Memory in bytes.");
    v.field("memory_bandwidth_bytes", a.memory_bandwidth, "Memory bandwidth in bytes/s.");
    v.field("disk", a.disk, "Disk device.");
    v.field("disk_bytes", a.disk_size, "Disk space in bytes.");
    v.field("disk_iops", a.disk_iops, "Disk operations per second reserved.");
    v.field("disk_bandwidth_bytes", a.disk_bandwidth, "Disk bandwidth in bytes/s reserved.");
    v.field("node_exclusive", a.node_exclusive, "Nobody else on the node.");
}

}  // namespace crater
