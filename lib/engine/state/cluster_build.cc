// From an inventory to what deciding needs.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "state/cluster.h"

namespace crater::engine {

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

Mask Node::cards_in(int domain) const {
    Mask mask = 0;
    for (std::size_t c = 0; c < cards.size(); ++c)
        if (cards[c].domain == domain) mask |= Mask{1} << c;
    return mask;
}

int Cluster::intern(const CardType& type) {
    const auto it = std::find(types_.begin(), types_.end(), type);
    if (it != types_.end()) return static_cast<int>(it - types_.begin());
    types_.push_back(type);
    return static_cast<int>(types_.size()) - 1;
}

void Cluster::build(Node& node) {
    const auto& inventory = node.inventory;
    node.cpu = std::max<std::int64_t>(0, inventory.cpu.value);
    node.memory = std::max<std::int64_t>(0, inventory.memory.value);
    build_cpus(node);
    build_cards(node);
    set_reserve(node);
    node.disks.clear();
    for (const auto& d : inventory.disks) {
        DiskUnit disk{
            .name = d.name, .iops = d.iops.value, .bandwidth = d.bandwidth.value, .latency = d.latency.value};
        // The agent counts what our own tasks wrote as free; a description of a simulated node may leave it
        // out.
        disk.size = d.free.value > 0 ? d.free.value : inventory.simulated ? d.capacity.value : 0;
        disk.random_read = d.iops.value * 4096;
        disk.stability = d.iops_stability_ratio;
        node.disks.push_back(std::move(disk));
    }
    make_columns(node);
}

void Cluster::set_reserve(Node& node) {
    const double reserve = std::clamp(settings_.gpu_preprocessing_reserve, 0.0, 1.0);
    node.preprocessing =
        node.inventory.gpus.empty() ? 0 : std::llround(static_cast<double>(node.cpu) * reserve);
}

void Cluster::make_columns(Node& node) {
    used_.place(node);
    nothing_.match(used_);
    node.live.gpus.resize(node.cards.size(), 0);
    node.usable = 0;
    node.mixed = false;
    for (std::size_t c = 0; c < node.cards.size(); ++c) {
        if (node.cards[c].usable) node.usable |= Mask{1} << c;
        node.mixed |= node.cards[c].type != node.cards.front().type;
    }
    node.card_type = node.cards.empty() || node.mixed ? -1 : node.cards.front().type;
    node.card_memory = node.card_type < 0 ? 0 : type(node.card_type).memory;
}

void Cluster::build_cpus(Node& node) {
    node.domains.clear();
    node.cores.clear();
    std::int64_t listed = 0;
    for (const auto& d : node.inventory.numa) {
        Domain domain{.id = d.id, .memory = d.memory.value, .bandwidth = d.memory_bandwidth.value};
        domain.cpu = static_cast<std::int64_t>(d.cpus.size()) * 1000;
        const auto position = static_cast<int>(node.domains.size());
        std::vector<std::pair<std::int64_t, std::int64_t>> threads;  // (core, cpu)
        for (std::size_t i = 0; i < d.cpus.size(); ++i)
            threads.emplace_back(i < d.core_of.size() ? d.core_of[i] : d.cpus[i], d.cpus[i]);
        std::sort(threads.begin(), threads.end());
        for (std::size_t i = 0; i < threads.size(); ++i) {
            if (i == 0 || threads[i].first != threads[i - 1].first)
                node.cores.push_back({.domain = position, .cpus = {}});
            node.cores.back().cpus.push_back(threads[i].second);
        }
        listed += domain.cpu;
        node.domains.push_back(domain);
    }
    if (node.domains.empty()) {
        node.domains.push_back({.id = -1, .cpu = node.cpu, .memory = node.memory});
        return;
    }
    // A domain without a list of CPUs has its part of the node's.
    for (auto& domain : node.domains)
        if (domain.cpu == 0) domain.cpu = node.cpu / static_cast<std::int64_t>(node.domains.size());
    // CPUs beyond what is schedulable are the system's: the first ones, where interrupts and daemons usually
    // are. Where fewer are listed than can be scheduled, whole cores are not given out at all.
    std::int64_t reserved = listed - node.cpu;
    if (reserved < 0) reserved = listed;
    for (auto& core : node.cores) {
        core.system = reserved > 0;
        reserved -= 1000 * static_cast<std::int64_t>(core.cpus.size());
    }
}

void Cluster::build_cards(Node& node) {
    node.cards.clear();
    for (const auto& gpu : node.inventory.gpus) {
        if (static_cast<int>(node.cards.size()) == cards_per_node_max) break;
        CardType type{gpu.model, gpu.memory.value, nominal_memory(gpu.model, gpu.memory.value),
                      capability_number(gpu.compute_capability), gpu.precisions};
        std::sort(type.precisions.begin(), type.precisions.end());
        Card card{.index = gpu.index, .uuid = gpu.uuid, .type = intern(type), .fault = gpu.health_detail};
        for (std::size_t d = 0; d < node.domains.size(); ++d)
            if (node.domains[d].id == gpu.numa_node) card.domain = static_cast<int>(d);
        if (node.domains.size() == 1) card.domain = 0;
        card.usable = gpu.healthy && !gpu.mig_enabled;
        if (gpu.healthy && gpu.mig_enabled) card.fault = "it is in MIG mode";
        node.cards.push_back(std::move(card));
    }
    for (std::size_t c = 0; c < node.cards.size(); ++c)
        for (const auto peer : node.inventory.gpus[c].nvlink_peers)
            for (std::size_t other = 0; other < node.cards.size(); ++other)
                if (other != c && node.cards[other].index == peer) {
                    node.cards[c].peers |= Mask{1} << other;
                    node.cards[other].peers |= Mask{1} << c;
                }
}

int Cluster::card_position(Node& node, const GpuSlice& slice) {
    for (std::size_t c = 0; c < node.cards.size(); ++c)
        if (!slice.uuid.empty() && node.cards[c].uuid == slice.uuid) return static_cast<int>(c);
    for (std::size_t c = 0; c < node.cards.size(); ++c) {
        const Card& card = node.cards[c];
        const bool same = slice.uuid.empty() || card.uuid.empty();
        if (card.index == slice.index && same) return static_cast<int>(c);
    }
    CRATER_CHECK(static_cast<int>(node.cards.size()) < cards_per_node_max,
                 "more cards on a node than can be booked");
    node.cards.push_back({.index = slice.index,
                          .uuid = slice.uuid,
                          .type = intern({.model = "gone", .precisions = {}}),
                          .usable = false,
                          .gone = true,
                          .fault = "it is no longer reported"});
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
