#include "score/score.h"

namespace crater::engine::score {
namespace {

double fragmentation_value(const Look& look, const Choice& choice) {
    if (look.shape.cards == 0) return 1;
    int opened = 0;
    for (std::size_t c = 0; c < look.node.cards.size(); ++c) {
        if (!(choice.cards >> c & 1)) continue;
        if (!look.need(c).whole && look.card(c).tasks == 0) ++opened;
    }
    return 1 - static_cast<double>(opened) / look.shape.cards;
}

}  // namespace

extern const Score fragmentation;
const Score fragmentation{
    "fragmentation",
    "Whether the task leaves untouched cards whole, and groups of free cards that others can use.",
    fragmentation_value};

}  // namespace crater::engine::score
