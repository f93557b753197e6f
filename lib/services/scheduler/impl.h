// The scheduler's one object; its parts are the files of this folder. Everything runs on the loop unless it
// says otherwise.
//
// A command or a report changes the state at once and marks what it touched; `turn` lets the engine decide,
// gathers what was touched into one batch, and hands it to the store. What others may learn of it waits in
// the batch as effects and is released, batch by batch in order, when the batch is durable.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "crater/scheduler/scheduler.h"
#include "held_tasks.h"
#include "job.h"
#include "outbox.h"
#include "profiles.h"
#include "read_model_update.h"
#include "records.h"
#include "series.h"

namespace crater::proto {
class ToAgent;
class ToScheduler;
class Register;
class Heartbeat;
class TaskReport;
class OrderRefused;
class LogChunk;
class Table;
class TaskSamples;
}  // namespace crater::proto

namespace crater::scheduler {

struct TaskKey {
    std::string job;
    std::int64_t task = 0, attempt = 0;
    auto operator<=>(const TaskKey&) const = default;
};

// Nothing of the task runs on its node any more.
inline bool final_state(State state) { return state_row(state).terminal || state == State::preempted; }

// One agent's connection.
struct Session {
    std::function<std::shared_ptr<wire::Link>()> link;
    std::string node, boot_id;  // empty until it registered
    bool welcomed = false;      // orders may be sent
    bool closed = false;
    std::vector<std::uint64_t> owed;  // reports whose acknowledgement is to be sent
};

struct Node {
    std::string name;
    std::shared_ptr<const NodeInventory> inventory;
    StoredNodeState state;
    Instant last_heartbeat;
    std::int64_t heard_us = 0;
    std::shared_ptr<Session> session;
    HeldTasks tasks;
    std::set<TaskKey> strays;  // given up or unknown, and not yet gone from the node
    bool asked_for_strays = false;
    std::uint64_t stray_request = 0;
    std::optional<NodeSample> sample;
    bool touched = false;                                   // in touched_nodes_
    bool row_touched = false;                               // its row is not as it should be
    bool state_touched = false, inventory_touched = false;  // to be stored

    const api::NodeRow& row() const { return *row_; }
    // To be changed. Readers keep the one they have: the first change after it was shown makes a new one.
    api::NodeRow& edit_row() {
        if (row_shown_) row_ = std::make_shared<api::NodeRow>(*row_);
        row_shown_ = false;
        return *row_;
    }
    NodeRowPtr show_row() {
        row_shown_ = true;
        return row_;
    }

  private:
    std::shared_ptr<api::NodeRow> row_ = std::make_shared<api::NodeRow>();
    bool row_shown_ = false;  // readers may hold it
};

struct Queue {
    StoredQueue stored;
    JobsByMoment waiting;  // by when they were submitted
    std::int64_t running = 0;
    std::deque<double> waits;  // seconds, of the last 1,000 starts
    double p50 = 0, p95 = 0;
    bool touched = false, waits_changed = false;
};

struct TenantEntry {
    Tenant tenant;
    std::int64_t pending = 0;  // its descendants included
    bool touched = false;
};

class Scheduler::Impl {
  public:
    Impl(Config config, Env env);
    ~Impl();

    // ---- recovery.cc ----
    Result<void> recover();
    Reloaded reload(Config config);

  private:
    Result<void> load_settings();
    Result<void> load_tenants_and_tokens();
    Result<void> load_profiles();
    Result<void> load_nodes();
    Result<void> load_jobs(ReadModel::Update& update);
    Result<void> load_outbox();
    engine::EngineJob for_engine(const Job& job) const;
    void facts_of(Job& job);
    void verify_hash(const std::string& stored);
    void apply_config();

