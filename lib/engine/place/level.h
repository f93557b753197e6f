// How good a node is for a shape, as one whole number: what is compared between nodes, higher is better,
// equal goes by name. The weighted policies add terms up (score.h). The others order by one thing after the
// other, packed into the number, so that it can be had from the room of a node alone and be read back into
// terms.
#pragma once

#include <cstdint>
#include <vector>

#include "crater/engine/explain.h"
#include "place/look.h"
#include "place/room.h"

namespace crater::engine {

// Cards at most one, nothing of disks, bandwidth, links or NUMA domains that must be met: the room tells
// whether it fits.
bool is_plain(const Shape& shape);

// What a level and the index see of amounts: free cores in classes, what is left of a card in hundredths.
inline constexpr std::size_t cpu_classes = 8, left_steps = 100;
inline constexpr int left_step_size = 10;       // thousandths of a card
std::size_t cpu_class(std::int64_t milli_cpu);  // 0, from 1, 2, 4, 8, 16, 32, 64 cores
std::size_t left_step(const CardNeed& need,
                      std::int64_t card_memory);  // the least step that a card must have left for it

// It takes as much of a card's compute as of its memory, so that what is left of a card tells whether it
// fits.
bool is_square(const CardNeed& need, std::int64_t card_memory);

struct Level {
    std::int32_t value = -1;  // -1: does not fit
    int card = -1;            // the card, when the policy chose one
};

// best_fit: links of the cards it gets, then the least left over: on the card, in steps, or of idle cards;
// then the fewest free cores, in classes. Work without a GPU goes to nodes without one, then to those with
// the fewest idle cards.
Level fit_level(const Shape& shape, const CardNeed* need, std::int64_t card_memory, const Room& room,
                const CardRoom* cards, std::size_t count);
Level fit_level(const Look& look);
// Of a node that leaves so much over and has so many free cores.
std::int32_t fit_level_of(std::size_t left, std::size_t cores);
std::vector<ScoreTerm> fit_terms(std::int32_t level);

}  // namespace crater::engine
