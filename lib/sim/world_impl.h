// The world's one object. Its parts are the files of this folder: processes.cc (who lives and dies),
// network.cc, clients.cc and alldata.cc (who asks and is told), strikes.cc (what goes wrong), watch.cc (what
// became durable), checks*.cc (what must hold).
#pragma once

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "crater/agent/agent.h"
#include "crater/engine/testing/naive.h"
#include "crater/proto/agent.pb.h"
#include "crater/scheduler/scheduler.h"
#include "crater/scheduler/testing/stored_job.h"
#include "crater/scheduler/testing/virtual_link.h"
#include "crater/sim/world.h"
#include "disk.h"
#include "machine.h"

namespace crater::sim {

using testing::VirtualLoop;
using testing::VirtualTime;
using testing::VirtualWire;

struct SchedulerProcess {
    LifePtr life = std::make_shared<Life>();
    std::unique_ptr<VirtualLoop> loop;
    std::unique_ptr<store::Store> store;
    std::unique_ptr<wire::CallbackSender> callbacks;
    std::unique_ptr<Rng> rng;
    std::unique_ptr<scheduler::Scheduler> service;
    std::vector<std::weak_ptr<VirtualWire>> wires;
};

// A machine and the agent's process on it.
struct Host {
    int index = 0;
    int node = 0;  // whose name it carries: another's, of a twin
    std::unique_ptr<Machine> machine;
    LifePtr life;
    std::unique_ptr<VirtualLoop> loop;  // of the agent's process
    std::unique_ptr<run::Runtime> runtime;
    std::unique_ptr<hw::Source> source;
    std::unique_ptr<wire::Connector> connector;
    std::unique_ptr<Rng> rng;
    std::unique_ptr<agent::Agent> agent;
    bool starting = false;  // a supervisor will start it

    // Its way to the scheduler: side 0 is the agent's end, side 1 the scheduler's.
    std::shared_ptr<VirtualWire> wire;
    std::shared_ptr<wire::Link> near_end, far_end;
    std::vector<std::weak_ptr<VirtualWire>> wires;  // all that its present agent opened
    bool welcomed = false;                          // on this wire
    std::array<std::int64_t, 2> cut_until_us{};     // nothing arrives at that side
    std::int64_t delayed_until_us = 0;
    std::uint64_t term = 0;     // the highest that this agent's process was told
    std::int64_t heard_us = 0;  // when the leader heard it last on this wire
    // when the leader closed this wire though it had heard it a moment before
    std::int64_t dropped_us = 0;
    std::uint64_t words = 0, refusals = 0;  // what its agents said, and orders among it that they turned down
    std::deque<std::string> said;           // its last reports, to be said again
    bool repeat = false;                    // on the next link
    std::optional<Injection> lost_when_linked;
    bool linked() const { return wire && wire->open(); }

    int older = 0;                       // 1: speaks an older protocol, 2: knows fewer fields
    std::int64_t present_until_us = -1;  // of a twin
    std::uint64_t checked_changes = 0;
    bool table_changed = true;
};

struct World::Impl {
    explicit Impl(WorldOptions options);
    ~Impl();

