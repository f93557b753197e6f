// Makes a scenario that fails smaller while it still fails: fewer steps and faults, a shorter day, fewer
// nodes, calmer weather, plainer jobs. Deterministic: the same scenario and the same answers give the same
// result. Asks at most `runs_max` times.
#pragma once

#include <functional>

#include "crater/sim/scenario.h"

namespace crater::sim {

// Whether a scenario still fails in the way that is looked for.
using StillFails = std::function<bool(const Scenario&)>;

struct Shrunk {
    Scenario scenario;
    int runs = 0;
};
Shrunk shrink(Scenario scenario, const StillFails& still_fails, int runs_max = 400);

}  // namespace crater::sim
