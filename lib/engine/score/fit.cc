#include <algorithm>
#include <bit>

#include "score/score.h"

namespace crater::engine::score {
namespace {

double fit_value(const Look& look, const Choice& choice) {
    if (look.shape.cards == 0) {
        if (look.node.cpu <= 0) return 0;
        const double left =
            static_cast<double>(look.cpu_free() - look.shape.cpu) / static_cast<double>(look.node.cpu);
        return std::clamp(1 - left, 0.0, 1.0);
    }
    // Whole cards: the fewest free ones left on the node. Slices: the least memory left on their cards.
    std::int64_t left = 0, total = 0;
    bool whole = false;
    for (std::size_t c = 0; c < look.node.cards.size(); ++c) {
        if (!(choice.cards >> c & 1)) continue;
        whole |= look.need(c).whole;
        left += look.card_memory_free(c) - look.need(c).memory;
        total += look.cluster.type(look.node.cards[c].type).memory;
    }
    if (!whole)
        return total > 0 ? std::clamp(1 - static_cast<double>(left) / static_cast<double>(total), 0.0, 1.0)
                         : 0;
    const auto free = std::popcount(look.cards.load) - look.shape.cards;
    return 1 -
           static_cast<double>(free) / static_cast<double>(std::max<std::size_t>(1, look.node.cards.size()));
}

}  // namespace

extern const Score fit;
const Score fit{"fit", "How exactly the task fills what is left: of the cards it gets, else of the cores.",
                fit_value};

}  // namespace crater::engine::score
