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

void FitIndex::set(const Cluster& cluster, int n, const Room& room, std::span<const CardRoom> cards,
                   bool present, bool same_cards) {
    Home& home = homes_[static_cast<std::size_t>(n)];
    const Home before = home;
    Home now;
    now.present = present;
    if (present) {
        const auto cores = cpu_class(room.cpu);
        const auto idle = static_cast<std::size_t>(room.idle_count);
        now.cpu_only = static_cast<std::uint16_t>((cards.empty() ? 0 : 1 + idle) * cpu_classes +
                                                  cpu_class(room.cpu_only));
        now.idle = static_cast<std::uint16_t>(idle * cpu_classes + cores);
        now.cores = static_cast<std::uint8_t>(cores);
        now.type = static_cast<std::int16_t>(room.card_type);
    }
    const bool same_type = before.type == now.type;
    if (same_type && same_cards) {
        now.steps = before.steps;
    } else if (now.type >= 0) {
        for (const CardRoom& card : cards) {
            const auto step = static_cast<std::size_t>(card.left) / left_step_size;
            now.steps[step / 64] |= static_cast<std::uint64_t>(card.memory >= 0) << (step % 64);
        }
    }
    if (now == before) return;
    home = now;

    const auto rank = static_cast<std::size_t>(cluster.rank(n));
    if (before.present && (!present || before.cpu_only != now.cpu_only))
        cpu_only_.remove(before.cpu_only, rank);
    if (present && (!before.present || before.cpu_only != now.cpu_only)) cpu_only_.add(now.cpu_only, rank);
    if (before.type >= 0 && (!same_type || before.idle != now.idle))
        types_[static_cast<std::size_t>(before.type)].idle.remove(before.idle, rank);
    if (now.type >= 0 && (!same_type || before.idle != now.idle))
        types_[static_cast<std::size_t>(now.type)].idle.add(now.idle, rank);
    if (same_type && now.type >= 0) return move_slices(rank, now.type, before, now);
    if (before.type >= 0) move_slices(rank, before.type, before, {});
    if (now.type >= 0) move_slices(rank, now.type, {}, now);
}

// Step by step, because a task changes few of them.
void FitIndex::move_slices(std::size_t rank, int type, const Home& before, const Home& now) {
    auto& slices = types_[static_cast<std::size_t>(type)].slices;
    for (std::size_t w = 0; w < now.steps.size(); ++w) {
        const std::uint64_t stay = before.cores == now.cores ? before.steps[w] & now.steps[w] : 0;
        for (auto left = before.steps[w] & ~stay; left; left &= left - 1)
            slices.remove(
                (w * 64 + static_cast<std::size_t>(std::countr_zero(left))) * cpu_classes + before.cores,
                rank);
        for (auto left = now.steps[w] & ~stay; left; left &= left - 1)
            slices.add((w * 64 + static_cast<std::size_t>(std::countr_zero(left))) * cpu_classes + now.cores,
                       rank);
    }
}

}  // namespace crater::engine
