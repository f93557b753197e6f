#include <bit>

#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

bool gpu_health_asked(const Shape& shape) { return shape.cards > 0; }

bool gpu_health_passes(const Look& look) { return std::popcount(look.cards.healthy) >= look.shape.cards; }

std::string gpu_health_says(const Look& look) {
    std::string why;
    for (std::size_t c = 0; c < look.node.cards.size(); ++c) {
        const std::string& fault = look.node.card_texts[c].fault;
        if (!look.node.cards[c].usable && why.empty() && !fault.empty())
            why = " (card " + std::to_string(look.node.cards[c].index) + ": " + fault + ")";
    }
    return "needs " + count_words(look.shape.cards, "healthy card", "healthy cards") + ", it has " +
           std::to_string(std::popcount(look.cards.healthy)) + why;
}

}  // namespace

extern const Filter gpu_health;
const Filter gpu_health{35,
                        Kind::state,
                        "gpu_health",
                        "resources.gpu.count",
                        "Enough cards are healthy.",
                        gpu_health_asked,
                        gpu_health_passes,
                        gpu_health_says};

}  // namespace crater::engine::filter
