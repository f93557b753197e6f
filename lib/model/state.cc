#include "crater/model/state.h"

#include <array>

#include "crater/base/error.h"

namespace crater {
namespace {

using enum State;
using std::chrono::minutes;

// A failed task fails its gang, so it counts as the least advanced of all. A gang is preempted once all of it
// has stopped.
constexpr StateRow state_rows[] = {
    // state      name          to AllData   terminal holds advance  timeout
    {pending, "Pending", "queued", false, false, 1, Millis{0}},
    {preparing, "Preparing", "preparing", false, true, 4, minutes{10}},
    {ready, "Ready", "preparing", false, true, 5, minutes{1}},
    {running, "Running", "running", false, true, 7, Millis{0}},
    {preempting, "Preempting", "running", false, true, 6, minutes{60}},
    {preempted, "Preempted", "preempted", false, false, 8, minutes{1}},
    {finished, "Finished", "finished", true, false, 11, Millis{0}},
    {failed, "Failed", "failed", true, false, 0, Millis{0}},
    {cancelled, "Cancelled", "cancelled", true, false, 10, Millis{0}},
    {evicted, "Evicted", "evicted", true, false, 9, Millis{0}},
    {lost, "Lost", "lost", false, true, 3, Millis{0}},
};

// What may follow each state. A state is never followed by itself.
struct Arrows {
    State from;
    std::initializer_list<State> to;
};
const Arrows arrows[] = {
    {pending, {preparing, cancelled, evicted, failed}},
    // A short task may have ended before anybody heard that it ran; a failed launch or a restart goes back to
    // the queue.
    {preparing, {ready, running, pending, preempting, finished, failed, cancelled, evicted, lost}},
    {ready, {running, pending, preempting, finished, failed, cancelled, evicted, lost}},
    {running, {pending, preempting, finished, failed, cancelled, evicted, lost}},
    {preempting, {preempted, finished, failed, cancelled, evicted, lost}},
    {preempted, {pending, cancelled, evicted, failed}},
    // A node that comes back hands over what still ran there, and what ended meanwhile.
    {lost, {pending, preparing, ready, running, preempting, preempted, finished, failed, cancelled, evicted}},
};

constexpr EnumName<State> state_names[] = {
    {pending, "Pending"},
    {preparing, "Preparing"},
    {ready, "Ready"},
    {running, "Running"},
    {preempting, "Preempting"},
    {preempted, "Preempted"},
    {finished, "Finished"},
    {failed, "Failed"},
    {cancelled, "Cancelled"},
    {evicted, "Evicted"},
    {lost, "Lost"},
    // Also understood when read.
    {pending, "pending"},
    {preparing, "preparing"},
    {ready, "ready"},
    {running, "running"},
    {preempting, "preempting"},
    {preempted, "preempted"},
    {finished, "finished"},
    {failed, "failed"},
    {cancelled, "cancelled"},
    {evicted, "evicted"},
    {lost, "lost"},
};

}  // namespace

std::span<const EnumName<State>> enum_names(State) { return state_names; }

std::span<const StateRow> state_table() { return state_rows; }

const StateRow& state_row(State state) {
    const auto index = static_cast<std::size_t>(state);
    CRATER_CHECK(index < std::size(state_rows) && state_rows[index].state == state);
    return state_rows[index];
}

bool may_change(State from, State to) {
    for (const auto& row : arrows)
        if (row.from == from) return std::find(row.to.begin(), row.to.end(), to) != row.to.end();
    return false;
}

State job_state(std::span<const State> tasks) {
    CRATER_CHECK(!tasks.empty());
    return *std::min_element(tasks.begin(), tasks.end(),
                             [](State a, State b) { return state_row(a).advance < state_row(b).advance; });
}

std::string_view alldata_name(State state, Reason reason) {
    if (state == preparing && reason == Reason::placed) return "scheduled";
    return state_row(state).alldata_name;
}

}  // namespace crater
