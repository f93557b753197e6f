// One seed's day: what a cluster is, what its users ask of it and what goes wrong, drawn as a whole before it
// is played, so that it can be printed, kept in a file and made smaller. Playing a scenario twice gives the
// same trace.
//
//     const Scenario day = draw(7);
//     const Outcome outcome = play(day);
//
// First the faults and the load, in which nothing may be lost, doubled or over; then peace, in which
// everything must come to its end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "crater/sim/world.h"

namespace crater::sim {

enum class Act : std::uint8_t {
    submit,
    cancel,
    evict,
    drain,
    drain_evict,
    taint,
    maintain,
    quota,
    defragment
};
std::span<const EnumName<Act>> enum_names(Act);

// What somebody asks of the cluster at a moment.
struct Step {
    Millis at{0};  // after the world began
    Act act = Act::submit;
    std::string job;           // submit, cancel, evict
    JobSpec spec;              // submit
    std::int64_t node = 0;     // drain, taint, maintain: position
    Millis after{0}, span{0};  // how long it lasts; of a maintenance also how far ahead it is said
    std::string tenant;        // quota
    Quota quota;
};

struct Scenario {
    WorldOptions options;     // with its nodes named one by one
    Millis length{120'000};   // until the faults end
    std::vector<Step> steps;  // by time
    std::vector<Injection> faults;
};

// The swarm: each seed has its own hardware, settings, kinds of jobs and kinds of faults.
Scenario draw(std::uint64_t seed);

struct Outcome {
    Counts counts;
    Coverage coverage;
    Millis elapsed{0};  // virtual
    std::uint64_t trace_hash = 0;
    std::vector<Violation> violations;
    std::string trace;  // the last lines of what happened, without heartbeats
};
enum class Tell : std::uint8_t { failures, everything };
// Up to the first violation. Of a day without one the trace is told only when everything is.
Outcome play(const Scenario& scenario, Tell tell = Tell::failures);

// Without the jobs, nodes and steps that name what is not there any more, by time: what is left after
// something was taken out.
Scenario tidied(Scenario scenario);

// A line for each node, step and fault, by time: for people.
std::string story(const Scenario& scenario);

// As YAML, without what is as usual; and back. Errors name the field, what was found and what is allowed.
std::string write_scenario(const Scenario& scenario);
Result<Scenario> read_scenario(std::string_view yaml);

}  // namespace crater::sim
