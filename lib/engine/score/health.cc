#include <algorithm>
#include <bit>

#include "score/score.h"

namespace crater::engine::score {
namespace {

// The warmest card it gets decides: above 70 °C cards slow down sooner or later. A node of which cards are
// out of order (ECC errors, a lost link) is trusted less with its others.
double health_value(const Look& look, const Choice& choice) {
    const Node& node = look.node;
    const auto in_order = static_cast<std::size_t>(std::popcount(node.usable));
    if (look.shape.cards == 0 || (node.live.heat.empty() && in_order == node.cards.size())) return 1;
    int warmest = 0;
    for (Mask left = choice.cards; left; left &= left - 1)
        warmest = std::max(warmest, node.live.heat_of(static_cast<std::size_t>(std::countr_zero(left))));
    const double well = static_cast<double>(in_order) / static_cast<double>(node.cards.size());
    return well * (1 - static_cast<double>(warmest) / heat_steps);
}

}  // namespace

extern const Score health;
const Score health{
    "health",
    "How cool the cards are that it gets (70 °C is well, 90 °C is not), and how many cards of the node are in order.",
    health_value};

}  // namespace crater::engine::score
