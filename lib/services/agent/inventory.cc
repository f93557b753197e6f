#include "inventory.h"

#include <algorithm>

#include "crater/base/log.h"

namespace crater::agent {
namespace {

// The disk whose mount holds the path: the longest that fits.
Disk* disk_below(NodeInventory& inventory, const std::string& path) {
    Disk* best = nullptr;
    for (Disk& disk : inventory.disks) {
        const std::string& mount = disk.mount;
        const bool holds = !mount.empty() && path.starts_with(mount) &&
                           (mount.back() == '/' || path.size() == mount.size() || path[mount.size()] == '/');
        if (holds && (!best || mount.size() > best->mount.size())) best = &disk;
    }
    return best;
}

// A pool of type gpu that lists devices keeps only those; a cpu or memory pool bounds what is offered.
void apply_pool(const ResourcePool& pool, NodeInventory& inventory) {
    inventory.pools.push_back(pool.name);
    if (pool.type == "gpu" && !pool.devices.empty()) {
        std::erase_if(inventory.gpus, [&](const Gpu& gpu) {
            return std::find(pool.devices.begin(), pool.devices.end(), gpu.index) == pool.devices.end();
        });
    } else if (pool.type == "cpu") {
        // The pool's cores include the reserved ones, which the source may have taken off already.
        MilliCpu all = inventory.cpu + inventory.cpu_reserved;
        if (pool.cores > 0) all = std::min(all, MilliCpu(pool.cores * 1000));
        inventory.cpu_reserved =
            std::min(std::max(inventory.cpu_reserved, MilliCpu(pool.reserved_cores * 1000)), all);
        inventory.cpu = all - inventory.cpu_reserved;
    } else if (pool.type == "memory" && pool.size) {
        inventory.memory = std::min(inventory.memory, pool.size);
    } else if (pool.type == "disk") {
        Disk* chosen = pool.path.empty() ? nullptr : disk_below(inventory, pool.path);
        if (!pool.path.empty() && !chosen)
            log::warning("no disk of this machine is at the path of a pool",
                         {{"pool", pool.name}, {"path", pool.path}});
        for (Disk& disk : inventory.disks)
            if (pool.size && (pool.path.empty() || &disk == chosen))
                disk.capacity = std::min(disk.capacity, pool.size);
    }
}

}  // namespace

Result<NodeInventory> configured_inventory(const Config& config, hw::Source& source,
                                           const run::Runtime& runtime) {
    CRATER_TRY(inventory, source.inventory());
    inventory.name = config.node_name;
    for (const auto& [key, value] : config.labels) inventory.labels[key] = value;
    for (const ResourcePool& pool : config.resource_pools) apply_pool(pool, inventory);
    inventory.allow_unenforced = config.allow_unenforced;
    if (!inventory.simulated) {
        inventory.enforcement = runtime.enforcement();
        inventory.checkpoint_path = config.data + "/checkpoints";
    }
    return inventory;
}

}  // namespace crater::agent
