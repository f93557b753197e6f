// Everything that can go wrong in the world, by name. A fault is injected at a moment of a seed's story, or a
// number of steps after it, so that it falls between any two steps of any service.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "crater/base/quantity.h"

namespace crater::sim {

enum class Fault : std::uint8_t {
    // The scheduler's process and its disk.
    scheduler_crash,
    crash_before_write,  // a group was handed in, nothing of it is on the disk
    crash_before_reply,  // it is on the disk, the scheduler has not heard
    crash_after_reply,   // the scheduler has heard, and released what waited for it
    scheduler_frozen,    // it hangs, a successor takes its disk, it wakes up and believes that it leads
    disk_slow,
    disk_full,     // the next group is refused
    disk_failing,  // the next groups are written with an error half of the time
    disk_torn,     // half of a group is written, then the power is gone
    scheduler_clock_forward,
    scheduler_clock_back,
    // One node: its agent, its machine, its tasks.
    agent_crash,  // its tasks live on
    agent_older,  // replaced by an older version, for a while
    agent_twin,   // another machine of the same name
    power_loss,   // of the whole machine, its tasks with it
    agent_clock_forward,
    agent_clock_back,
    gpu_lost,   // broken; back when the fault ends
    gpu_gone,   // not there at all after the agent looks again; back when the fault ends
    exit_late,  // what a task reports comes late
    exit_lost,  // not at all while this agent lives: a restart of the agent finds it
    exit_doubled,
    start_hangs,  // a task that starts now never gets ready
    // The network between a node's agent and the scheduler.
    partition,
    cut_to_scheduler,  // what the agent says does not arrive
    cut_to_agent,      // what the scheduler says does not arrive
    link_lost,         // the connection breaks
    delay,
    duplicate,  // what the agent said is said again on its next link
    reorder,    // late words of an old link arrive when the new one is up
    // AllData.
    callbacks_slow,
    callbacks_failing,
    callback_answer_lost,  // taken, but the scheduler hears nothing of it
};

// Whom a fault strikes.
enum class Place : std::uint8_t { scheduler, node, alldata };

struct FaultRow {
    Fault fault;
    std::string_view name;  // "crash_before_write"
    Place place;
    bool lasts;             // has a span; others happen once
    std::string_view what;  // a sentence
};
std::span<const FaultRow> fault_table();
const FaultRow& fault_row(Fault fault);
std::optional<Fault> fault_named(std::string_view name);

struct Injection {
    Fault fault = Fault::scheduler_crash;
    Millis at{0};             // after the world began
    std::uint64_t steps = 0;  // and so many steps of the world later
    int node = 0;             // whom, of faults of a node
    Millis span{0};           // how long it lasts; of clocks: how far they jump
};
// "12340+3 agent_crash n2", "8000+0 partition n1 for 20s"
std::string text_of(const Injection& injection);

}  // namespace crater::sim
