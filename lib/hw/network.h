// Network interfaces that carry a node's traffic, their RDMA devices, and counters.
#pragma once

#include <string>
#include <vector>

#include "crater/model/node.h"
#include "tree.h"

namespace crater::hw {

// Hardware interfaces and bonds; where there is none (a container), what is neither loopback nor a bridge's
// inside.
std::vector<NetworkInterface> read_networks(const Tree& tree);

struct NetworkCounters {
    std::int64_t bytes_received = 0, bytes_sent = 0;
};
// Summed over `networks`.
NetworkCounters read_network_counters(const Tree& tree, const std::vector<NetworkInterface>& networks);

}  // namespace crater::hw
