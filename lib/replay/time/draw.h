// Random draws that are the same everywhere for a seed.
#pragma once

#include <vector>

#include "crater/base/clock.h"
#include "crater/replay/timed.h"

namespace crater::replay {

// Uniform in [0, 1), of 53 random bits.
double draw_uniform(Rng& rng);
double draw_exponential(Rng& rng, double mean);
double draw_normal(Rng& rng);
// Position of one of the weights, with a chance in proportion.
std::size_t draw_weighted(Rng& rng, const std::vector<double>& weights);

// What a scheduler is told of each job's run time; 0 where it is told nothing.
std::vector<Millis> told_durations(const Workload& workload, const TimedOptions& options);

}  // namespace crater::replay
