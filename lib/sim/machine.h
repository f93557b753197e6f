// One server of the simulated cluster: its hardware and what runs on it. It outlives its agent, as real tasks do.
#pragma once

#include <functional>
#include <map>
#include <set>

#include "crater/agent/agent.h"
#include "crater/hw/source.h"
#include "crater/run/runtime.h"
#include "crater/scheduler/testing/virtual_loop.h"

namespace crater::sim {

class Machine {
  public:
    using Note = std::function<void(const std::string&)>;
    // `started` is the whole cluster's: a (job, task, attempt) starts once anywhere.
    Machine(std::string name, int gpus, testing::VirtualTime& time, Rng& rng, std::set<run::TaskId>& started, Note trace, Note violation);

    // What an agent process gets. Its events go to `loop` until `agent_died`.
    std::unique_ptr<run::Runtime> runtime(testing::VirtualLoop& loop);
    std::unique_ptr<hw::Source> source() const;
    void agent_died();
    // Everything that ran here is gone without a word.
    void power_off();

    const std::string& name() const { return name_; }
    const NodeInventory& inventory() const { return inventory_; }
    // What really runs here now, counted by nobody but the machine. `changes` rises when it changes.
    std::map<run::TaskId, agent::Held> running() const;
    std::uint64_t changes() const { return changes_; }

  private:
    class AgentRuntime;
    struct Record {
        run::Launch launch;
        run::TaskEvent last;
        TimerId timer = 0;
        bool ended = false, settled = false, stopping = false;
    };

    void start(run::Launch launch);
    void stop(const run::TaskId& id, Millis grace, State outcome, Reason reason, std::string detail);
    void happened(Record& record, State state, Reason reason, std::string detail, std::int64_t exit_code);
    Record* find(const run::TaskId& id);

    std::string name_;
    testing::VirtualTime& time_;
    testing::VirtualLoop loop_;
    Rng& rng_;
    Note trace_, violation_;
    hw::SimulatedNode hardware_;
    NodeInventory inventory_;
    std::map<run::TaskId, Record> records_;
    std::set<run::TaskId>& started_;
    testing::VirtualLoop* agent_loop_ = nullptr;
    run::Runtime::Listener listener_;
    std::uint64_t changes_ = 0;
};

}  // namespace crater::sim
