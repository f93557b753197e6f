// The published experiment: pods arrive one at a time in the given order, each is placed at once or refused
// for good, none ever leaves. Deciding and measuring are apart, so that the figures of every policy come from
// the same code and from nothing but its placements.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "crater/base/clock.h"
#include "crater/replay/placer.h"

namespace crater::replay {

using Progress = std::function<void(std::int64_t done, std::int64_t all)>;  // called about a thousand times

struct Decisions {
    std::vector<Placement> placements;  // one per arrival
    std::int64_t micros = 0;            // of the clock given, deciding alone
    // of these, arrivals on whose occasion something was learned
    std::int64_t learning = 0, learning_micros = 0;
    double per_second() const;
    double per_second_learning_aside() const;
};
Decisions replay(const Trace& trace, Placer& placer, const Clock& clock, const Progress& progress = {});

// Arrived GPU request in percent of the cluster, at which figures are published.
inline constexpr std::array<int, 4> loads = {100, 110, 120, 130};

// Percent of the cluster's GPU. At a load: the mean over the arrivals after which the arrived GPU, refused
// pods included, rounds to that percentage; none when the trace does not come so far.
struct Figures {
    std::array<std::optional<double>, loads.size()> allocation;  // in use
    std::array<std::optional<double>, loads.size()>
        fragmentation;  // free and of no use to a typical pod: the FGD paper's "frag amount"
    std::int64_t arrived = 0, placed = 0;  // pods
    std::int64_t used = 0, gpu = 0;        // milli, at the end; of the cluster
};
// Aborts when the placements overbook a server.
Figures measure(const Trace& trace, const std::vector<Placement>& placements);

}  // namespace crater::replay
