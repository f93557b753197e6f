#include <bit>

#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

bool gpu_model_asked(const Shape& shape) { return shape.cards > 0; }

bool gpu_model_passes(const Look& look) { return std::popcount(look.cards.model) >= look.shape.cards; }

std::string gpu_model_says(const Look& look) {
    const auto have = std::popcount(look.cards.model);
    const std::string kind = look.shape.gpu_model.empty() ? "card" : look.shape.gpu_model + " card";
    const auto wanted = count_words(look.shape.cards, kind, kind + "s");
    if (look.node.cards.empty()) return "needs " + wanted + ", it has no GPU";
    return "needs " + wanted + " on one node, it has " + std::to_string(have);
}

Measure gpu_model_measure(const Look& look) {
    const auto have = static_cast<double>(std::popcount(look.cards.model));
    return {"cards", static_cast<double>(look.shape.cards), have, have};
}

}  // namespace

extern const Filter gpu_model;
const Filter gpu_model{30, Kind::fixed, "gpu_model", "resources.gpu.model", "Enough cards of the model asked for.", gpu_model_asked, gpu_model_passes, gpu_model_says, gpu_model_measure};

}  // namespace crater::engine::filter
