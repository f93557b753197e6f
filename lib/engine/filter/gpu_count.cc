#include <bit>

#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

bool gpu_count_asked(const Shape& shape) { return shape.cards > 0; }

bool gpu_count_passes(const Look& look) { return std::popcount(look.cards.whole) >= look.shape.cards; }

std::string gpu_count_says(const Look& look) {
    return "needs " + count_words(look.shape.cards, "whole card", "whole cards") + ", free are " +
           std::to_string(std::popcount(look.cards.whole)) + " of " +
           std::to_string(std::popcount(look.cards.healthy));
}

Measure gpu_count_measure(const Look& look) {
    return {"cards", static_cast<double>(look.shape.cards),
            static_cast<double>(std::popcount(look.cards.whole)),
            static_cast<double>(std::popcount(look.cards.inference))};
}

}  // namespace

extern const Filter gpu_count;
const Filter gpu_count{44,
                       Kind::room,
                       "gpu_count",
                       "resources.gpu.count",
                       "Whole cards that nobody uses.",
                       gpu_count_asked,
                       gpu_count_passes,
                       gpu_count_says,
                       gpu_count_measure};

}  // namespace crater::engine::filter
