// Who uses how much of what: one column of integers per kind of amount, over all nodes, cards, NUMA domains,
// cores and disks. All bookings are sums, so that undoing one is booking it with the other sign, and a use
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
};

struct Ledger {
    using Column = std::vector<std::int64_t>;
    // per node
    Column cpu, cpu_only, memory, tasks, exclusive;
    // per card
    Column card_memory, card_compute, card_tasks, card_exclusive;
    // per NUMA domain
    Column domain_cpu, domain_memory, domain_bandwidth, domain_cores;
    // per physical core, per disk
    Column core, disk_size, disk_iops, disk_bandwidth;

    void add_node() {
        for (Column* c : {&cpu, &cpu_only, &memory, &tasks, &exclusive}) c->push_back(0);
    }
    // Makes room in the columns for the parts of `node` that lack it; what is booked on it moves along.
    void place(Node& node);
    // As many entries as `other` has.
    void match(const Ledger& other);
    void book(const Node& node, const Slices& slices, int sign);
};

}  // namespace crater::engine
