// One server of the simulated cluster: its hardware, its clock and what runs on it. It outlives its agent, as
// real tasks do, and knows the truth about its tasks: the checkers ask it, and nobody else.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "clock.h"
#include "crater/agent/agent.h"
#include "crater/hw/source.h"
#include "crater/run/runtime.h"
#include "process.h"

namespace crater::sim {

// What became of one attempt, by the machine's clock where a time is one that its agent can know.
struct Truth {
    std::string machine;
    Instant running, ended;            // 0 = not
    bool doubtful = false;             // its agent could not know it all
    std::shared_ptr<const void> told;  // the life of the scheduler that heard of its end
    Instant told_at;                   // by its clock
};

class Machine {
  public:
    using Note = std::function<void(const std::string&)>;
    struct World {
        testing::VirtualTime& time;
        Rng& rng;
        // of the whole cluster: a (job, task, attempt) starts once anywhere
        std::map<run::TaskId, Truth>& truth;
        int* task_failures_percent;
        Note trace;
        std::function<void(std::string checker, std::string text)> violation;
    };
    Machine(hw::SimulatedNode hardware, World world);

    // What an agent process gets. Its events go to `loop` until `agent_died`.
    std::unique_ptr<run::Runtime> runtime(testing::VirtualLoop& loop, LifePtr life);
    std::unique_ptr<hw::Source> source();
    void agent_died();

    // ---- faults ----
    // Everything that ran here is gone; what had ended before is remembered when the disk was kept.
    void power_off(bool disk_kept);
    void break_card(std::int64_t card, bool gone);  // broken, or not there at all
    void mend_cards();
    std::int64_t late_until_us = 0, lossy_until_us = 0, doubling_until_us = 0, hanging_until_us = 0;
    bool swallowed() const { return swallowed_; }  // an event that only a new agent will find

    const std::string& name() const { return hardware_.name; }
    const NodeInventory& inventory() const { return inventory_; }  // with all its cards
    MachineClock& clock() { return clock_; }
    // What really runs here now. `changes` rises when it changes.
    std::map<run::TaskId, agent::Held> running() const;
    // Whether it has the record of an end that was not acknowledged.
    bool keeps_end_of(const run::TaskId& id) const;
    bool idle() const;
    std::uint64_t changes() const { return changes_; }
    std::uint64_t orders() const { return orders_; }  // starts and stops it was told to carry out

  private:
    class AgentRuntime;
    class AgentSource;
    struct Record {
        run::Launch launch;
        run::TaskEvent last;
        TimerId timer = 0, killing = 0;
        std::int64_t killed_us = 0;  // when its grace is over
        bool ended = false, settled = false, stopping = false, ignores_term = false;
        State outcome = State::cancelled;
        Reason reason = Reason::none;
        std::string detail;
    };

    void start(run::Launch launch);
    void make_ready(const run::TaskId& id);
    void run(const run::TaskId& id);
    void stop(const run::TaskId& id, Millis grace, State outcome, Reason reason, std::string detail);
    void end_stopped(const run::TaskId& id);
    void happened(Record& record, State state, Reason reason, std::string detail, std::int64_t exit_code);
    void tell(const run::TaskEvent& event);
    bool broken(const Allocation& allocation) const;
    Record* find(const run::TaskId& id);
    Millis pause(std::uint64_t most_ms) {
        return Millis(static_cast<std::int64_t>(world_.rng.below(most_ms + 1)));
    }

    World world_;
    testing::VirtualLoop loop_;
    MachineClock clock_;
    hw::SimulatedNode hardware_;
    NodeInventory inventory_;
    std::map<std::int64_t, bool> broken_cards_;  // and whether they are gone
    std::uint64_t hardware_changes_ = 0;
    std::map<run::TaskId, Record> records_;
    testing::VirtualLoop* agent_loop_ = nullptr;
    run::Runtime::Listener listener_;
    std::int64_t heard_us_ = 0;  // when the last event so far is heard: later ones are later
    bool swallowed_ = false;
    std::uint64_t changes_ = 0, orders_ = 0;
};

}  // namespace crater::sim
