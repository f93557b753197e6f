// Nodes that do not exist, said to be what a document describes.
#include <set>

#include "crater/base/ids.h"
#include "crater/codec/codec.h"
#include "crater/hw/source.h"
#include "ranges.h"
#include "tree.h"

namespace crater::hw {
namespace {

constexpr std::size_t nodes_max = 100'000;

Result<const GpuModel*> simulated_model(const std::string& wanted, const std::string& field) {
    if (const GpuModel* model = find_gpu(normalised_gpu(wanted))) return model;
    std::vector<std::string_view> names;
    std::string family;
    for (const auto& model : known_gpus()) {
        names.push_back(model.name);
        if (!model.name.starts_with(normalised_gpu(wanted)) || wanted.empty()) continue;
        family += (family.empty() ? "" : ", ") + std::string(model.name);
    }
    const std::string near = nearest(wanted, names);
    return fail(Code::invalid, shown(wanted) + " is not a known GPU model", field,
                !family.empty() ? "one of " + family
                : !near.empty() ? "did you mean " + near + "?"
                                : "see `crater-probe models`");
}

Result<void> check_cached(const std::vector<std::string>& ids, const std::string& field) {
    for (std::size_t i = 0; i < ids.size(); ++i)
        CRATER_TRY_VOID(check_id(ids[i], field + "[" + std::to_string(i) + "]"));
    return {};
}

Result<void> check_simulated(const SimulatedNode& node, const std::string& field) {
    CRATER_TRY_VOID(check_id(node.name, field + ".name"));
    if (node.gpus.count > 0) {
        CRATER_TRY(model, simulated_model(node.gpus.model, field + ".gpus.model"));
        if (node.gpus.mig && model->mig_profiles.empty())
            return fail(Code::invalid, std::string(model->name) + " has no MIG mode", field + ".gpus.mig",
                        "`crater-probe models` lists the models that have MIG profiles");
        if (node.gpus.mig && node.gpus.memory)
            return fail(Code::invalid,
                        "the instances of a card in MIG mode follow from its model: leave gpus.memory out",
                        field + ".gpus.memory");
    }
    const auto& nvlink = node.gpus.nvlink;
    if (nvlink != "none" && nvlink != "pairs" && nvlink != "all")
        return fail(Code::invalid, shown(nvlink) + " is not known; allowed: none, pairs, all",
                    field + ".gpus.nvlink");
    if (node.cpu.cores < node.cpu.sockets)
        return fail(Code::invalid,
                    std::to_string(node.cpu.cores) + " cores are too few for " +
                        std::to_string(node.cpu.sockets) + " sockets",
                    field + ".cpu.cores");
    CRATER_TRY_VOID(check_cached(node.cache.datasets, field + ".cache.datasets"));
    return check_cached(node.cache.models, field + ".cache.models");
}

std::vector<CachedItem> cached_items(const std::vector<std::string>& ids) {
    std::vector<CachedItem> out;
    for (const auto& id : std::set<std::string>(ids.begin(), ids.end())) out.push_back({id, {}});
    return out;
}

// The part of `total` that falls to `index` of `parts`; earlier ones take what does not divide.
std::int64_t share(std::int64_t total, std::int64_t parts, std::int64_t index) {
    return total / parts + (index < total % parts ? 1 : 0);
}

// Numbered as Linux does: first threads of all cores, then second threads.
std::vector<NumaDomain> simulated_domains(const SimulatedNode& node) {
    std::vector<NumaDomain> domains;
    const auto& cpu = node.cpu;
    for (std::int64_t socket = 0, core = 0; socket < cpu.sockets; ++socket) {
        NumaDomain domain{.id = socket, .memory_bandwidth = cpu.memory_bandwidth};
        domain.memory = Bytes(share(node.memory.value, cpu.sockets, socket));
        const std::int64_t first = core, last = core + share(cpu.cores, cpu.sockets, socket);
        for (std::int64_t thread = 0; thread < 2; ++thread)
            for (core = first; core < last; ++core) {
                domain.cpus.push_back(thread * cpu.cores + core);
                domain.core_of.push_back(core);
            }
        domains.push_back(std::move(domain));
    }
    return domains;
}

std::vector<std::int64_t> simulated_peers(const SimulatedGpus& gpus, std::int64_t index) {
    std::vector<std::int64_t> peers;
    for (std::int64_t other = 0; other < gpus.count; ++other)
        if (other != index && (gpus.nvlink == "all" || (gpus.nvlink == "pairs" && other / 2 == index / 2)))
            peers.push_back(other);
    return peers;
}

Gpu simulated_card(const SimulatedNode& node, const GpuModel& model, std::int64_t index) {
    Gpu card{.index = index, .model = std::string(model.name)};
    card.uuid = "GPU-sim-" + node.name + "-" + std::to_string(index);
    card.pci_address = "sim:" + std::to_string(index);
    card.numa_node = index * node.cpu.sockets / node.gpus.count;
    card.memory = node.gpus.memory ? node.gpus.memory : Mebibytes(model.memory_mib);
    card.sm_count = model.sm_count;
    card.compute_capability = model.compute_capability;
    for (auto precision : words(model.precisions)) card.precisions.emplace_back(precision);
    card.memory_bandwidth = BytesPerSecond(static_cast<std::int64_t>(model.memory_bandwidth_gbps * 1e9));
    card.nvlink_peers = simulated_peers(node.gpus, index);
    card.mig_enabled = node.gpus.mig;
    if (node.gpus.mig) card.partitions = mig_partitions(model);
    return card;
}

Disk simulated_disk(const std::string& name, const SimulatedDisk& from) {
    return {.name = name,
            .type = name.starts_with("nvme") ? "nvme" : "ssd",
            .mount = "/",
            .capacity = from.size,
            .free = from.size,
            .iops = from.iops,
            .latency = from.latency_us,
            .bandwidth = from.bandwidth,
            .iops_stability_ratio = from.iops_stability_ratio};
}

class Simulated final : public Source {
  public:
    explicit Simulated(SimulatedNode node) : node_(std::move(node)) {}
    Result<NodeInventory> inventory() override { return simulated_inventory(node_); }
    NodeSample sample(Instant now) override {
        NodeSample out{.at = now, .memory_total = node_.memory};
        for (const auto& [name, disk] : node_.disks) out.disk_free += disk.size;
        for (std::int64_t i = 0; i < node_.gpus.count; ++i) out.gpus.push_back({.index = i});
        return out;
    }
    bool changed() override { return false; }

