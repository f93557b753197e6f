// A placement policy is a documented preset of weights over the scores.
#pragma once

#include <span>
#include <string_view>

#include "crater/model/tenant.h"

namespace crater::engine {

bool packs(Policy policy);  // fills nodes: the load and capacity terms are turned round
// Weights in the order of score::table().
std::span<const double> weights_of(Policy policy);

}  // namespace crater::engine
