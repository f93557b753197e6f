#include "place/cards.h"

#include <algorithm>
#include <array>
#include <bit>
#include <climits>

#include "place/level.h"

namespace crater::engine {
namespace {

bool has(Mask mask, std::size_t card) { return mask >> card & 1; }

// All cards that `start` reaches through links within `within`.
Mask linked_with(const Node& node, std::size_t start, Mask within) {
    Mask seen = Mask{1} << start, todo = seen;
    while (todo) {
        const auto c = static_cast<std::size_t>(std::countr_zero(todo));
        todo &= todo - 1;
        const Mask next = node.cards[c].peers & within & ~seen;
        seen |= next;
        todo |= next;
    }
    return seen;
}

struct Groups {
    std::array<Mask, cards_per_node_max> masks;
    std::size_t count = 0;
};
Groups linked_groups(const Node& node, Mask from) {
    Groups out;
    for (Mask left = from; left;) {
        const Mask group = linked_with(node, static_cast<std::size_t>(std::countr_zero(left)), from);
        out.masks[out.count++] = group;
        left &= ~group;
    }
    return out;
}
Groups domain_groups(const Node& node, Mask from) {
    Groups out;
    for (std::size_t d = 0; d < node.domains.size(); ++d)
        if (const Mask group = from & node.cards_in(static_cast<int>(d));
            group && out.count < out.masks.size())
            out.masks[out.count++] = group;
    return out;
}

// The smallest group that is large enough; 0 when none is.
Mask tightest(const Groups& groups, int wanted) {
    Mask best = 0;
    for (std::size_t g = 0; g < groups.count; ++g) {
        const int size = std::popcount(groups.masks[g]);
        if (size >= wanted && (best == 0 || size < std::popcount(best))) best = groups.masks[g];
    }
    return best;
}

// Lower is taken first: the fullest card that serves (the emptiest when spreading), then one whose domain has
// room too.
std::int64_t rank_of(const Look& look, std::size_t c) {
    const auto left = look.card_left(c) / left_step_size;
    const int domain = look.node.cards[c].domain;
    const bool holds = look.shape.numa != NumaPolicy::none && domain >= 0 &&
                       look.domain_holds(static_cast<std::size_t>(domain));
    return (look.shape.policy == Policy::spread ? -left : left) * 2 + (holds ? 0 : 1);
}

Mask lowest(const Look& look, Mask from, int wanted) {
    if (std::popcount(from) == wanted) return from;
    std::array<std::pair<std::int64_t, std::size_t>, cards_per_node_max> order;
    std::size_t count = 0;
    for (std::size_t c = 0; c < look.node.cards.size(); ++c)
        if (has(from, c)) order[count++] = {rank_of(look, c), c};
    std::partial_sort(order.begin(), order.begin() + wanted,
                      order.begin() + static_cast<std::ptrdiff_t>(count));
    Mask out = 0;
    for (int i = 0; i < wanted; ++i) out |= Mask{1} << order[static_cast<std::size_t>(i)].second;
    return out;
}

// Grows from the best card along links, so that what is taken hangs together.
Mask connected(const Look& look, Mask group, int wanted) {
    Mask out = lowest(look, group, 1);
    while (std::popcount(out) < wanted) {
        Mask edge = 0;
        for (std::size_t c = 0; c < look.node.cards.size(); ++c)
            if (has(out, c)) edge |= look.node.cards[c].peers;
        out |= lowest(look, edge & group & ~out, 1);
    }
    return out;
}

bool hangs_together(const Node& node, Mask cards) {
    return std::popcount(cards) < 2 ||
           linked_with(node, static_cast<std::size_t>(std::countr_zero(cards)), cards) == cards;
}

}  // namespace

std::optional<CardPick> pick_cards(const Look& look, Mask from) {
    const int wanted = look.shape.cards;
    if (wanted == 0) return CardPick{};
    if (std::popcount(from) < wanted) return std::nullopt;
    if (wanted == 1) return CardPick{lowest(look, from, 1), true};

    const Node& node = look.node;
    if (look.shape.interconnect != Interconnect::same_numa)
        if (const Mask group = tightest(linked_groups(node, from), wanted))
            return CardPick{connected(look, group, wanted), true};
    if (look.shape.interconnect == Interconnect::nvlink) return std::nullopt;
    if (const Mask group = tightest(domain_groups(node, from), wanted)) {
        const Mask cards = lowest(look, group, wanted);
        return CardPick{cards, hangs_together(node, cards)};
    }
    if (look.shape.interconnect == Interconnect::same_numa) return std::nullopt;
    return CardPick{lowest(look, from, wanted), false};
}

void pick_cores(const Node& node, const Ledger& books, std::int64_t cpu, int domain, Slices& out) {
    const Board& board = *node.board;
    const auto wanted = cpu / 1000;
    if (wanted == 0 || cpu % 1000 != 0) return;
    const auto& may = domain < 0 ? board.free.back() : board.free[static_cast<std::size_t>(domain)];
    std::int64_t have = 0;
    CoreSet cores;
    for (std::size_t w = 0; w < may.size(); ++w)
        for (auto left = may[w] & ~books.cores[static_cast<std::size_t>(node.cores_at) + w];
             left && have < wanted; left &= left - 1) {
            const auto position = w * 64 + static_cast<std::size_t>(std::countr_zero(left));
            const auto threads = static_cast<std::int64_t>(board.cores[position].cpus.size());
            if (have + threads > wanted) continue;
            have += threads;
            cores.add(position);
        }
    if (have == wanted) out.cores = std::move(cores);
}

namespace {

bool holds(const Shape& shape, const Domain& domain, const DomainUse& used) {
    return shape.cpu <= domain.cpu - used.cpu && shape.memory <= domain.memory - used.memory &&
           used.bandwidth <= domain.bandwidth;
}

// As `lowest` takes it: the fullest that serves, then one whose domain has room too, then the first.
std::size_t card_of_room(const CardNeed& need, Mask idle, const CardRoom* cards, std::size_t count,
                         Mask beside) {
    int best = INT_MAX;
    std::size_t out = 0;
    for (std::size_t c = 0; c < count; ++c) {
        const bool serves =
            need.whole ? has(idle, c) : cards[c].memory >= need.room() && cards[c].compute >= need.compute;
        const int rank = cards[c].left / left_step_size * 2 + (has(beside, c) ? 0 : 1);
        if (serves && rank < best) best = rank, out = c;
    }
    return out;
}

}  // namespace

void slices_of_room(const Shape& shape, const Cluster& cluster, int n, const Room& room,
                    const CardRoom* cards, int card, Slices& out) {
    const Node& node = cluster.node(n);
    out.node = n;
    out.cpu = shape.cpu;
    out.memory = shape.memory;
    out.cpu_only = shape.cards == 0;
    if (out.cpu_only) return;
    const DomainUse* used = cluster.used().domains.data() + node.domains_at;
    Mask beside = 0;
    for (std::size_t d = 0; d < node.domains.size() && shape.numa != NumaPolicy::none; ++d)
        if (holds(shape, node.domains[d], used[d])) beside |= node.domain_cards[d];
    const CardNeed& need = shape.need(cluster, room.card_type);
    const auto c = card >= 0 ? static_cast<std::size_t>(card)
                             : card_of_room(need, room.idle, cards, node.cards.size(), beside);
    out.cards.push_back(need.slice(c));
    int home = -1;
    for (std::size_t d = 0; d < node.domains.size(); ++d)
        if (has(node.domain_cards[d], c)) home = static_cast<int>(d);
    if (has(beside, c) && node.domains[static_cast<std::size_t>(home)].id >= 0) out.domain = home;
    pick_cores(node, cluster.used(), shape.cpu, home, out);
}

}  // namespace crater::engine
