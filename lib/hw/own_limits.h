// What this process may use of the machine: an agent inside a container or under a service manager's limits
// must not promise more than it can give to its tasks.
#pragma once

#include <optional>
#include <vector>

#include "crater/base/quantity.h"
#include "mounts.h"
#include "tree.h"

namespace crater::hw {

struct Limits {
    std::vector<std::int64_t> cpus;  // logical CPUs allowed; empty = all
    std::vector<std::int64_t> numa;  // NUMA domains memory may come from; empty = all
    std::optional<MilliCpu> cpu;     // CPU time, from the cgroup's quota
    std::optional<Bytes> memory;     // from the cgroup
};

// The main thread's affinity and the cgroup (v1 or v2) with all its parents.
Limits read_limits(const Tree& tree, const std::vector<MountPoint>& mounts);

}  // namespace crater::hw
