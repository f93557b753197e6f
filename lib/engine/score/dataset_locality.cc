#include "score/cached_part.h"
#include "score/score.h"

namespace crater::engine::score {
namespace {

double dataset_locality_value(const Look& look, const Choice& choice) {
    (void)choice;
    return cached_part(look.shape.data->dataset_keys, look.node);
}

bool dataset_locality_asked(const Shape& shape) { return shape.data && !shape.data->dataset_keys.empty(); }

}  // namespace

extern const Score dataset_locality;
const Score dataset_locality{"dataset_locality",
                             "The part of the job's datasets that the node has in its cache.",
                             dataset_locality_value, dataset_locality_asked};

}  // namespace crater::engine::score
