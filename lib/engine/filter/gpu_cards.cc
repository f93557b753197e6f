#include <bit>

#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

bool gpu_cards_asked(const Shape& shape) { return shape.cards > 0; }

bool gpu_cards_passes(const Look& look) { return std::popcount(look.cards.model) >= look.shape.cards; }

std::string gpu_cards_says(const Look& look) {
    const auto have = std::popcount(look.cards.model);
    const auto wanted = count_words(look.shape.cards, "card", "cards");
    if (look.node.cards.empty()) return "needs " + wanted + ", it has no GPU";
    return "needs " + wanted + " on one node, it has " + std::to_string(have);
}

Measure gpu_cards_measure(const Look& look) {
    const auto have = static_cast<double>(std::popcount(look.cards.model));
    return {"cards", static_cast<double>(look.shape.cards), have, have};
}

}  // namespace

extern const Filter gpu_cards;
const Filter gpu_cards{30,
                       Kind::fixed,
                       "gpu_cards",
                       "resources.gpu.count",
                       "As many right cards as asked for on one node.",
                       gpu_cards_asked,
                       gpu_cards_passes,
                       gpu_cards_says,
                       gpu_cards_measure};

}  // namespace crater::engine::filter
