// The agent's own books against the hardware it sees: no trust in the scheduler's arithmetic.
#include <fmt/format.h>

#include "crater/agent/agent.h"

namespace crater::agent {
namespace {

struct CardLoad {
    MilliGpu compute;
    Mebibytes memory;
    bool exclusive = false;
    int tasks = 0;
};
struct Load {
    std::map<std::int64_t, CardLoad> cards;
    MilliCpu cpu;
    Bytes memory;
    std::map<std::string, Iops> iops;
    std::map<std::string, Bytes> disk;
    std::map<std::int64_t, int> logical_cpus;

    void add(const Allocation& a) {
        for (const GpuSlice& slice : a.gpus) {
            CardLoad& card = cards[slice.index];
            card.compute += slice.compute;
            card.memory += slice.memory;
            card.exclusive |= slice.exclusive;
            card.tasks += 1;
        }
        cpu += a.cpu;
        memory += a.memory;
        if (!a.disk.empty()) {
            iops[a.disk] += a.disk_iops;
            disk[a.disk] += a.disk_size;
        }
        for (std::int64_t logical : a.cpu_set) logical_cpus[logical] += 1;
    }
};

Result<void> check_card(const NodeInventory& inventory, std::int64_t index, const CardLoad& load) {
    const Gpu* card = nullptr;
    for (const Gpu& gpu : inventory.gpus)
        if (gpu.index == index) card = &gpu;
    if (!card)
        return fail(Code::conflict, fmt::format("there is no card {} on {}", index, inventory.name), "gpus");
    if (load.exclusive && load.tasks > 1)
        return fail(Code::conflict, fmt::format("card {} is held whole and cannot be shared", index), "gpus");
    if (load.memory > card->memory)
        return fail(
            Code::conflict,
            fmt::format("card {} would hold {} MiB of {} MiB", index, load.memory.value, card->memory.value),
            "gpus");
    // Weights of memory slices are proportions rounded to thousandths: allow one thousandth a task.
    if (load.compute.value > 1000 + load.tasks)
        return fail(Code::conflict,
                    fmt::format("card {} would give {} of 1000 thousandths", index, load.compute.value),
                    "gpus");
    return {};
}

}  // namespace

Result<void> check_capacity(const NodeInventory& inventory, const std::map<run::TaskId, Held>& table,
                            const Allocation& extra) {
    Load load;
    for (const auto& [id, held] : table) load.add(held.allocation);
    load.add(extra);

    for (const auto& [index, card] : load.cards) CRATER_TRY_VOID(check_card(inventory, index, card));
    if (load.cpu > inventory.cpu)
        return fail(Code::conflict,
                    fmt::format("{} cores of {} would be given", format(load.cpu), format(inventory.cpu)),
                    "cpu");
    if (load.memory > inventory.memory)
        return fail(
            Code::conflict,
            fmt::format("{} of {} memory would be given", format(load.memory), format(inventory.memory)),
            "memory");
    for (const Disk& disk : inventory.disks) {
        if (auto used = load.iops.find(disk.name);
            used != load.iops.end() && disk.iops && used->second > disk.iops)
            return fail(Code::conflict,
                        fmt::format("disk {} would give {} IOPS of {}", disk.name, used->second.value,
                                    disk.iops.value),
                        "disk");
        if (auto used = load.disk.find(disk.name); used != load.disk.end() && used->second > disk.capacity)
            return fail(Code::conflict,
                        fmt::format("disk {} would give {} of {}", disk.name, format(used->second),
                                    format(disk.capacity)),
                        "disk");
    }
    for (const auto& [logical, tasks] : load.logical_cpus)
        if (tasks > 1)
            return fail(Code::conflict, fmt::format("logical CPU {} would be given twice", logical),
                        "cpu_set");
    return {};
}

}  // namespace crater::agent
