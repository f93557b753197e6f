#include <algorithm>

#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

std::string missing(const Look& look) {
    const auto& have = look.node.inventory->cpu_features;
    for (const auto& feature : look.shape.cpu_features)
        if (std::find(have.begin(), have.end(), feature) == have.end()) return feature;
    return {};
}

bool cpu_features_asked(const Shape& shape) { return !shape.cpu_features.empty(); }

bool cpu_features_passes(const Look& look) { return missing(look).empty(); }

std::string cpu_features_says(const Look& look) { return "its CPU lacks " + missing(look); }

}  // namespace

extern const Filter cpu_features;
const Filter cpu_features{24,
                          Kind::fixed,
                          "cpu_features",
                          "resources.cpu.features",
                          "Instruction sets the node must have.",
                          cpu_features_asked,
                          cpu_features_passes,
                          cpu_features_says};

}  // namespace crater::engine::filter