    // ---- world.cc ----
    void run_for(Millis span);
    bool run_until_idle(Millis limit);
    bool step();
    void bury();  // processes that died in this step
    bool idle() const;
    void trace(std::string text, std::string message = {});
    static std::string in_words(const std::string& way, const std::string& message);  // words.cc
    std::string trace_text(std::size_t last) const;
    void violate(std::string checker, std::string text);
    Millis elapsed() const { return Millis(time_.ticks_us() / 1000 - start_ms); }
    std::int64_t in_us(Millis span) const { return time_.ticks_us() + span.count() * 1000; }
    bool chance(double probability) {
        return probability > 0 && static_cast<double>(rng_.below(1'000'000)) < probability * 1e6;
    }
    Millis pause(Millis most) {
        return Millis(static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(most.count()) + 1)));
    }
    template <class T>
    T& one_of(std::vector<T>& all) {
        return all[rng_.below(all.size())];
    }

    // ---- processes.cc ----
    void start_scheduler();
    void start_scheduler_soon();
    void kill_scheduler(std::unique_ptr<SchedulerProcess>& process);
    void on_fatal(const LifePtr& life, const Error& error);
    void start_agent(int i);
    void start_agent_soon(int i);
    void kill_agent(int i);
    scheduler::Scheduler* leader() {
        return leader_ && !leader_->life->over ? leader_->service.get() : nullptr;
    }
    const scheduler::Scheduler* leader() const { return const_cast<Impl*>(this)->leader(); }
    Host& host(int i) { return *hosts_.at(static_cast<std::size_t>(i)); }
    Machine::World machine_world();

    // ---- network.cc ----
    class Connector;
    class SchedulerEnd;
    class AgentEnd;
    std::unique_ptr<wire::Connector> make_connector(int i);
    void connect(int i, wire::LinkCallbacks callbacks,
                 std::function<void(Result<std::shared_ptr<wire::Link>>)> done);
    SchedulerProcess* answering(const Host& host);
    wire::LinkCallbacks at_scheduler(int i, const SchedulerProcess& process, wire::LinkCallbacks callbacks);
    wire::LinkCallbacks at_agent(int i, wire::LinkCallbacks callbacks);
    void note_report(int i, const SchedulerProcess& process, const proto::TaskReport& report);
    std::string as_older(const Host& host, std::string message);
    void cut(Host& host, int side, Millis span);
    void unstall(Host& host);

    // ---- clients.cc ----
    template <class F>
    auto heard(F use);  // the client's side of an answer
    void submit(std::shared_ptr<const JobSpec> spec, std::string id);
    void submitted(const JobSpec& spec, const std::string& id, Result<scheduler::Submitted> answer);
    void act(const std::string& id, scheduler::Action action, int tries);
    void drain(const std::string& node, bool evict, Millis span);
    void taint(const std::string& node, Millis span);
    void reopen_after(Millis span, const std::string& node,
                      std::function<void(scheduler::Reply<api::NodeRow>)> reopen);
    void maintain(const std::string& node, Maintenance window);
    void set_quota(const std::string& tenant, const Quota& hard);
    void lift_reserves();
    void give_up_impossible();
    void repeat_until_heard(std::function<void(std::function<void()>)> ask);
    void defragment();
    bool all_registered() const;
    void refused_for_good(const std::string& id, const Error& error);

    // ---- alldata.cc ----
    class AllData;
    std::unique_ptr<wire::CallbackSender> make_alldata(SchedulerProcess& process);
    bool alldata_fails();
    void callback_taken(const std::string& body, bool sender_lives);

    // ---- strikes.cc ----
    void inject(const Injection& injection);
    void count_step();
    void strike(const Injection& injection);
    bool strike_scheduler(const Injection& injection);
    bool strike_node(const Injection& injection, Host& host);
    bool strike_alldata(const Injection& injection);
    bool freeze_scheduler(Millis span);
    void thaw_scheduler();
    void heal();
    void replace_agent(Host& host);
    void end_older(Host& host);
    void find_swallowed(Host& host);
    bool add_twin(Host& original, Millis span);
    void remove_twin(int i);
    bool replay_late(Host& host);
    void cover(Fault fault, const std::string& node);

    // ---- watch.cc ----
    struct Group {
        std::map<std::string, scheduler::StoredJob> jobs;
        std::vector<std::pair<std::string, StateChange>> changes;
        std::map<std::string, Quota> caps;
        std::map<std::string, scheduler::StoredJobFacts> facts;  // of new jobs
        std::map<std::string, NodeInventory> nodes;
        std::map<std::string, scheduler::StoredNodeFacts> standing;
        std::vector<std::string> gone;
    };
    std::function<void()> handed_in(const store::Batch& batch);
    static void note_node(Group& group, std::string_view name, const std::string& value);
    void durable(const Group& group);
    void note_job(const std::string& id, const scheduler::StoredJob& now);

    // ---- checks.cc: after each step ----
    void check();
    void check_machines();
    void check_slow();  // every now and then
    void check_timeouts();
    void check_books();
    // ---- checks_durable.cc: of each group ----
    void check_change(const std::string& id, const StateChange& change);
    void check_not_here(const std::string& id);
    void check_tasks(const std::string& id, const JobStatus& was, const JobStatus& now);
    void check_usage(const std::string& id, const TaskStatus& task);
    void check_quotas(const std::set<std::string>& placed);
    void check_placements(const std::set<std::string>& placed);
    void check_waiting();
    void fill_naive();
    engine::EngineJob naive_job(const std::string& id) const;
    // ---- checks_words.cc: of what is said to others ----
    static bool ends(const proto::TaskReport& report);
    void check_order(const Host& host, const std::string& bytes);
    void check_answered(const std::string& id);
    void check_recovered(const scheduler::Scheduler& service);
    // ---- checks_end.cc: when everything has ended ----
    void check_end();
    void check_end_of(const std::string& id);
    void describe_what_waits();

    static constexpr std::int64_t start_ms = 1'700'000'000'000;

    WorldOptions options_;
    Weather weather_;
    VirtualTime time_;
    SeededRng rng_;
    VirtualLoop loop_;  // of the world itself: clients, supervisors, faults
    scheduler::Config config_;
    MachineClock scheduler_clock_;
    Disk disk_;
    std::unique_ptr<SchedulerProcess> leader_, frozen_;
    bool frozen_awake_ = false;
    bool starting_ = false;  // a supervisor will start a scheduler
    std::vector<std::unique_ptr<Host>> hosts_;
    int nodes_ = 0;  // the first of them; others are twins

    // What clients know.
    std::set<std::string> wanted_, acknowledged_;
    std::vector<std::string> in_order_;                                 // acknowledged
    std::map<std::string, std::pair<std::int64_t, std::string>> told_;  // AllData: number and status
    std::int64_t alldata_slow_until_us_ = 0, alldata_failing_until_us_ = 0, alldata_deaf_until_us_ = 0;
    std::map<std::string, int> resumed_;          // job: how often its clients asked to resume it
    std::map<std::string, std::string> refused_;  // job: what its client was told last
    std::map<std::string, std::uint64_t> quota_wishes_;
    std::set<std::string> maintained_;     // nodes with windows of maintenance at some time
    std::map<std::string, int> closings_;  // nodes that somebody will open again, and how many

    // What goes wrong.
    std::vector<std::pair<std::uint64_t, Injection>> in_steps_;  // after so many more
    bool healed_ = false;
    std::int64_t disturbed_us_ = 0;  // until when faults excuse that something takes longer
    std::int64_t set_back_ms_ = 0;   // how far clocks were set back in all

    // What is durable, as seen from outside.
    std::map<std::string, scheduler::StoredJob> durable_;
    std::map<std::string, State> told_state_;  // the last in history
    std::map<std::string, Quota> caps_;
    std::map<std::string, scheduler::StoredJobFacts> facts_;  // by job
    engine::testing::Naive naive_;                            // nodes as they are stored
    std::map<std::string, Millis> limits_;                    // job -> time limit
    std::uint64_t checked_revision_ = 0;
    struct Since {
        State state = State::pending;
        std::int64_t attempt = 0, us = 0;
    };
    std::map<std::pair<std::string, std::int64_t>, Since> since_;  // (job, task), true time
    std::map<std::string, std::int64_t> stopping_since_;           // job, true time
    std::map<run::TaskId, Truth> truth_;
    std::map<std::pair<int, std::uint64_t>, proto::TaskReport> reports_;  // of the host's present agent
    std::int64_t next_slow_us_ = 0;

    std::vector<Violation> violations_;
    Coverage coverage_;
    Counts counts_;
    std::uint64_t hash_ = 0;
    struct Line {
        Millis at{0};
        std::string text, message;
    };
    std::deque<Line> trace_;
};

}  // namespace crater::sim
