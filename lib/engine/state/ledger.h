// Who uses how much of what: rows of integers over all nodes, cards, NUMA domains, cores and disks, those of
// one node side by side. All bookings are sums, so that undoing one is booking it with the other sign, and a
// use may exceed what a node has (after it came back smaller) without anything wrapping: free is then none.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "state/few.h"
#include "state/node.h"
#include "state/partitions.h"

namespace crater::engine {

// What one task holds on one node, as positions and integers.
struct CardSlice {
    std::int16_t card = 0;
    bool exclusive = false, capped = false;
    std::int16_t compute = 0;
    // Of a card that is cut into instances: its row, -1 when the card has no such instance any more, and its
    // first slot.
    std::int8_t partition = -1, start = -1;
    std::int64_t memory = 0;
};
struct Slices {
    int node = -1;
    int domain = -1;  // bound to; -1 = not
    int disk = -1;
    int crowd = -1;  // of its job
    bool cpu_only = false, node_exclusive = false;
    CoreSet cores;  // whole physical cores
    std::int64_t cpu = 0, memory = 0, bandwidth = 0;
    Few<CardSlice, 2> cards;
    std::int64_t disk_size = 0, disk_iops = 0, disk_bandwidth = 0;
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
    std::vector<CardUse> cards;                 // of a node from its cards_at on; likewise the others
    std::vector<Slots> slots;                   // beside the cards: of those that are cut into instances
    std::vector<DomainUse> domains;
    std::vector<DiskUse> disks;
    // those that a task has whole, as words of bits: of a node from its cores_at on
    std::vector<std::uint64_t> cores;
    // Cores that more tasks have than one, which bookings that are only tried may come to: how many more.
    // Mostly empty.
    std::map<std::size_t, int> shared_cores;  // by bit of `cores`

    void add_node() { nodes.emplace_back(), crowds.emplace_back(); }
    // Makes room for the parts of `node` that lack it; what is booked on it moves along.
    void place(Node& node);
    // As many entries as `other` has.
    void match(const Ledger& other);
    void book(const Node& node, const Slices& slices, int sign);

  private:
    void book_slots(const Node& node, const CardSlice& slice, int sign);
    void book_cores(const Node& node, const Slices& slices, int sign);
    void share_core(std::size_t bit, int sign);
};

}  // namespace crater::engine