  public:
    // ---- admission.cc ----
    void submit(Submit command, Reply<Submitted> reply);
    void fit(const JobSpec& spec, const Actor& actor, Reply<api::FitView> reply);
    // ---- lifecycle.cc, actions.cc ----
    void act(Act command, Reply<JobRecordPtr> reply);
    // ---- nodes.cc ----
    wire::LinkCallbacks agent_link(std::function<std::shared_ptr<wire::Link>()> link);
    void drain(const std::string& node, bool draining, const api::ReasonBody& body, const Actor& actor,
               Reply<api::NodeRow> reply);
    void tables(Millis wait, Reply<Tables> reply);
    // ---- upkeep.cc ----
    void set_taint(const std::string& node, const Taint& taint, bool off, const Actor& actor,
                   Reply<api::NodeRow> reply);
    void plan_maintenance(const std::string& node, std::optional<Maintenance> window, const Actor& actor,
                          Reply<api::NodeRow> reply);
    // ---- quotas.cc, tokens.cc ----
    void set_queue(QueueSpec queue, const Actor& actor, Reply<api::QueueView> reply);
    void set_quota(const std::string& tenant, const api::QuotaChange& change, const Actor& actor,
                   Reply<api::QuotaView> reply);
    void create_token(const api::TokenRequest& request, const Actor& actor, Reply<api::TokenView> reply);
    void revoke_token(const std::string& id, const Actor& actor, Reply<api::TokenView> reply);
    void ensure_token(const std::string& name, Role role, const std::string& secret,
                      Reply<api::TokenView> reply);
    void put_token(const Token& token);
    // ---- questions.cc ----
    void why(const std::string& job, const engine::WhyQuestion& question, Reply<engine::Why> reply);
    void estimates(const std::vector<std::string>& jobs,
                   Reply<std::vector<Result<engine::StartEstimate>>> reply);
    // ---- plans.cc ----
    void what_if(const engine::Supposed& supposed, const Actor& actor, Reply<engine::WhatIf> reply);
    void hide_others(engine::WhatIf& answer, const Actor& actor);
    void plan_quota(const api::QuotaPlan& plan, Reply<engine::WhatIf> reply);
    void defrag(const api::DefragRequest& request, const Actor& actor, Reply<api::DefragStarted> reply);
    // ---- plugins.cc ----
    void plugins(Reply<std::vector<api::PluginView>> reply);
    // ---- logs.cc ----
    std::uint64_t log(const LogQuery& query, std::function<void(std::string)> data,
                      std::function<void(Result<void>)> end);
    void stop_log(std::uint64_t handle);

    void stop();

    ReadModel read_;
    EventHub hub_;
    SeriesBook series_;  // any thread
    const store::Store& store() const { return env_.store; }

  private:
    // Runs when the batch is durable (nullptr) or never will be (why).
    using Effect = std::function<void(const Error*)>;
    struct Batch {
        store::Batch batch;
        std::vector<Effect> effects;
        std::vector<api::EventView> events;
        ReadModel::Update update;
        std::vector<std::string> retired;
        // taken in, to be acknowledged
        std::vector<std::pair<std::shared_ptr<Session>, std::uint64_t>> reports;
        std::int64_t began_us = 0;
        bool durable = false;
    };

    // ---- scheduler.cc: the turn ----
    void wake();  // a turn will come
    void turn();
    void decide();
    void tell_dependents();
    void close_batch();
    void on_committed(Result<store::Revision> revision);
    void release_durable();
    void break_down(const Error& error);
    template <class F>
    void when_durable(F effect) {
        open_.effects.push_back([effect = std::move(effect)](const Error* error) {
            if (!error) effect();
        });
        wake();
    }
    template <class T, class F>
    void reply_when_durable(Reply<T> reply, F answer) {
        open_.effects.push_back([reply = std::move(reply), answer = std::move(answer)](const Error* error) {
            if (error)
                reply(crater::fail(*error));
            else
                reply(answer());
        });
        wake();
    }
    template <class T>
    bool refuse_when_stopped(const Reply<T>& reply) {
        if (!stopped_) return false;
        reply(crater::fail(Code::unavailable, "the scheduler is stopping", {}, "try again in a moment"));
        return true;
    }
    void write(std::string key, std::string value) {
        open_.batch.writes.push_back({std::move(key), std::move(value)});
    }
    void erase(std::string key) { open_.batch.writes.push_back({std::move(key), std::nullopt}); }
    void history(std::string kind, std::string subject, std::string body);
    void audit(const Actor& actor, std::string action, std::string subject, std::string detail);
    void event(std::string kind, std::string subject, std::string state, std::string reason,
               std::string detail);
    Instant now() const { return env_.clock.now(); }
    void sweep();       // every second: views that need no more, heartbeats, problems
    void forget_old();  // every hour

