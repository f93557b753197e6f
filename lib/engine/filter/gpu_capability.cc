#include <algorithm>
#include <bit>

#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

std::string version(int number) { return std::to_string(number / 100) + "." + std::to_string(number % 100); }

bool gpu_capability_asked(const Shape& shape) { return shape.capability > 0; }

bool gpu_capability_passes(const Look& look) {
    return std::popcount(look.cards.capability) >= look.shape.cards;
}

std::string gpu_capability_says(const Look& look) {
    int best = 0;
    for (std::size_t c = 0; c < look.node.cards.size(); ++c)
        if (look.cards.model >> c & 1)
            best = std::max(best, look.cluster.type(look.node.cards[c].type).capability);
    return "needs compute capability " + version(look.shape.capability) + ", its cards have " + version(best);
}

}  // namespace

extern const Filter gpu_capability;
const Filter gpu_capability{31,
                            Kind::fixed,
                            "gpu_capability",
                            "resources.gpu.min_compute_capability",
                            "CUDA compute capability of the cards.",
                            gpu_capability_asked,
                            gpu_capability_passes,
                            gpu_capability_says};

}  // namespace crater::engine::filter
