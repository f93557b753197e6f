// Who uses how much of what: rows of integers over all nodes, cards, NUMA domains, cores and disks, those of
// one node side by side. All bookings are sums, so that undoing one is booking it with the other sign, and a use
// may exceed what a node has (after it came back smaller) without anything wrapping: free is then none.
#pragma once

#include <cstdint>
#include <vector>

#include "state/node.h"

namespace crater::engine {

// What one task holds on one node, as positions and integers.
struct CardSlice {
    int card = 0;
    bool exclusive = false, capped = false;
    std::int64_t compute = 0, memory = 0;
};
struct Slices {
    int node = -1;
    std::vector<CardSlice> cards;
    std::int64_t cpu = 0;
    bool cpu_only = false;
    std::vector<int> cores;  // whole physical cores, positions
    int domain = -1;         // bound to; -1 = not
    std::int64_t memory = 0, bandwidth = 0;
    int disk = -1;
    std::int64_t disk_size = 0, disk_iops = 0, disk_bandwidth = 0;
    bool node_exclusive = false;
    int crowd = -1;  // of its job
};

struct NodeUse {
    std::int64_t cpu = 0, cpu_only = 0, memory = 0;
    std::int32_t tasks = 0, exclusive = 0;
};
struct CardUse {
    std::int64_t memory = 0;  // MiB
    std::int32_t compute = 0;
    std::int16_t tasks = 0, exclusive = 0;
};
struct DomainUse {
    std::int64_t cpu = 0, memory = 0, bandwidth = 0;
};
struct DiskUse {
    std::int64_t size = 0, iops = 0, bandwidth = 0;
};

struct CrowdUse {
    int crowd = -1;
    std::int32_t tasks = 0;
};

struct Ledger {
    std::vector<NodeUse> nodes;
    std::vector<std::vector<CrowdUse>> crowds;  // by node, unordered; tasks of no crowd are not in it
    std::vector<CardUse> cards;      // of a node from its cards_at on; likewise the others
    std::vector<DomainUse> domains;
    std::vector<DiskUse> disks;
    std::vector<std::int16_t> cores;  // tasks that have the whole core

    void add_node() { nodes.emplace_back(), crowds.emplace_back(); }
    // Makes room for the parts of `node` that lack it; what is booked on it moves along.
    void place(Node& node);
    // As many entries as `other` has.
    void match(const Ledger& other);
    void book(const Node& node, const Slices& slices, int sign);
};

}  // namespace crater::engine
