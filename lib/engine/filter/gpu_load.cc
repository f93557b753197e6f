#include <bit>

#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

bool gpu_load_asked(const Shape& shape) { return shape.cards > 0; }

bool gpu_load_passes(const Look& look) { return std::popcount(look.cards.load) >= look.shape.cards; }

std::string gpu_load_says(const Look& look) {
    return "its free cards are in use above " +
           std::to_string(static_cast<int>(look.settings().gpu_threshold * 100 + 0.5)) + " %";
}

}  // namespace

extern const Filter gpu_load;
const Filter gpu_load{48,
                      Kind::live,
                      "gpu_load",
                      "resources.gpu.count",
                      "Live GPU use below the threshold.",
                      gpu_load_asked,
                      gpu_load_passes,
                      gpu_load_says};

}  // namespace crater::engine::filter
