// The life of a task and of a job: states, allowed changes, time limits and the names that AllData sees. One
// table (state.cc). A job's state follows from its tasks': the least advanced of a gang; Failed if one
// failed. SPEC 4.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "crater/base/describe.h"
#include "crater/base/quantity.h"

namespace crater {

enum class State : std::uint8_t {
    pending,    // waits in its queue, or is about to be taken back into it
    preparing,  // placed and durable; the agent makes ready: pulling, mounting, preheating
    ready,      // everything is in place, the process is about to start
    running,
    preempting,  // told to stop for somebody else; grace runs
    preempted,   // stopped for somebody else; goes back to pending
    finished,
    failed,
    cancelled,
    evicted,
    lost,  // its node is gone
};
std::span<const EnumName<State>> enum_names(State);

struct StateRow {
    State state;
    std::string_view name;          // as people see it: "Pending"
    std::string_view alldata_name;  // "queued"
    bool terminal;                  // nothing follows
    // its slices are taken (of a lost node too: it may come back with the task running)
    bool holds;
    int advance;     // order within a gang: the least advanced gives the job's state
    Millis timeout;  // a transient state ends by then; 0 = no limit
};
std::span<const StateRow> state_table();
const StateRow& state_row(State state);
bool may_change(State from, State to);
// The job's state from those of its tasks; `tasks` is not empty.
State job_state(std::span<const State> tasks);

// Why a state was entered, or why a job waits. Rows of one table with a sentence for people in English and
// Chinese.
enum class Reason : std::uint8_t {
    none,
    submitted,
    waiting_for_resources,
    waiting_for_gpu,
    waiting_for_cpu,
    waiting_for_memory,
    waiting_for_disk,
    waiting_for_data,
    waiting_for_node,
    waiting_for_preemption,
    waiting_for_quota,
    waiting_for_dependency,
    waiting_for_gang,
    held_by_queue,
    placed,
    launched,
    pulling,
    mounting,
    preheating,
    process_started,
    exit_zero,
    exit_nonzero,
    killed_by_signal,
    out_of_memory,
    gpu_out_of_memory,
    disk_full,
    start_failed,
    preempted_for,
    requeued,
    node_lost,
    node_drained,
    device_lost,
    agent_restarted,
    time_limit,
    prepare_timeout,
    stop_timeout,
    max_queue_time,
    user_cancelled,
    admin_evicted,
    quota_evicted,
    dependency_failed,
    unenforceable,
    rejected,
};
struct ReasonRow {
    Reason reason;
    std::string_view name;     // "out_of_memory"
    std::string_view english;  // "The task used more memory than it asked for."
    std::string_view chinese;
};
std::span<const ReasonRow> reason_table();
const ReasonRow& reason_row(Reason reason);
std::span<const EnumName<Reason>> enum_names(Reason);

// What AllData is told on entering `state`: its row's name, but "scheduled" when a place was just found and
// made durable.
std::string_view alldata_name(State state, Reason reason);

// One step of a task's or job's history.
struct StateChange {
    Instant at;
    State state = State::pending;
    Reason reason = Reason::none;
    std::string detail;  // "exit code 3", "for job-x", "pulling"
};
template <class V>
void describe(V& v, StateChange& c) {
    v.field("at", c.at, "When.");
    v.field("state", c.state, "The state entered.");
    v.field("reason", c.reason, "Why, as a code.");
    v.field("detail", c.detail, "Why, in particular.");
}

}  // namespace crater
