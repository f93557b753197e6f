#include <bit>

#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

bool gpu_inference_part_asked(const Shape& shape) { return shape.cards > 0 && shape.inference; }

bool gpu_inference_part_passes(const Look& look) {
    return std::popcount(look.cards.inference) >= look.shape.cards;
}

std::string gpu_inference_part_says(const Look& look) {
    const auto percent =
        std::to_string(static_cast<int>(look.settings().inference_max_gpu_fraction * 100 + 0.5));
    return "an inference task may take at most " + percent + " % of a card that it shares";
}

}  // namespace

extern const Filter gpu_inference_part;
const Filter gpu_inference_part{34,
                                Kind::fixed,
                                "gpu_inference_part",
                                "resources.gpu.memory",
                                "An inference task takes at most a set part of a card it shares.",
                                gpu_inference_part_asked,
                                gpu_inference_part_passes,
                                gpu_inference_part_says};

}  // namespace crater::engine::filter
