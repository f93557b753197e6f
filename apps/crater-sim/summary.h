// What many seeds came to, in words.
#pragma once

#include <ostream>

#include "crater/sim/crew.h"

namespace crater::sim {

struct Summary {
    std::uint64_t seeds = 0, violations = 0, twice = 0, events = 0, faults = 0, idle_faults = 0, jobs = 0,
                  messages = 0, commits = 0;
    Millis elapsed{0};
    Coverage coverage;

    void add(const Report& report);
    // `real` seconds on the clock with `processes` at work, `cpu` seconds of theirs.
    void print(std::ostream& out, double real, double cpu, int processes) const;
    void print_coverage(std::ostream& out) const;
};

}  // namespace crater::sim