    // ---- views.cc ----
    void touch(Job& job);
    void touch(Node& node);
    void touch_queue(const std::string& name);
    void touch_tenant(const std::string& path);  // and its ancestors
    JobRecordPtr record_of(Job& job) const;
    void fill_row(Node& node);
    void gather();  // what was touched, into the open batch
    std::vector<api::Problem> problems() const;
    api::QueueView queue_view(const Queue& queue) const;
    api::QuotaView quota_view(const TenantEntry& tenant) const;
    void export_metrics(const Node& node);

    // ---- admission.cc ----
    Result<std::string> queue_for(const JobSpec& spec) const;
    Result<engine::EngineJob> resolve(const JobSpec& spec, const Actor& actor) const;
    Result<void> check_limits(const engine::EngineJob& job, const Actor& actor, std::int64_t count) const;
    Result<std::vector<std::string>> unmet_dependencies(const JobSpec& spec) const;
    // ---- promises.cc ----
    Result<void> check_quota_policy(const JobSpec& spec) const;

    // ---- admission.cc ----
    void ensure_tenant(const std::string& path);
    Result<engine::Engine::Admitted> admit(engine::EngineJob job) const;
    void add_profile(engine::Engine::Admitted& admitted) const;
    // Takes a job in that was admitted. `index`: of an array, or -1.
    void accept(const Submit& command, const std::string& hash, const engine::Engine::Admitted& admitted,
                const std::string& id, std::int64_t index, const std::vector<std::string>& unmet);
    void cancel_array(const Act& command, Reply<JobRecordPtr> reply);
    void recount(Job& job);
    void rest();  // jobs whose changing part is an object give it up
    void dependency_ended(const std::string& id, bool well);
    void reply_submitted(const std::string& id, bool created, Reply<Submitted> reply);

    // ---- lifecycle.cc: the state machine ----
    Job* find(const std::string& id);
    void set_task(Job& job, TaskStatus& task, State state, Reason reason, const std::string& detail);
    void settle(Job& job, Reason reason, const std::string& detail);
    void note_change(Job& job);
    void place(const engine::Placement& placement, Instant at);
    void take_slices(Node& node, const Job& job, const TaskStatus& task);
    void preempt(const engine::Preemption& preemption);
    void order_stop(Job& job, StopOrder order);
    void task_ended(Job& job, TaskStatus& task, State state, Reason reason, const std::string& detail,
                    std::int64_t exit_code, Instant at);
    void free_slices(Job& job, TaskStatus& task);
    void conclude(Job& job);
    void requeue(Job& job, Reason reason, const std::string& detail, bool counts);
    void retire(Job& job);
    void lose_task(Job& job, TaskStatus& task, const std::string& detail);
    void give_up(Job& job, TaskStatus& task, const std::string& detail);
    bool may_restart(const Job& job) const;
    Instant deadline_of(const Job& job) const;
    void set_deadline(Job& job);
    void arm_deadlines();
    void on_deadlines();
    void on_deadline(Job& job);
    Result<void> revive(const std::string& id, const std::string& by);

    // ---- waiting.cc ----
    std::uint64_t kind_of(Job& job) const;
    Job* next_waiting();
    void explain_soon();
    void explain_waiting();
    struct WaitingKinds {
        struct Kind {
            std::uint64_t asked;  // in which round
            Job* job;             // the first of them
            std::uint64_t key;
        };
        std::vector<Job*> jobs;
        std::vector<Kind> kinds;
        std::unordered_set<std::uint64_t> keys;
    };
    WaitingKinds waiting_kinds(std::size_t looks);
    bool ask_why(const WaitingKinds& waiting, std::uint64_t round);
    bool show_reasons(const WaitingKinds& waiting);
    void show_waiting(Job& job, Reason reason);

