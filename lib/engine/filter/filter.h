// A filter says whether a node can take a task, and if not, why in words. One file in this folder is one
// filter; the table is generated.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "explain/words.h"
#include "place/look.h"

namespace crater::engine::filter {

enum class Kind {
    fixed,  // depends on what the node is; remembered until its hardware or labels change
    state,  // on whether it takes work, and its cards are well: an empty cluster has these cured
    live,   // on what is really used
    room,   // on what is free
};

// A requirement as an amount, for bars. `has` is free now, `total` what the node has at all.
struct Measure {
    std::string_view unit;
    double needs = 0, has = 0, total = 0;
};

struct Filter {
    int order;  // cheap ones that often decide come first
    Kind kind;
    std::string_view name;
    std::string_view field;  // of the job file, named when the request can never be met
    std::string_view help;
    bool (*asked)(const Shape&);  // whether the request is about this at all
    bool (*passes)(const Look&);
    std::string (*says)(
        const Look&);  // for a node that does not pass: "needs 16 GiB on one card, at most 10 GiB free"
    Measure (*measure)(const Look&) = nullptr;
};

// Filters below this order look at what the node is and whether it takes work, not at what is free: they hold
// whatever is booked.
inline constexpr int standing_below = 40;

std::span<const Filter* const> table();    // by name
std::span<const std::uint8_t> in_order();  // positions in the table, in the order they are asked
const Filter& at(std::size_t position);
int position_of(std::string_view name);  // -1 when there is none

}  // namespace crater::engine::filter
