#include "inventory.h"

#include <algorithm>

namespace crater::agent {
namespace {

// A pool of type gpu that lists devices keeps only those; a cpu or memory pool bounds what is offered.
void apply_pool(const ResourcePool& pool, NodeInventory& inventory) {
    inventory.pools.push_back(pool.name);
    if (pool.type == "gpu" && !pool.devices.empty()) {
        std::erase_if(inventory.gpus, [&](const Gpu& gpu) {
            return std::find(pool.devices.begin(), pool.devices.end(), gpu.index) == pool.devices.end();
        });
    } else if (pool.type == "cpu") {
        if (pool.cores > 0) inventory.cpu = std::min(inventory.cpu, MilliCpu(pool.cores * 1000));
        inventory.cpu_reserved = std::min(MilliCpu(pool.reserved_cores * 1000), inventory.cpu);
        inventory.cpu -= inventory.cpu_reserved;
    } else if (pool.type == "memory" && pool.size) {
        inventory.memory = std::min(inventory.memory, pool.size);
    } else if (pool.type == "disk" && pool.size) {
        for (Disk& disk : inventory.disks) disk.capacity = std::min(disk.capacity, pool.size);
    }
}

}  // namespace

Result<NodeInventory> configured_inventory(const Config& config, hw::Source& source, const run::Runtime& runtime) {
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
