#include <bit>

#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

bool gpu_precision_asked(const Shape& shape) { return !shape.precision.empty(); }

bool gpu_precision_passes(const Look& look) {
    return std::popcount(look.cards.precision) >= look.shape.cards;
}

std::string gpu_precision_says(const Look& look) {
    return "its cards have no " + look.shape.precision + " tensor cores";
}

}  // namespace

extern const Filter gpu_precision;
const Filter gpu_precision{32,
                           Kind::fixed,
                           "gpu_precision",
                           "resources.gpu.precision",
                           "Tensor precision of the cards.",
                           gpu_precision_asked,
                           gpu_precision_passes,
                           gpu_precision_says};

}  // namespace crater::engine::filter
