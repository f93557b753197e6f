// The same cluster with pods that end: a loss system. Pods arrive at random (a Poisson process), drawn from
// the trace's list with equal chance, hold what they got for a random time (exponential), and are lost when
// they do not fit at once.
//
// Times and pods come from the seed alone, so every policy meets the same arrivals. Figures count GPU-time:
// milli-GPU asked for times the holding time.
#pragma once

#include "crater/replay/replay.h"

namespace crater::replay {

struct DepartureOptions {
    double offered = 0.95;  // GPU in use if nothing were refused, as a part of the cluster's
    std::int64_t arrivals = 60'000;
    Millis holding_mean{3'600'000};
    double uncounted = 0.3;  // the first part of the arrivals, in which the cluster fills
    std::uint64_t seed = 42;
};

struct LossFigures {
    double refused_percent = 0;             // GPU-time of refused pods, in percent of all offered
    double refused_multi_card_percent = 0;  // of that of pods of several cards
    double used_percent = 0;                // of the cluster's GPU, the mean that arrivals met
    std::int64_t arrived = 0, counted = 0, refused = 0;  // pods; refused: of the counted
    std::int64_t micros = 0;                             // of the clock given
    double decisions_per_second() const;
};
// Aborts when a placement overbooks a server. `trace.arrivals` is not used.
LossFigures run_departures(const Trace& trace, Placer& placer, const DepartureOptions& options,
                           const Clock& clock, const Progress& progress = {});

}  // namespace crater::replay
