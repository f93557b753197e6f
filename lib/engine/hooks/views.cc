// What a hook is shown of a node.
#include <algorithm>

#include "crater/engine/hooks.h"

namespace crater::engine {
namespace {

constexpr std::size_t cards_shown_max = 64;  // as many as a mask has bits

template <class Amount>
Amount left_of(Amount total, Amount used) {
    return std::max(Amount(0), total - used);
}

// Where the card with this index stands; mostly there.
std::size_t position_of(std::int64_t index, const NodeInventory& inventory) {
    const auto& gpus = inventory.gpus;
    const auto at = static_cast<std::size_t>(index);
    if (at < gpus.size() && gpus[at].index == index) return at;
    std::size_t c = 0;
    while (c < gpus.size() && gpus[c].index != index) ++c;
    return c;
}

// A link that one end reports is there for both.
void add_peers(const NodeInventory& inventory, std::vector<CardView>& cards) {
    for (std::size_t c = 0; c < cards.size(); ++c)
        for (const std::int64_t peer : inventory.gpus[c].nvlink_peers) {
            const std::size_t other = position_of(peer, inventory);
            if (other >= cards.size() || other == c) continue;
            cards[c].peers |= std::uint64_t{1} << other;
            cards[other].peers |= std::uint64_t{1} << c;
        }
}

std::vector<CardView> cards_of(const NodeInventory& inventory, const NodeBook& book) {
    std::vector<CardView> out(std::min(inventory.gpus.size(), cards_shown_max));
    for (std::size_t c = 0; c < out.size(); ++c) {
        const CardBook used = c < book.cards.size() ? book.cards[c] : CardBook{};
        CardView& card = out[c];
        card.gpu = &inventory.gpus[c];
        card.memory_free = used.exclusive ? Mebibytes(0) : left_of(card.gpu->memory, used.memory_used);
        card.compute_free = used.exclusive ? MilliGpu(0) : left_of(MilliGpu(1000), used.compute_used);
        card.tasks = used.tasks;
        card.taken = used.exclusive;
    }
    add_peers(inventory, out);
    for (CardView& card : out)
        if (card.peers != 0) card.nvlink = nvlink_bandwidth(card.gpu->model);
    return out;
}

}  // namespace

NodeView view_of(const NodeInventory& inventory, const NodeBook& book, Neighbours neighbours, double score,
                 std::uint64_t chosen) {
    NodeView out{.inventory = &inventory};
    out.cpu_total = book.cpu_total, out.cpu_free = left_of(book.cpu_total, book.cpu_used);
    out.memory_total = book.memory_total, out.memory_free = left_of(book.memory_total, book.memory_used);
    out.bandwidth_total = book.bandwidth_total;
    out.bandwidth_free = left_of(book.bandwidth_total, book.bandwidth_used);
    out.disk_total = book.disk_total, out.disk_free = left_of(book.disk_total, book.disk_used);
    out.iops_total = book.iops_total, out.iops_free = left_of(book.iops_total, book.iops_used);
    out.cards = cards_of(inventory, book);
    out.tasks = book.tasks;
    out.tenant_tasks = neighbours.of_tenant;
    out.job_tasks = neighbours.of_job;
    out.chosen = chosen;
    out.score = score;
    return out;
}

}  // namespace crater::engine
