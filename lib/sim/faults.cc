#include "crater/sim/faults.h"

#include <array>

#include "crater/base/error.h"

namespace crater::sim {
namespace {

using enum Fault;

constexpr FaultRow fault_rows[] = {
    {scheduler_crash, "scheduler_crash", Place::scheduler, false,
     "The scheduler's process dies and is started again."},
    {crash_before_write, "crash_before_write", Place::scheduler, false,
     "It dies with its next group handed in and not written."},
    {crash_before_reply, "crash_before_reply", Place::scheduler, false,
     "It dies with its next group written and not heard of."},
    {crash_after_reply, "crash_after_reply", Place::scheduler, false,
     "It dies right after it released what waited for its next group."},
    {scheduler_frozen, "scheduler_frozen", Place::scheduler, true,
     "It hangs; a successor takes over; it wakes and believes that it leads."},
    {disk_slow, "disk_slow", Place::scheduler, true, "Each group takes up to three seconds."},
    {disk_full, "disk_full", Place::scheduler, false, "The next group finds no room."},
    {disk_failing, "disk_failing", Place::scheduler, true,
     "Half of the groups end with an error of the disk."},
    {disk_torn, "disk_torn", Place::scheduler, false, "The power goes while the next group is half written."},
    {scheduler_clock_forward, "scheduler_clock_forward", Place::scheduler, true,
     "The scheduler's wall clock jumps ahead."},
    {scheduler_clock_back, "scheduler_clock_back", Place::scheduler, true,
     "The scheduler's wall clock jumps back."},
    {agent_crash, "agent_crash", Place::node, false,
     "An agent's process dies and is started again; its tasks live on."},
    {agent_older, "agent_older", Place::node, true, "An agent is replaced by one of an older version."},
    {agent_twin, "agent_twin", Place::node, true, "A second machine's agent says that it is this node."},
    {power_loss, "power_loss", Place::node, false, "A machine loses its power and all that ran on it."},
    {agent_clock_forward, "agent_clock_forward", Place::node, true, "A machine's wall clock jumps ahead."},
    {agent_clock_back, "agent_clock_back", Place::node, true, "A machine's wall clock jumps back."},
    {gpu_lost, "gpu_lost", Place::node, true, "A card of a machine is not healthy."},
    {gpu_gone, "gpu_gone", Place::node, true, "A card of a machine is not there."},
    {exit_late, "exit_late", Place::node, true, "A machine's tasks are heard of late."},
    {exit_lost, "exit_lost", Place::node, true,
     "A machine's exits are not heard of before its agent is started anew."},
    {exit_doubled, "exit_doubled", Place::node, true, "A machine's exits are heard of twice."},
    {start_hangs, "start_hangs", Place::node, true, "What is started on a machine never gets ready."},
    {partition, "partition", Place::node, true, "Nothing passes between an agent and the scheduler."},
    {cut_to_scheduler, "cut_to_scheduler", Place::node, true,
     "Nothing passes from an agent to the scheduler."},
    {cut_to_agent, "cut_to_agent", Place::node, true, "Nothing passes from the scheduler to an agent."},
    {link_lost, "link_lost", Place::node, false, "An agent's connection breaks."},
    {delay, "delay", Place::node, true, "An agent's connection takes seconds for a message."},
    {duplicate, "duplicate", Place::node, false, "What an agent said last is said again on its next link."},
    {reorder, "reorder", Place::node, false,
     "A connection breaks, and its last words arrive when the next one is up."},
    {callbacks_slow, "callbacks_slow", Place::alldata, true, "AllData takes long to answer."},
    {callbacks_failing, "callbacks_failing", Place::alldata, true, "AllData answers with errors."},
    {callback_answer_lost, "callback_answer_lost", Place::alldata, true,
     "AllData takes a callback, and its answer is lost."},
};

}  // namespace

std::span<const FaultRow> fault_table() { return fault_rows; }

const FaultRow& fault_row(Fault fault) {
    const auto index = static_cast<std::size_t>(fault);
    CRATER_CHECK(index < std::size(fault_rows) && fault_rows[index].fault == fault);
    return fault_rows[index];
}

std::optional<Fault> fault_named(std::string_view name) {
    for (const FaultRow& row : fault_rows)
        if (row.name == name) return row.fault;
    return std::nullopt;
}

std::string text_of(const Injection& injection) {
    const FaultRow& row = fault_row(injection.fault);
    std::string out = std::to_string(injection.at.count()) + "+" + std::to_string(injection.steps) + " " +
                      std::string(row.name);
    if (row.place == Place::node) out += " n" + std::to_string(injection.node + 1);
    if (row.lasts) out += " for " + std::to_string(injection.span.count()) + "ms";
    return out;
}

}  // namespace crater::sim
