// Which cards and which whole cores of a node a task gets.
#pragma once

#include <optional>

#include "place/look.h"
#include "place/room.h"

namespace crater::engine {

struct CardPick {
    Mask cards = 0;
    bool linked = false;
};
// As many cards as the shape wants out of `from`, linked as it wants; none when that cannot be. No cards
// wanted: an empty pick.
std::optional<CardPick> pick_cards(const Look& look, Mask from);

// Whole physical cores with all their threads, of one domain or of all (-1), for a task that has cards and
// asks for a whole number of them. While they last: otherwise it gets a share of the node's other cores.
void pick_cores(const Node& node, const Ledger& books, std::int64_t cpu, int domain, Slices& out);

// What Look::slices gives for a plain shape on a node that has room for it, from the node's packed room.
// `card`: the one the policy chose, or -1.
void slices_of_room(const Shape& shape, const Cluster& cluster, int node, const Room& room,
                    const CardRoom* cards, int card, Slices& out);

}  // namespace crater::engine
