#include "score/cached_part.h"
#include "score/score.h"

namespace crater::engine::score {
namespace {

double model_cache_value(const Look& look, const Choice& choice) {
    (void)choice;
    return cached_part(look.shape.data->model_keys, look.node);
}

bool model_cache_asked(const Shape& shape) { return shape.data && !shape.data->model_keys.empty(); }

}  // namespace

extern const Score model_cache;
const Score model_cache{"model_cache",
                        "The part of the job's models whose weights the node has in its cache.",
                        model_cache_value, model_cache_asked};

}  // namespace crater::engine::score
