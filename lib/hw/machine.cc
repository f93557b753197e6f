// The machine's own source: the parts put together.
#include <algorithm>
#include <set>

#include "accelerators/accelerators.h"
#include "cache_folder.h"
#include "cpu.h"
#include "crater/hw/probe_config.h"
#include "crater/hw/source.h"
#include "disk.h"
#include "meminfo.h"
#include "network.h"
#include "own_limits.h"
#include "sampler.h"
#include "topology.h"

namespace crater::hw {
namespace {

std::vector<std::int64_t> all_cpus(const std::vector<NumaDomain>& numa) {
    std::set<std::int64_t> cpus;
    for (const auto& domain : numa) cpus.insert(domain.cpus.begin(), domain.cpus.end());
    return {cpus.begin(), cpus.end()};
}

// What can be given to tasks: not the memory of domains that we leave out, and no more than our own group may
// use. The kernel's total is trusted before the domains' own figures, which do not follow memory plugged into
// a virtual machine.
Bytes usable_memory(const Tree& tree, const Topology& topology, const Limits& limits) {
    Bytes memory = read_memory(tree).total;
    if (topology.left_out < memory) memory -= topology.left_out;
    if (limits.memory) memory = std::min(memory, *limits.memory);
    return memory;
}

class Machine final : public Source {
  public:
    Machine(MachineOptions options, const Clock& clock)
        : options_(std::move(options)),
          tree_(options_.root),
          sampler_(tree_, clock),
          cache_(options_.cache, clock),
          cards_(nvidia_accelerators(options_.nvml_library, tree_)) {}

    Result<NodeInventory> inventory() override {
        CRATER_TRY(config, read_probe_config(options_.probe_config));
        const auto mounts = read_mounts(tree_);
        const Limits limits = read_limits(tree_, mounts);
        Topology topology = read_topology(tree_, limits);
        if (topology.numa.size() == 1) topology.numa[0].memory = read_memory(tree_).total - topology.left_out;

        NodeInventory out;
        out.os = read_os(tree_);
        out.memory = usable_memory(tree_, topology, limits);
        out.sockets = topology.sockets;
        out.numa = topology.numa;
        out.disks = {read_disk(tree_, mounts, options_.data_path)};
        out.networks = read_networks(tree_);
        out.gpus = cards_->cards();
        out.simulated = cards_->simulated();
        out.cache = cache_.read();
        apply(config, out);

        topology.numa = out.numa;
        const auto cpus = all_cpus(out.numa);
        const CpuFacts cpu = read_cpu(tree_, cpus);
        out.cpu_model = cpu.model;
        out.cpu_features = cpu.features;
        MilliCpu cores(topology.cores() * 1000);
        if (limits.cpu) cores = std::min(cores, *limits.cpu);
        out.cpu_reserved =
            std::min(cores, MilliCpu(std::max<std::int64_t>(0, options_.reserved_cores) * 1000));
        out.cpu = cores - out.cpu_reserved;
        sampler_.watch({.cpus = cpus,
                        .networks = out.networks,
                        .data_path = options_.data_path,
                        .memory_total = out.memory});
        return out;
    }

    NodeSample sample(Instant now) override {
        NodeSample out = sampler_.sample(now);
        out.gpus = cards_->sample();
        return out;
    }

    bool changed() override { return cards_->changed() || cache_.changed(); }

  private:
    MachineOptions options_;
    Tree tree_;
    Sampler sampler_;
    CacheFolder cache_;
    std::unique_ptr<Accelerators> cards_;
};

}  // namespace

std::unique_ptr<Source> machine_source(MachineOptions options, const Clock& clock) {
    return std::make_unique<Machine>(std::move(options), clock);
}

}  // namespace crater::hw
