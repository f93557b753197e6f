// The scheduler: takes commands and agents' reports, decides with the engine, makes the decisions durable,
// then lets them act.
//
//     inbox -> engine -> commit -> effects
//
// One loop owns everything. What arrives is validated and applied to the engine at once; the objects to write
// are gathered into one batch per turn of the loop; when the store says the batch is durable its effects are
// released in order: answers, launch and stop orders, report acknowledgements, events, callbacks of the
// outbox, and the read model. So nobody hears of what a power loss could undo. When a commit fails the
// scheduler answers `unavailable` to all who wait, releases nothing more and calls `on_fatal`: its owner
// starts a new one.
//
// Time, randomness, store, network and callbacks are parameters (Env); the simulator drives this very class.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "crater/api/documents.h"
#include "crater/api/views.h"
#include "crater/api/views_plans.h"
#include "crater/base/clock.h"
#include "crater/base/metric.h"
#include "crater/scheduler/config.h"
#include "crater/scheduler/read_model.h"
#include "crater/store/store.h"
#include "crater/wire/callback.h"
#include "crater/wire/link.h"

namespace crater::plugin {
class Registry;
}

namespace crater::scheduler {

struct Env {
    const Clock& clock;
    Loop& loop;
    Rng& rng;
    store::Store& store;
    wire::CallbackSender* callbacks = nullptr;  // null: no callbacks are configured
    Metrics* metrics = nullptr;
    plugin::Registry* plugins = nullptr;  // null: no placement plugins
    std::function<void(const Error&)> on_fatal;
};

// Who asks. Checked against the route's roles before a command is made; the tenant rules below are the
// scheduler's.
struct Actor {
    std::string name = "local";
    Role role = Role::admin;
    std::string tenant;
};

template <class T>
using Reply = std::function<void(Result<T>)>;

struct Submit {
    JobSpec spec;
    Actor actor;
    // empty = none. The same key and document again: the same job, created = false
    std::string idempotency_key;
    std::string document;  // canonical text of the document
    std::string task_id;   // AllData: becomes the job's id; idempotent by itself
};
struct Submitted {
    JobRecordPtr job;
    bool created = true;
};

enum class Action { cancel, evict, resume };
struct Act {
    std::string job;
    Action action = Action::cancel;
    api::ReasonBody body;
    Actor actor;
};

struct LogQuery {
    std::string job;
    std::int64_t task = 0, attempt = 0;  // attempt 0 = the latest
    std::int64_t offset = 0, tail_bytes = -1;
    bool follow = false;
};

class Scheduler {
  public:
    // Loads the store, rebuilds the engine, compares its hash with the stored one, sets default queues.
    // Blocking; call before the loop runs.
    static Result<std::unique_ptr<Scheduler>> start(Config config, Env env);
    ~Scheduler();

    // ---- commands, on the loop; the reply comes on the loop, after the change is durable ----
    void submit(Submit command, Reply<Submitted> reply);
    void act(Act command, Reply<JobRecordPtr> reply);
    void drain(const std::string& node, bool draining, const api::ReasonBody& body, const Actor& actor,
               Reply<api::NodeRow> reply);
    void set_taint(const std::string& node, const Taint& taint, bool off, const Actor& actor,
                   Reply<api::NodeRow> reply);
    // None: all of it is given up.
    void plan_maintenance(const std::string& node, std::optional<Maintenance> window, const Actor& actor,
                          Reply<api::NodeRow> reply);
    void set_queue(QueueSpec queue, const Actor& actor, Reply<api::QueueView> reply);
    void set_quota(const std::string& tenant, const api::QuotaChange& change, const Actor& actor,
                   Reply<api::QuotaView> reply);
    // the secret is in the reply only
    void create_token(const api::TokenRequest& request, const Actor& actor, Reply<api::TokenView> reply);
    void revoke_token(const std::string& id, const Actor& actor, Reply<api::TokenView> reply);
    // For `crater up`: a token with a given secret, made when none of this name exists.
    void ensure_token(const std::string& name, Role role, const std::string& secret,
                      Reply<api::TokenView> reply);

    // ---- questions that need the engine, on the loop ----
    // The configuration was read again: what a running scheduler can take over holds from the next decision
    // on; the rest is named.
    struct Reloaded {
        std::vector<std::string> applied, at_restart;
    };
    Reloaded reload(Config config);
    void why(const std::string& job, const engine::WhyQuestion& question, Reply<engine::Why> reply);
    // What would happen; SupposeSubmit is asked with `fit`.
    void what_if(const engine::Supposed& supposed, const Actor& actor, Reply<engine::WhatIf> reply);
    void plan_quota(const api::QuotaPlan& plan, Reply<engine::WhatIf> reply);
    // A command: it moves jobs.
    void defrag(const api::DefragRequest& request, const Actor& actor, Reply<api::DefragStarted> reply);
    // When jobs will start, in the order asked for; of those of which nobody knows, why.
    void estimates(const std::vector<std::string>& jobs,
                   Reply<std::vector<Result<engine::StartEstimate>>> reply);
    void fit(const JobSpec& spec, const Actor& actor, Reply<api::FitView> reply);
    // The agents' own tables, of the nodes that answer within `wait`, and where they differ from the books.
    // The comparison allows for what is under way: an agent's row must be in the books with the same slices
    // when its table arrives, and what its agent had reported as running before it was asked, and still holds
    // its slices, must be in its table. Links keep order, so neither can differ by chance.
    struct TableRow {
        std::string node, job, state;
        std::int64_t task = 0, attempt = 0;
        Allocation allocation;
    };
    struct Tables {
        std::vector<TableRow> rows;
        std::vector<std::string> differences;
    };
    void tables(Millis wait, Reply<Tables> reply);
    void plugins(Reply<std::vector<api::PluginView>> reply);

    // Streams a task's log: `data` for each piece, then `end` once. Returns a handle for `stop_log`.
    std::uint64_t log(const LogQuery& query, std::function<void(std::string)> data,
                      std::function<void(Result<void>)> end);
    void stop_log(std::uint64_t handle);

    // ---- agents, on the loop ----
    // A connection that passed the token check. Its first message must be Register.
    wire::LinkCallbacks agent_link(std::function<std::shared_ptr<wire::Link>()> link);

    // ---- any thread ----
    const ReadModel& read() const;
    EventHub& events();
    Result<std::vector<store::HistoryRow>> history(const store::HistoryQuery& query) const;
    api::JobMetrics job_metrics(const std::string& job) const;

    // Stops deciding, answers `unavailable` to new commands, waits for nothing. Destroy after the loop has
    // stopped.
    void stop();

  private:
    class Impl;
    std::unique_ptr<Impl> impl_;
    explicit Scheduler(std::unique_ptr<Impl> impl);
};

}  // namespace crater::scheduler
