#include "place/fit_index.h"

#include <algorithm>

namespace crater::engine {

void FitIndex::reset(const Cluster& cluster) {
    const auto nodes = static_cast<std::size_t>(cluster.size());
    homes_.assign(nodes, {});
    types_.assign(static_cast<std::size_t>(cluster.type_count()), {});
    for (auto& type : types_) {
        type.idle.reset((cards_per_node_max + 1) * cpu_classes, nodes);
        type.slices.reset((left_steps + 1) * cpu_classes, nodes);
    }
    cpu_only_.reset((cards_per_node_max + 2) * cpu_classes, nodes);
}

void FitIndex::set(const Cluster& cluster, int n, const Room& room, const CardRoom* cards, bool present) {
    Home& home = homes_[static_cast<std::size_t>(n)];
    const auto rank = static_cast<std::size_t>(cluster.rank(n));
    const auto& node = cluster.node(n);
    const bool has_cards = present && room.card_type >= 0;
    const auto cores = cpu_class(room.cpu);

    const auto row = node.cards.empty() ? 0 : 1 + static_cast<std::size_t>(room.idle_count);
    const auto cpu_only = static_cast<std::uint16_t>(row * cpu_classes + cpu_class(room.cpu_only));
    const auto idle = static_cast<std::uint16_t>(static_cast<std::size_t>(room.idle_count) * cpu_classes + cores);
    if (home.present && (!present || home.cpu_only != cpu_only)) cpu_only_.remove(home.cpu_only, rank);
    if (present && (!home.present || home.cpu_only != cpu_only)) cpu_only_.add(cpu_only, rank);
    if (home.type >= 0 && (!has_cards || home.type != room.card_type || home.idle != idle))
        types_[static_cast<std::size_t>(home.type)].idle.remove(home.idle, rank);
    if (has_cards && (home.type != room.card_type || home.idle != idle))
        types_[static_cast<std::size_t>(room.card_type)].idle.add(idle, rank);

    scratch_.clear();
    for (std::size_t c = 0; has_cards && c < node.cards.size(); ++c) {
        if (cards[c].memory < 0) continue;
        const auto at = static_cast<std::uint16_t>(static_cast<std::size_t>(cards[c].left / left_step_size) * cpu_classes + cores);
        const auto place = std::lower_bound(scratch_.begin(), scratch_.end(), at);
        if (place == scratch_.end() || *place != at) scratch_.insert(place, at);
    }
    move_slices(rank, home, has_cards ? room.card_type : -1, scratch_);
    home.present = present;
    home.type = has_cards ? room.card_type : -1;
    home.cpu_only = cpu_only;
    home.idle = idle;
}

void FitIndex::move_slices(std::size_t rank, Home& home, int type, const std::vector<std::uint16_t>& to) {
    if (home.type == type && home.slices == to) return;
    const auto lacks = [](const std::vector<std::uint16_t>& list, std::uint16_t at) {
        return std::find(list.begin(), list.end(), at) == list.end();
    };
    for (const auto at : home.slices)
        if (home.type != type || lacks(to, at)) types_[static_cast<std::size_t>(home.type)].slices.remove(at, rank);
    for (const auto at : to)
        if (home.type != type || lacks(home.slices, at)) types_[static_cast<std::size_t>(type)].slices.add(at, rank);
    home.slices.assign(to.begin(), to.end());
}

}  // namespace crater::engine
