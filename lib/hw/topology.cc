#include "topology.h"

#include <hwloc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>

namespace crater::hw {
namespace {

struct TopologyFree {
    void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using LoadedTopology = std::unique_ptr<hwloc_topology, TopologyFree>;

// hwloc takes another root from its environment only.
class HwlocRoot {
  public:
    explicit HwlocRoot(const Tree& tree) : set_(!tree.is_machine()) {
        if (set_) setenv("HWLOC_FSROOT", tree.root().c_str(), 1);
    }
    ~HwlocRoot() {
        if (set_) unsetenv("HWLOC_FSROOT");
    }
    HwlocRoot(const HwlocRoot&) = delete;
    HwlocRoot& operator=(const HwlocRoot&) = delete;

  private:
    bool set_;
};

LoadedTopology load_topology(const char* synthetic) {
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0) return nullptr;
    LoadedTopology topology(raw);
    if (synthetic && hwloc_topology_set_synthetic(raw, synthetic) != 0) return nullptr;
    // Linux says it all; the cpuid component would move this thread from CPU to CPU.
    hwloc_topology_set_components(raw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    if (hwloc_topology_load(raw) != 0) return nullptr;
    return topology;
}

bool allows(const std::vector<std::int64_t>& list, std::int64_t value) {
    return list.empty() || std::binary_search(list.begin(), list.end(), value);
}

NumaDomain numa_domain(hwloc_topology_t topology, hwloc_obj_t node, const Limits& limits) {
    NumaDomain domain;
    domain.id = node->os_index;
    domain.memory = Bytes(static_cast<std::int64_t>(node->attr->numanode.local_memory));
    for (int cpu = hwloc_bitmap_first(node->cpuset); cpu != -1; cpu = hwloc_bitmap_next(node->cpuset, cpu)) {
        if (!allows(limits.cpus, cpu)) continue;
        const auto pu = hwloc_get_pu_obj_by_os_index(topology, static_cast<unsigned>(cpu));
        const auto core = pu ? hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu) : nullptr;
        domain.cpus.push_back(cpu);
        domain.core_of.push_back(core ? static_cast<std::int64_t>(core->logical_index) : cpu);
    }
    return domain;
}

Topology gather(hwloc_topology_t topology, const Limits& limits) {
    Topology out;
    out.sockets = std::max(1, hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE));
    for (hwloc_obj_t node = nullptr;
         (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node));) {
        NumaDomain domain = numa_domain(topology, node, limits);
        if (hwloc_bitmap_iszero(node->cpuset) || !allows(limits.numa, domain.id))
            out.left_out += domain.memory;
        else
            out.numa.push_back(std::move(domain));
    }
    std::sort(out.numa.begin(), out.numa.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    return out;
}

// One domain with what the kernel allows us, should hwloc fail.
Topology flat_topology(const Tree& tree, const Limits& limits) {
    NumaDomain domain;
    domain.cpus = limits.cpus.empty() ? cpu_list(tree.line("/sys/devices/system/cpu/online")) : limits.cpus;
    domain.core_of = domain.cpus;
    return {.sockets = 1, .numa = {domain}};
}

}  // namespace

std::int64_t Topology::cores() const {
    std::set<std::int64_t> seen;
    for (const auto& domain : numa) seen.insert(domain.core_of.begin(), domain.core_of.end());
    return static_cast<std::int64_t>(seen.size());
}

Topology read_topology(const Tree& tree, const Limits& limits) {
    const HwlocRoot root(tree);
    const auto topology = load_topology(nullptr);
    return topology ? gather(topology.get(), limits) : flat_topology(tree, limits);
}

Topology synthetic_topology(const std::string& description, const Limits& limits) {
    const auto topology = load_topology(description.c_str());
    return topology ? gather(topology.get(), limits) : Topology{};
}

}  // namespace crater::hw
