#include "explain/data_words.h"
#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

bool data_locality_asked(const Shape& shape) { return shape.data && shape.data->required; }

// What an empty cluster could hold has nothing to do with what lies in caches: that comes and goes.
bool data_locality_passes(const Look& look) {
    return look.when == When::empty || look.shape.data->all_in(look.node.data);
}

std::string data_locality_says(const Look& look) { return missing_data_words(*look.shape.data, look.node); }

}  // namespace

extern const Filter data_locality;
// before whether a node takes work: one that lacks the data would not do anyway
const Filter data_locality{9,
                           Kind::fixed,
                           "data_locality",
                           "data_locality",
                           "All datasets and models that the job requires are in the node's cache.",
                           data_locality_asked,
                           data_locality_passes,
                           data_locality_says};

}  // namespace crater::engine::filter
