// One seed's day: a random load under random faults, then peace, in which everything must come to its end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crater/sim/world.h"

namespace crater::sim {

struct Outcome {
    std::uint64_t seed = 0, events = 0, trace_hash = 0;
    std::vector<Violation> violations;
    std::string trace;  // the last lines, when something was wrong or all was asked for
};
Outcome run_seed(std::uint64_t seed, bool keep_trace = false);

}  // namespace crater::sim
