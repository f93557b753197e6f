// From an inventory to what deciding needs.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "state/cluster.h"

namespace crater::engine {

// The agent counts what our own tasks wrote as free; a description of a simulated node may leave it out.
static std::int64_t disk_size(const NodeInventory& inventory, const Disk& disk) {
    return disk.free.value > 0 ? disk.free.value : inventory.simulated ? disk.capacity.value : 0;
}

std::int64_t nominal_memory(const std::string& model, std::int64_t memory) {
    constexpr std::int64_t sizes[] = {4,  6,  8,  10, 11, 12, 16,  20,  22,  24,  32,  40,  44,  45,  48,
                                      64, 72, 80, 94, 96, 98, 120, 128, 141, 144, 180, 186, 192, 256, 288};
    constexpr std::int64_t gib = 1024;
    // A name that says its size: "...-40gb".
    if (const auto at = model.rfind("gb"); at != std::string::npos && at > 0) {
        auto from = at;
        while (from > 0 && model[from - 1] >= '0' && model[from - 1] <= '9') --from;
        std::int64_t size = 0;
        std::from_chars(model.data() + from, model.data() + at, size);
        if (size * gib >= memory && memory * 10 >= size * gib * 8) return size * gib;
    }
    // Drivers keep up to 8 % of a card for themselves.
    for (const auto size : sizes)
        if (size * gib >= memory && memory * 100 >= size * gib * 92) return size * gib;
    return memory;
}

int capability_number(std::string_view text) {
    int major = 0, minor = 0;
    const auto* end = text.data() + text.size();
    auto [at, error] = std::from_chars(text.data(), end, major);
    if (error != std::errc{}) return 0;
    if (at != end && *at == '.') std::from_chars(at + 1, end, minor);
    return major * 100 + minor;
}

bool CardType::operator==(const CardType& o) const {
    const bool same_partitions =
        partitions && o.partitions ? *partitions == *o.partitions : partitions == o.partitions;
    return model == o.model && memory == o.memory && nominal == o.nominal && capability == o.capability &&
           precisions == o.precisions && same_partitions;
}

int Cluster::intern(const CardType& type) {
    const auto it = std::find(types_.begin(), types_.end(), type);
    if (it != types_.end()) return static_cast<int>(it - types_.begin());
    types_.push_back(type);
    return static_cast<int>(types_.size()) - 1;
}

void Cluster::build(Node& node) {
    const auto& inventory = *node.inventory;
    node.cpu = std::max<std::int64_t>(0, inventory.cpu.value);
    node.memory = std::max<std::int64_t>(0, inventory.memory.value);
    const auto runs = [&](std::string_view runtime) {
        return std::find(inventory.runtimes.begin(), inventory.runtimes.end(), runtime) !=
               inventory.runtimes.end();
    };
    node.runs_images = runs("docker");
    node.runs_processes = inventory.runtimes.empty() || runs("process") || runs("none");
    node.board = boards_.of(inventory, node.cpu, node.memory);
    node.domains = node.board->domains;
    build_cards(node);
    set_reserve(node);
    node.disks.clear();
    for (const auto& d : inventory.disks) {
        DiskUnit disk{
            .name = d.name, .iops = d.iops.value, .bandwidth = d.bandwidth.value, .latency = d.latency.value};
        disk.size = disk_size(inventory, d);
        disk.random_read = d.iops.value * 4096;
        disk.stability = d.iops_stability_ratio;
        node.disks.push_back(std::move(disk));
    }
    find_data(node);
    make_columns(node);
}

void Cluster::find_data(Node& node) {
    node.data.clear();
    for (const auto& item : node.inventory->cache.datasets)
        node.data.push_back(data_key(DataKind::dataset, item.id));
    for (const auto& item : node.inventory->cache.models)
        node.data.push_back(data_key(DataKind::model, item.id));
    std::sort(node.data.begin(), node.data.end());
}

void Cluster::set_cache(int n, std::shared_ptr<const NodeInventory> inventory) {
    Node& node = at(n);
    node.inventory = std::move(inventory);
    const auto& disks = node.inventory->disks;
    for (std::size_t k = 0; k < disks.size(); ++k) node.disks[k].size = disk_size(*node.inventory, disks[k]);
    find_data(node);
    ++node.hardware_version;
    touch(n);
}

void Cluster::set_reserve(Node& node) {
    const double reserve = std::clamp(settings_.gpu_preprocessing_reserve, 0.0, 1.0);
    node.preprocessing =
        node.inventory->gpus.empty() ? 0 : std::llround(static_cast<double>(node.cpu) * reserve);
}

void Cluster::make_columns(Node& node) {
    used_.place(node);
    nothing_.match(used_);
    node.live.gpus.resize(node.cards.size(), 0);
    node.usable = 0;
    node.mixed = false;
    node.domain_cards.clear();
    node.domain_cards.resize(node.domains.size());
    for (std::size_t c = 0; c < node.cards.size(); ++c) {
        if (node.cards[c].usable) node.usable |= Mask{1} << c;
        if (node.cards[c].domain >= 0)
            node.domain_cards[static_cast<std::size_t>(node.cards[c].domain)] |= Mask{1} << c;
        node.mixed |= node.cards[c].type != node.cards.front().type || node.cards[c].gone ||
                      type(node.cards[c].type).partitions;
    }
    node.partitions.clear();
    for (std::size_t c = 0; node.mixed && c < node.cards.size(); ++c)
        node.partitions.push_back(type(node.cards[c].type).partitions);
    node.card_type = node.cards.empty() || node.mixed ? -1 : node.cards.front().type;
    node.card_memory = node.card_type < 0 ? 0 : type(node.card_type).memory;
}

void Cluster::build_cards(Node& node) {
    node.cards.clear();
    node.card_texts.clear();
    for (const auto& gpu : node.inventory->gpus) {
        if (static_cast<int>(node.cards.size()) == cards_per_node_max) break;
        CardType type{gpu.model, gpu.memory.value, nominal_memory(gpu.model, gpu.memory.value),
                      capability_number(gpu.compute_capability), gpu.precisions};
        std::sort(type.precisions.begin(), type.precisions.end());
        std::string fault = gpu.healthy ? partitions_fault(gpu) : std::string();
        if (gpu.healthy && gpu.mig_enabled && gpu.partitions.empty())
            fault = "it is in MIG mode, and its agent makes no instances";
        if (fault.empty() && !gpu.partitions.empty())
            type.partitions = std::make_shared<const Partitions>(partitions_of(gpu));
        Card card{.index = gpu.index, .type = intern(type), .usable = gpu.healthy && fault.empty()};
        CardText text{gpu.uuid, gpu.healthy ? fault : gpu.health_detail};
        for (std::size_t d = 0; d < node.domains.size(); ++d)
            if (node.domains[d].id == gpu.numa_node) card.domain = static_cast<int>(d);
        if (node.domains.size() == 1) card.domain = 0;
        node.cards.push_back(card);
        node.card_texts.push_back(std::move(text));
    }
    for (std::size_t c = 0; c < node.cards.size(); ++c)
        for (const auto peer : node.inventory->gpus[c].nvlink_peers)
            for (std::size_t other = 0; other < node.cards.size(); ++other)
                if (other != c && node.cards[other].index == peer) {
                    node.cards[c].peers |= Mask{1} << other;
                    node.cards[other].peers |= Mask{1} << c;
                }
}

int Cluster::card_position(Node& node, const GpuSlice& slice) {
    for (std::size_t c = 0; c < node.cards.size(); ++c)
        if (!slice.uuid.empty() && node.card_texts[c].uuid == slice.uuid) return static_cast<int>(c);
    for (std::size_t c = 0; c < node.cards.size(); ++c) {
        const bool same = slice.uuid.empty() || node.card_texts[c].uuid.empty();
        if (node.cards[c].index == slice.index && same) return static_cast<int>(c);
    }
    CRATER_CHECK(static_cast<int>(node.cards.size()) < cards_per_node_max,
                 "more cards on a node than can be booked");
    node.cards.push_back({.index = slice.index,
                          .type = intern({.model = "gone", .precisions = {}}),
                          .usable = false,
                          .gone = true});
    node.card_texts.push_back({slice.uuid, "it is no longer reported"});
    make_columns(node);
    return static_cast<int>(node.cards.size()) - 1;
}

int Cluster::disk_position(Node& node, const std::string& name) {
    for (std::size_t k = 0; k < node.disks.size(); ++k)
        if (node.disks[k].name == name) return static_cast<int>(k);
    node.disks.push_back({.name = name, .gone = true});
    make_columns(node);
    return static_cast<int>(node.disks.size()) - 1;
}

}  // namespace crater::engine
