// Sockets, NUMA domains, cores and their threads, through hwloc.
#pragma once

#include <string>
#include <vector>

#include "crater/model/node.h"
#include "own_limits.h"
#include "tree.h"

namespace crater::hw {

struct Topology {
    std::int64_t sockets = 1;
    // Domains that have CPUs, by id, holding only CPUs that we may use. Memory without CPUs of its own (a
    // GPU's or an expander's memory shown as a domain) is left out.
    std::vector<NumaDomain> numa;
    Bytes left_out;  // memory of the other domains

    std::int64_t cores() const;  // physical cores of which at least one thread is usable
};

Topology read_topology(const Tree& tree, const Limits& limits);
// From hwloc's synthetic notation, "numa:2 core:4 pu:2". For tests.
Topology synthetic_topology(const std::string& description, const Limits& limits);

}  // namespace crater::hw
