// What the users of one seed's cluster submit.
#pragma once

#include <algorithm>

#include "crater/base/clock.h"
#include "crater/sim/scenario.h"

namespace crater::sim {

// Which kinds of jobs there are in a seed's day.
struct JobKinds {
    bool gangs = false, shared_cards = false, cpu_only = false, dependencies = false, gives_way = false,
         all_give_way = false, restarts = false, time_limits = false, inference = false, tenants = false,
         cancels = false, evictions = false, large_memory = false, topology = false;
};
JobKinds draw_kinds(Rng& rng);

// Tenants with caps of their own: those of the first hold for the others below it.
const std::vector<std::string>& capped_tenants();

// Appends the submits, cancels and evictions, unsorted.
void draw_jobs(Rng& rng, const JobKinds& kinds, const std::vector<hw::SimulatedNode>& nodes, Millis length,
               std::vector<Step>& steps);

// Appends a few jobs that are there from the beginning and run for `least` and longer.
void draw_long_jobs(Rng& rng, const JobKinds& kinds, const std::vector<hw::SimulatedNode>& nodes,
                    Millis least, std::vector<Step>& steps);

}  // namespace crater::sim
