#include "place/room.h"

#include <algorithm>
#include <bit>

#include "state/cluster.h"

namespace crater::engine {
namespace {

// What is left of a card costs a division: `known` cards that are as they were keep it.
void measure_card(CardRoom& out, const CardUse& used, std::int64_t total, bool known) {
    const auto compute = std::max(0, 1000 - used.compute);
    const auto memory = std::max<std::int64_t>(0, total - used.memory);
    const auto shown = static_cast<std::int32_t>(std::min<std::int64_t>(memory, INT32_MAX));
    if (known && out.memory == shown && out.compute == compute) return;
    out.memory = shown;
    out.compute = static_cast<std::int16_t>(compute);
    out.left = static_cast<std::int16_t>(total == memory ? compute : std::min<std::int64_t>(compute, memory * 1000 / total));
}

Room measure(const Cluster& cluster, int n, CardRoom* cards, bool known) {
    const Node& node = cluster.node(n);
    const NodeUse& use = cluster.used().nodes[static_cast<std::size_t>(n)];
    Room room;
    room.mixed = node.mixed;
    room.card_type = node.card_type;
    const auto count = node.cards.size();
    if (use.exclusive > 0) {
        std::fill(cards, cards + count, CardRoom{});
        return room;
    }
    room.cpu = std::max<std::int64_t>(0, node.cpu - use.cpu);
    room.cpu_only = std::max<std::int64_t>(0, std::min(room.cpu, node.cpu - node.preprocessing - use.cpu_only));
    room.memory = std::max<std::int64_t>(0, node.memory - use.memory);
    const CardUse* used = cluster.used().cards.data() + node.cards_at;
    const auto tasks_max = cluster.settings().max_tasks_per_gpu;
    const Mask open = cluster.open_cards(n);
    const auto common = cluster.card_limit(node.card_memory);
    for (std::size_t c = 0; c < count; ++c) {
        const bool usable = (open >> c & 1) && used[c].exclusive == 0;
        if (usable && used[c].tasks == 0 && used[c].compute <= 0) {
            room.idle |= Mask{1} << c;
            ++room.idle_count;
        }
        if (!usable || used[c].tasks >= tasks_max) {
            cards[c] = {};
            continue;
        }
        measure_card(cards[c], used[c], node.mixed ? cluster.card_limit(cluster.type(node.cards[c].type).memory) : common, known);
        room.card_memory = std::max(room.card_memory, cards[c].memory);
        room.card_compute = std::max(room.card_compute, cards[c].compute);
    }
    return room;
}

}  // namespace

Room room_of(const Cluster& cluster, int n, CardRoom* cards) { return measure(cluster, n, cards, false); }
Room room_again(const Cluster& cluster, int n, CardRoom* cards) { return measure(cluster, n, cards, true); }

}  // namespace crater::engine
