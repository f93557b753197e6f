#include "place/room.h"

#include <algorithm>
#include <bit>

#include "state/cluster.h"

namespace crater::engine {
namespace {

void measure_amounts(const Node& node, const NodeUse& use, Room& room) {
    room.cpu = std::max<std::int64_t>(0, node.cpu - use.cpu);
    room.cpu_only =
        std::max<std::int64_t>(0, std::min(room.cpu, node.cpu - node.preprocessing - use.cpu_only));
    room.memory = std::max<std::int64_t>(0, node.memory - use.memory);
}

void measure_cards(const Cluster& cluster, int n, Mask these, Room& room, CardRoom* cards) {
    const Node& node = cluster.node(n);
    const CardUse* used = cluster.used().cards.data() + node.cards_at;
    const auto tasks_max = cluster.settings().max_tasks_per_gpu;
    const Mask open = cluster.open_cards(n);
    room.idle &= ~these;
    for (; these; these &= these - 1) {
        const auto c = static_cast<std::size_t>(std::countr_zero(these));
        const CardUse& use = used[c];
        CardRoom& out = cards[c];
        out = {};
        if (!(open >> c & 1) || use.exclusive > 0) continue;
        const auto total =
            cluster.card_limit(node.mixed ? cluster.type(node.cards[c].type).memory : node.card_memory);
        const auto compute = std::max(0, 1000 - use.compute);
        const auto memory = std::max<std::int64_t>(0, total - use.memory);
        if (use.tasks == 0 && compute == 1000) room.idle |= Mask{1} << c;
        if (use.tasks >= tasks_max) continue;
        out.memory = static_cast<std::int32_t>(std::min<std::int64_t>(memory, INT32_MAX));
        out.compute = static_cast<std::int16_t>(compute);
        out.left = static_cast<std::int16_t>(
            total == memory ? compute : std::min<std::int64_t>(compute, memory * 1000 / total));
    }
    room.card_memory = -1;
    room.card_compute = 0;
    for (std::size_t c = 0, count = node.cards.size(); c < count; ++c) {
        room.card_memory = std::max(room.card_memory, cards[c].memory);
        room.card_compute = std::max(room.card_compute, cards[c].compute);
    }
    room.idle_count = static_cast<std::int16_t>(std::popcount(room.idle));
}

}  // namespace

Room room_of(const Cluster& cluster, int n, CardRoom* cards) {
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
    measure_amounts(node, use, room);
    if (count > 0) measure_cards(cluster, n, ~Mask{0} >> (cards_per_node_max - count), room, cards);
    return room;
}

void update_room(const Cluster& cluster, int n, Mask booked, Room& room, CardRoom* cards) {
    const NodeUse& use = cluster.used().nodes[static_cast<std::size_t>(n)];
    if (use.exclusive > 0 || booked == ~Mask{0}) {
        room = room_of(cluster, n, cards);
        return;
    }
    measure_amounts(cluster.node(n), use, room);
    if (booked) measure_cards(cluster, n, booked, room, cards);
}

}  // namespace crater::engine
