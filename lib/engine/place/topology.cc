#include "place/topology.h"

#include <algorithm>
#include <map>

namespace crater::engine {
namespace {

constexpr std::int64_t bound_max = 1 << 20;  // of a node, so that sums stay small

std::string text_of(const NodeInventory& inventory, std::string_view label) {
    const auto it = inventory.labels.find(std::string(label));
    return it == inventory.labels.end() ? std::string() : it->second;
}

std::int64_t times(std::int64_t free, std::int64_t need) {
    return need > 0 ? std::max<std::int64_t>(0, free) / need : bound_max;
}

std::int64_t card_bound(const Shape& shape, const Cluster& cluster, const Node& node) {
    const CardUse* used = cluster.used().cards.data() + node.cards_at;
    const auto tasks_max = cluster.settings().max_tasks_per_gpu;
    std::int64_t parts = 0;
    for (std::size_t c = 0; c < node.cards.size(); ++c) {
        const Card& card = node.cards[c];
        if (!card.usable || used[c].exclusive > 0) continue;
        const CardNeed& need = shape.need(cluster, card.type);
        if (need.fails != CardNeed::nothing) continue;
        if (need.whole)
            parts += used[c].tasks == 0;
        else
            parts += std::max<std::int64_t>(
                0, std::min({times(1000 - used[c].compute, need.compute), tasks_max - used[c].tasks,
                             times(cluster.type(card.type).memory - used[c].memory, need.memory)}));
    }
    return parts / shape.cards;
}

}  // namespace

std::string_view Areas::label(TopologyLevel level) {
    return level == TopologyLevel::spine ? spine_label : rack_label;
}

TopologyLevel Areas::above(TopologyLevel level) {
    switch (level) {
        case TopologyLevel::node: return TopologyLevel::rack;
        case TopologyLevel::rack: return TopologyLevel::spine;
        case TopologyLevel::spine:
        case TopologyLevel::none: break;
    }
    return TopologyLevel::none;
}

bool Areas::stands_still(const Cluster& cluster, int n, const NodeInventory& inventory) {
    const Node& node = cluster.node(n);
    return node.present && text_of(*node.inventory, rack_label) == text_of(inventory, rack_label) &&
           text_of(*node.inventory, spine_label) == text_of(inventory, spine_label);
}

void Areas::refresh(const Cluster& cluster) {
    if (known_) return;
    known_ = true;
    std::map<std::string, Area> nodes, spines;
    std::map<std::pair<std::string, std::string>, Area> racks;  // by rack, spine
    for (const int n : cluster.by_name()) {
        const Node& node = cluster.node(n);
        if (!node.present) continue;
        nodes[node.name].nodes = {n};
        const std::string rack = text_of(*node.inventory, rack_label),
                          spine = text_of(*node.inventory, spine_label);
        if (!rack.empty()) racks[{rack, spine}].nodes.push_back(n);
        if (spine.empty()) continue;
        spines[spine].nodes.push_back(n);
        if (rack.empty()) spines[spine].loose.push_back(n);
    }
    for (auto& of : area_of_) of.assign(static_cast<std::size_t>(cluster.size()), -1);
    for (auto& list : areas_) list.clear();
    const auto add = [&](TopologyLevel level, std::string name, Area area) {
        const auto position = static_cast<int>(areas_[index(level)].size());
        for (const int n : area.nodes) area_of_[index(level)][static_cast<std::size_t>(n)] = position;
        area.name = std::move(name);
        areas_[index(level)].push_back(std::move(area));
        return position;
    };
    for (auto& [name, area] : nodes) add(TopologyLevel::node, name, std::move(area));
    for (auto& [key, area] : racks) {
        const int position = add(TopologyLevel::rack, key.first, std::move(area));
        if (!key.second.empty()) spines[key.second].racks.push_back(position);
    }
    for (auto& [name, area] : spines) add(TopologyLevel::spine, name, std::move(area));
}

std::int64_t room_bound(const Shape& shape, const Cluster& cluster, int n) {
    const Node& node = cluster.node(n);
    if (!node.takes_work()) return 0;
    const NodeUse& use = cluster.used().nodes[static_cast<std::size_t>(n)];
    std::int64_t cpu = node.cpu - use.cpu;
    if (shape.cards == 0) cpu = std::min(cpu, node.cpu - node.preprocessing - use.cpu_only);
    std::int64_t out =
        std::min({bound_max, times(cpu, shape.cpu), times(node.memory - use.memory, shape.memory)});
    if (out > 0 && shape.cards > 0) out = std::min(out, card_bound(shape, cluster, node));
    return shape.spread_tasks ? std::min<std::int64_t>(out, 1) : out;
}

}  // namespace crater::engine
