#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

bool gpu_model_asked(const Shape& shape) { return shape.cards > 0 && !shape.gpu_model.empty(); }

bool gpu_model_passes(const Look& look) { return look.cards.model != 0; }

std::string gpu_model_says(const Look& look) {
    if (look.node.cards.empty()) return "it has no GPU";
    return "has no " + look.shape.gpu_model + ", its cards are " +
           look.cluster.type(look.node.cards.front().type).model;
}

}  // namespace

extern const Filter gpu_model;
const Filter gpu_model{29,
                       Kind::fixed,
                       "gpu_model",
                       "resources.gpu.model",
                       "Cards of the model asked for.",
                       gpu_model_asked,
                       gpu_model_passes,
                       gpu_model_says};

}  // namespace crater::engine::filter
