#include <algorithm>
#include <bit>

#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

bool gpu_compute_asked(const Shape& shape) { return shape.cards > 0; }

bool gpu_compute_passes(const Look& look) { return std::popcount(look.cards.compute) >= look.shape.cards; }

std::string gpu_compute_says(const Look& look) {
    std::int64_t most = 0, needs = 1000;
    for (std::size_t c = 0; c < look.node.cards.size(); ++c)
        if (look.cards.whole >> c & 1) {
            needs = std::min(needs, look.need(c).compute);
            most = std::max<std::int64_t>(most, 1000 - look.card(c).compute);
        }
    return "needs " + std::to_string((needs + 9) / 10) + " % of a card's compute, at most " +
           std::to_string(std::max<std::int64_t>(0, most) / 10) + " % free";
}

}  // namespace

extern const Filter gpu_compute;
const Filter gpu_compute{45,
                         Kind::room,
                         "gpu_compute",
                         "resources.gpu.compute",
                         "Free compute on one card.",
                         gpu_compute_asked,
                         gpu_compute_passes,
                         gpu_compute_says};

}  // namespace crater::engine::filter