    // ---- nodes.cc ----
    void on_message(const std::shared_ptr<Session>& session, const std::string& bytes);
    void on_closed(const std::shared_ptr<Session>& session);
    void lose_node(Node& node, const std::string& detail);
    void set_node_state(Node& node, const StoredNodeState& state);
    void check_heartbeats();
    Node* find_node(const std::string& name);
    Node* node_of(const Session& session);

    // ---- registration.cc ----
    void on_register(const std::shared_ptr<Session>& session, const proto::Register& message);
    struct Arrival {
        bool other_agent = false;  // than the one that registered last
        bool same_link = false;    // said again, because its hardware changed: orders may be on their way
    };
    void reconcile(Node& node, const proto::Register& message, Arrival arrival);
    void refresh_hardware(Node& node);
    void add_slices(const Node& node, api::CardView& card);
    void check_devices(Node& node, const NodeInventory& inventory);

    // ---- agent_reports.cc ----
    void on_heartbeat(Node& node, const proto::Heartbeat& message);
    void on_report(Node& node, const proto::TaskReport& report);
    void on_refused(Node& node, const proto::OrderRefused& refused);
    void on_table(Node& node, const proto::Table& table);
    void on_samples(Node& node, const proto::TaskSamples& samples);
    void add_stray(Node& node, TaskKey key);
    void stray_gone(Node& node, const TaskKey& key);
    void ask_for_strays(Node& node);

    // ---- tables.cc ----
    struct TableQuestion;
    void answer_table_question(const Node& node, const proto::Table& table);
    void answer_tables(TableQuestion question);
    std::set<TaskKey> running_on(const Node& node);
    void compare_with_books(const Node& node, const std::vector<TableRow>& rows,
                            const std::set<TaskKey>& running, std::vector<std::string>& differences);

    // ---- upkeep.cc ----
    void defrag_now_and_then();  // every second: whether it is time for it
    void relieve_cards();        // every second: whose real use has been above the watermark for too long
    void check_maintenance();    // every second: what begins and what is over
    void set_windows(Node& node, std::vector<Maintenance> windows);
    Node* find_node_or_say(const std::string& name, const Reply<api::NodeRow>& reply);
    void reply_row(const std::string& name, Reply<api::NodeRow> reply);

    // ---- orders.cc: what agents are told, once it is durable ----
    void send(Session& session, proto::ToAgent& message);
    void send_welcome(Session& session);  // and the intervals it works with
    void send(const std::string& node, proto::ToAgent& message);
    void order_launch(const Job& job, const TaskStatus& task);
    void order_stop_of(const std::string& node, const TaskKey& key, const StopOrder& order);
    void order_forget(const std::string& node, const TaskKey& key);
    void acknowledge(std::vector<std::pair<std::shared_ptr<Session>, std::uint64_t>> reports);
    void send_owed(Session& session);
    void send_launch(const std::string& id, std::int64_t index, std::int64_t attempt);
    Result<std::string> spec_text(const FixedJob& job);  // as agents get it

    // ---- logs.cc ----
    void on_log(const proto::LogChunk& chunk);
    void end_logs_of(const std::string& node);

    // ---- plugins.cc ----
    void refresh_plugins();
    void add_plugin_problems(std::vector<api::Problem>& out) const;

    // ---- callbacks.cc ----
    void tell_alldata(Job& job);
    void pump_callbacks();
    void send_callback(const std::string& task_id);
    void callback_answered(const std::string& task_id, std::int64_t sequence,
                           Result<wire::HttpResponse> answer);
    void arm_callbacks();

    Config config_;
    Env env_;
    engine::Engine engine_;
    std::uint64_t term_ = 0, next_event_ = 1;
    bool verified_ = true;
    bool stopped_ = false, broken_ = false;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);

