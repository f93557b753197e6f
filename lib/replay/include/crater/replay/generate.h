// Made-up work: "poisson:jobs=1000,load=0.9,run=1h,cards=1/2/8,share=0.3,memory=2/4/8", "burst:burst=50,...",
// or a published generator by name: kueue-large, kueue-baseline. The same for a seed, everywhere.
#pragma once

#include "crater/replay/workload.h"

namespace crater::replay {

std::vector<std::string> generator_names();
// Errors name what was found, what is allowed and the nearest name.
Result<Workload> generate(const std::string& spec, const Fleet& fleet, std::uint64_t seed);

}  // namespace crater::replay