  private:
    SimulatedNode node_;
};

}  // namespace

Result<std::vector<SimulatedNode>> read_simulated_nodes(std::string_view yaml) {
    CRATER_TRY(document, codec::read_yaml<SimulatedNodes>(yaml));
    std::vector<SimulatedNode> nodes;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < document.simulated_nodes.size(); ++i) {
        const SimulatedNode& pattern = document.simulated_nodes[i];
        const std::string field = "simulated_nodes[" + std::to_string(i) + "]";
        CRATER_TRY(names, expand_ranges(pattern.name, nodes_max, field + ".name"));
        if (nodes.size() + names.size() > nodes_max)
            return fail(Code::too_large, "more than " + std::to_string(nodes_max) + " nodes",
                        field + ".name");
        for (auto& name : names) {
            if (!seen.insert(name).second)
                return fail(Code::invalid, shown(name) + " is named twice", field + ".name");
            SimulatedNode node = pattern;
            node.name = std::move(name);
            CRATER_TRY_VOID(check_simulated(node, field));
            nodes.push_back(std::move(node));
        }
    }
    return nodes;
}

Result<NodeInventory> simulated_inventory(const SimulatedNode& node) {
    CRATER_TRY_VOID(check_simulated(node, "simulated_nodes"));
    NodeInventory out{.name = node.name, .labels = node.labels, .pools = node.pools, .simulated = true};
    out.runtimes = {std::string(name_of(node.runtime))};
    out.os = "simulated";
    out.cpu_model = "simulated";
    out.sockets = node.cpu.sockets;
    out.cpu_features = node.cpu.features;
    out.cpu = MilliCpu(node.cpu.cores * 1000);
    out.memory = node.memory;
    out.numa = simulated_domains(node);
    if (node.gpus.count > 0) {
        CRATER_TRY(model, simulated_model(node.gpus.model, "gpus.model"));
        for (std::int64_t i = 0; i < node.gpus.count; ++i)
            out.gpus.push_back(simulated_card(node, *model, i));
    }
    for (const auto& [name, disk] : node.disks) out.disks.push_back(simulated_disk(name, disk));
    out.cache = {cached_items(node.cache.datasets), cached_items(node.cache.models)};
    auto& held = out.enforcement;
    for (auto* by : {&held.cpu, &held.memory, &held.pids, &held.disk_io, &held.gpu_memory, &held.gpu_compute})
        *by = "simulated";
    return out;
}

std::unique_ptr<Source> simulated_source(SimulatedNode node) {
    return std::make_unique<Simulated>(std::move(node));
}

}  // namespace crater::hw