    Outlines outlines_;
    std::vector<Job*> awake_;
    Profiles profiles_;
    // that have not ended, or whose end is not durable
    std::unordered_map<std::string, std::unique_ptr<Job>> jobs_;
    std::map<std::string, Node> nodes_;
    std::map<std::string, Queue> queues_;
    std::map<std::string, TenantEntry> tenants_;
    std::map<std::string, Token> tokens_;
    std::unordered_map<std::string, StoredIdempotency> idempotency_;
    std::map<std::string, std::vector<std::string>> dependents_;
    // jobs whose dependents are to be told, and whether they ended well
    std::deque<std::pair<std::string, bool>> ended_;
    JobsByMoment deadlines_;
    TimerId deadline_timer_ = 0;
    Instant deadline_armed_;
    TimerId sweep_timer_ = 0, forget_timer_ = 0, pass_timer_ = 0, explain_timer_ = 0, owed_timer_ = 0;
    std::vector<std::shared_ptr<Session>> owed_;  // sessions that are owed acknowledgements
    bool pass_due_ = false;
    struct Explained {
        Reason reason = Reason::none;
        std::uint64_t round = 0;
    };
    std::unordered_map<std::uint64_t, Explained> explained_;  // by kind of job
    // what was explained before `from` may have changed
    std::uint64_t explain_round_ = 0, explain_from_ = 0;
    bool explain_wanted_ = false;
    std::size_t explain_seen_ = 0;  // jobs looked at since something may have changed
    std::string explain_queue_;     // where the last round stopped
    std::pair<std::int64_t, std::string> explain_job_;

    Batch open_;
    std::deque<Batch> flying_;
    int commits_ = 0;  // in flight
    bool turn_posted_ = false;
    std::vector<Job*> touched_jobs_;
    std::vector<Node*> touched_nodes_;
    std::vector<Queue*> touched_queues_;
    std::vector<TenantEntry*> touched_tenants_;
    bool problems_changed_ = true, free_changed_ = true;
    std::int64_t slow_commit_us_ = 0;
    Instant slow_since_;
    Instant defragged_;  // when jobs were last moved, or it was looked whether any should be
    std::uint64_t stored_hash_ = 0;

    struct TableQuestion {
        std::set<std::string> waiting;
        std::vector<TableRow> rows;
        // by node, when asked: what its agent had said to run
        std::map<std::string, std::set<TaskKey>> running;
        std::vector<std::string> differences;  // between the books and the answers
        Reply<Tables> reply;
        TimerId timer = 0;
    };
    std::map<std::uint64_t, TableQuestion> table_questions_;
    struct LogStream {
        std::string node;
        std::function<void(std::string)> data;
        std::function<void(Result<void>)> end;
    };
    std::map<std::uint64_t, LogStream> logs_;
    std::uint64_t next_request_ = 1;

    struct {
        std::shared_ptr<const std::string> of;
        std::string text;
    } last_spec_;  // the next task is often of the same gang or array
    mutable std::shared_ptr<const FixedJob> last_kind_of_;  // the next job is often of the same array
    mutable std::uint64_t last_kind_ = 0;
    Outbox outbox_;
    bool callbacks_on_ = false;
    std::string callback_url_, callback_authorization_;
    TimerId callback_timer_ = 0;
    Instant callback_armed_;
};

// Caps with a change made to them; those it does not name stay.
void merge_caps(Quota& caps, const Quota& change);

// What the spec says and this version only keeps, a sentence each.
std::vector<std::string> kept_without_effect(const JobSpec& spec);

// True for `root` itself and what is below it: "a/b" is below "a".
bool tenant_below(const std::string& tenant, const std::string& root);
// "a/b/c", then "a/b", then "a".
template <class F>
void for_each_ancestor(const std::string& path, F use) {
    for (std::string p = path; !p.empty();) {
        use(p);
        const auto slash = p.rfind('/');
        p.resize(slash == std::string::npos ? 0 : slash);
    }
}

}  // namespace crater::scheduler
