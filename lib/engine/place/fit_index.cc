#include "place/fit_index.h"

#include <bit>

namespace crater::engine {

void FitIndex::reset(const Cluster& cluster) {
    const auto nodes = static_cast<std::size_t>(cluster.size());
    homes_.assign(nodes, {});
    types_.clear();
    types_.resize(static_cast<std::size_t>(cluster.type_count()));
    for (auto& type : types_) {
        type.idle.reset((cards_per_node_max + 1) * cpu_classes, nodes);
        type.slices.reset((left_steps + 1) * cpu_classes, nodes);
    }
    cpu_only_.reset((cards_per_node_max + 2) * cpu_classes, nodes);
}

void FitIndex::set(const Cluster& cluster, int n, const Room& room, const CardRoom* cards, bool present) {
    Home& home = homes_[static_cast<std::size_t>(n)];
    const auto rank = static_cast<std::size_t>(cluster.rank(n));
    const auto count = cluster.node(n).cards.size();
    const Home before = home;
    home = {};
    home.present = present;
    if (present) {
        const auto cores = cpu_class(room.cpu);
        const auto row = count == 0 ? 0 : 1 + static_cast<std::size_t>(room.idle_count);
        home.cpu_only = static_cast<std::uint16_t>(row * cpu_classes + cpu_class(room.cpu_only));
        home.idle = static_cast<std::uint16_t>(static_cast<std::size_t>(room.idle_count) * cpu_classes + cores);
        home.cores = static_cast<std::uint8_t>(cores);
        home.type = static_cast<std::int16_t>(room.card_type);
    }
    if (home.type >= 0)
        for (std::size_t c = 0; c < count; ++c) {
            const auto step = static_cast<std::size_t>(cards[c].left / left_step_size);
            home.steps[step / 64] |= static_cast<std::uint64_t>(cards[c].memory >= 0) << (step % 64);
        }

    if (before.present && (!present || before.cpu_only != home.cpu_only)) cpu_only_.remove(before.cpu_only, rank);
    if (present && (!before.present || before.cpu_only != home.cpu_only)) cpu_only_.add(home.cpu_only, rank);
    const bool same_type = before.type == home.type;
    if (before.type >= 0 && (!same_type || before.idle != home.idle)) types_[static_cast<std::size_t>(before.type)].idle.remove(before.idle, rank);
    if (home.type >= 0 && (!same_type || before.idle != home.idle)) types_[static_cast<std::size_t>(home.type)].idle.add(home.idle, rank);
    if (same_type && home.type >= 0) return move_slices(rank, home.type, before, home);
    if (before.type >= 0) move_slices(rank, before.type, before, {});
    if (home.type >= 0) move_slices(rank, home.type, {}, home);
}

// Step by step, because a task changes few of them.
void FitIndex::move_slices(std::size_t rank, int type, const Home& before, const Home& now) {
    auto& slices = types_[static_cast<std::size_t>(type)].slices;
    for (std::size_t w = 0; w < now.steps.size(); ++w) {
        const std::uint64_t stay = before.cores == now.cores ? before.steps[w] & now.steps[w] : 0;
        for (auto left = before.steps[w] & ~stay; left; left &= left - 1)
            slices.remove((w * 64 + static_cast<std::size_t>(std::countr_zero(left))) * cpu_classes + before.cores, rank);
        for (auto left = now.steps[w] & ~stay; left; left &= left - 1)
            slices.add((w * 64 + static_cast<std::size_t>(std::countr_zero(left))) * cpu_classes + now.cores, rank);
    }
}

}  // namespace crater::engine
