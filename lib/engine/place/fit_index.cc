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

    if (home.type >= 0 && (home.type != room.card_type || !has_cards || home.cores != cores)) {
        leave_slices(rank, home);
        home.steps.clear();
    }
    home.present = present;
    home.type = has_cards ? room.card_type : -1;
    home.cores = static_cast<std::uint8_t>(cores);
    home.cpu_only = cpu_only;
    home.idle = idle;
    if (has_cards) move_slices(rank, home, cards, node.cards.size());
}

namespace {

constexpr std::uint8_t takes_nothing = 255;

// Whether another card than `but` has as much left: the node is in that bucket once for all of them.
bool shared(const std::vector<std::uint8_t>& steps, std::size_t but) {
    for (std::size_t c = 0; c < steps.size(); ++c)
        if (c != but && steps[c] == steps[but]) return true;
    return false;
}

}  // namespace

void FitIndex::leave_slices(std::size_t rank, const Home& home) {
    auto& slices = types_[static_cast<std::size_t>(home.type)].slices;
    for (std::size_t c = 0; c < home.steps.size(); ++c) {
        bool seen = home.steps[c] == takes_nothing;
        for (std::size_t before = 0; before < c; ++before) seen |= home.steps[before] == home.steps[c];
        if (!seen) slices.remove(home.steps[c] * cpu_classes + home.cores, rank);
    }
}

// Card by card, because a task changes few of them.
void FitIndex::move_slices(std::size_t rank, Home& home, const CardRoom* cards, std::size_t count) {
    auto& slices = types_[static_cast<std::size_t>(home.type)].slices;
    home.steps.resize(count, takes_nothing);
    for (std::size_t c = 0; c < count; ++c) {
        const auto step = cards[c].memory < 0 ? takes_nothing : static_cast<std::uint8_t>(cards[c].left / left_step_size);
        if (home.steps[c] == step) continue;
        if (home.steps[c] != takes_nothing && !shared(home.steps, c)) slices.remove(home.steps[c] * cpu_classes + home.cores, rank);
        home.steps[c] = step;
        if (step != takes_nothing && !shared(home.steps, c)) slices.add(step * cpu_classes + home.cores, rank);
    }
}

}  // namespace crater::engine
