// What the weighted policies are made of: presets of weights over the scores. Which policy is of which kind:
// place/level.h.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "crater/model/tenant.h"

namespace crater::engine {

struct Shape;

bool packs(Policy policy);  // fills nodes: the load and capacity terms are turned round
// Weights in the order of score::table(): those of the policy for a shape that no special term is about
// (score::Score::asked); and for any shape, with what a queue has instead.
std::span<const double> usual_weights(Policy policy);
std::vector<double> weights_of(Policy policy, const PlacementWeights& own, const Shape& shape);

}  // namespace crater::engine
