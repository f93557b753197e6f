#include "crater/scheduler/scheduler.h"

#include "crater/base/ids.h"
#include "crater/base/log.h"
#include "crater/plugin/registry.h"
#include "impl.h"
#include "metrics.h"

namespace crater::scheduler {
namespace {

constexpr int commits_max = 4;  // in flight: some are written while the next is gathered
constexpr std::int64_t slow_commit_us = 1'000'000;
constexpr Millis sweep_period{1'000}, forget_period{3'600'000};

}  // namespace

Scheduler::Impl::Impl(Config config, Env env)
    : config_(std::move(config)), env_(std::move(env)), engine_(config_.scheduling) {
    if (env_.plugins) engine_.set_hooks(env_.plugins);
}

Scheduler::Impl::~Impl() {
    *alive_ = false;
    for (const TimerId id : {deadline_timer_, sweep_timer_, forget_timer_, callback_timer_, pass_timer_,
                             explain_timer_, owed_timer_})
        env_.loop.cancel(id);
    for (const auto& [request, question] : table_questions_) env_.loop.cancel(question.timer);
}

// ---- the turn ---------------------------------------------------------------------------------------------

void Scheduler::Impl::wake() {
    if (turn_posted_ || broken_) return;
    turn_posted_ = true;
    env_.loop.post([this, alive = alive_] {
        if (*alive) turn();
    });
}

void Scheduler::Impl::turn() {
    turn_posted_ = false;
    if (broken_ || commits_ >= commits_max) return;  // a completion brings the next turn
    decide();
    close_batch();
}

void Scheduler::Impl::tell_dependents() {
    while (!ended_.empty()) {
        const auto [id, well] = ended_.front();
        ended_.pop_front();
        dependency_ended(id, well);
    }
}

void Scheduler::Impl::decide() {
    tell_dependents();
    if (stopped_ || !(engine_.wants_pass() || pass_due_)) return;
    pass_due_ = false;
    const std::int64_t began = env_.clock.ticks_us();
    const Instant at = now();
    const engine::Plan plan = engine_.pass(at);
    if (env_.metrics)
        env_.metrics->observe(metric::decision, static_cast<double>(env_.clock.ticks_us() - began) / 1e6);
    if (plan.learned) write("meta/learned", engine_.learned());
    for (const auto& placement : plan.placements) place(placement, at);
    for (const auto& preemption : plan.preemptions) preempt(preemption);
    tell_dependents();
    explain_soon();
    if (plan.more) return wake();
    // A victim may have to run for a while before it can be asked to make room.
    env_.loop.cancel(pass_timer_);
    pass_timer_ = 0;
    if (const auto again = engine_.wake_at())
        pass_timer_ = env_.loop.after(std::max(Millis(1), *again - at), [this] {
            pass_timer_ = 0;
            pass_due_ = true;
            wake();
        });
}

void Scheduler::Impl::close_batch() {
    gather();
    Batch& b = open_;
    if (!b.events.empty()) write("meta/event_sequence", std::to_string(next_event_ - 1));
    if (b.batch.empty() && b.effects.empty() && b.update.empty() && b.retired.empty() && b.reports.empty())
        return;

    store::Batch writes = std::move(b.batch);
    if (!writes.empty()) {
        const std::uint64_t hash = engine_.state_hash();
        char text[17];
        std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
        if (hash != stored_hash_) writes.writes.push_back({"meta/state_hash", std::string(text)});
        stored_hash_ = hash;
        b.update.state_hash = text;
    }
    b.update.now = now();
    b.durable = writes.empty();
    b.began_us = env_.clock.ticks_us();
    flying_.push_back(std::move(open_));
    open_ = {};
    if (flying_.back().durable) return release_durable();
    ++commits_;
    env_.store.commit(std::move(writes), [this, alive = alive_](Result<store::Revision> revision) {
        if (*alive) on_committed(std::move(revision));
    });
}

void Scheduler::Impl::on_committed(Result<store::Revision> revision) {
    --commits_;
    if (broken_) return;
    if (!revision) return break_down(revision.error());
    for (Batch& b : flying_) {
        if (b.durable) continue;
        b.durable = true;
        b.update.revision = *revision;
        const std::int64_t took = env_.clock.ticks_us() - b.began_us;
        if (env_.metrics) env_.metrics->observe(metric::commit, static_cast<double>(took) / 1e6);
        if (took > slow_commit_us) {
            if (!slow_commit_us_) slow_since_ = now();
            slow_commit_us_ = took;
            problems_changed_ = true;
        } else if (slow_commit_us_ && now() - slow_since_ > Millis(60'000)) {
            slow_commit_us_ = 0;
            problems_changed_ = true;
        }
        break;
    }
    release_durable();
    if (commits_ < commits_max) wake();
}

void Scheduler::Impl::release_durable() {
    while (!flying_.empty() && flying_.front().durable) {
        Batch b = std::move(flying_.front());
        flying_.pop_front();
        read_.publish(std::move(b.update));  // first: whoever is answered now reads what he wrote
        for (const std::string& id : b.retired) {
            const auto it = jobs_.find(id);
            if (it == jobs_.end() || !it->second->retired || it->second->touched) continue;
            CRATER_CHECK(it->second->place == Place::nowhere && !it->second->deadline,
                         "job " + id + " waits for nothing any more");
            jobs_.erase(it);
        }
        for (const Effect& effect : b.effects) effect(nullptr);
        acknowledge(std::move(b.reports));
        hub_.publish(std::move(b.events));
    }
}

// What we believe and what is durable have parted: nobody may act on our beliefs any more.
void Scheduler::Impl::break_down(const Error& error) {
    broken_ = stopped_ = true;
    log::error("a commit failed", {{"why", error.text()}});
    const Error answer{Code::unavailable, "what was decided cannot be stored", {}, "try again in a moment"};
    std::vector<Effect> effects;
    for (Batch& b : flying_) std::move(b.effects.begin(), b.effects.end(), std::back_inserter(effects));
    std::move(open_.effects.begin(), open_.effects.end(), std::back_inserter(effects));
    flying_.clear();
    open_ = {};
    for (const Effect& effect : effects) effect(&answer);
    if (env_.on_fatal) env_.on_fatal(error);
}

void Scheduler::Impl::history(std::string kind, std::string subject, std::string body) {
    open_.batch.history.push_back(
        {.kind = std::move(kind), .subject = std::move(subject), .at = now(), .body = std::move(body)});
}

void Scheduler::Impl::audit(const Actor& actor, std::string action, std::string subject, std::string detail) {
    history("audit", actor.name,
            stored_text(AuditRow{.at = now(),
                                 .actor = actor.name,
                                 .action = std::move(action),
                                 .subject = std::move(subject),
                                 .detail = std::move(detail)}));
}

void Scheduler::Impl::event(std::string kind, std::string subject, std::string state, std::string reason,
                            std::string detail) {
    open_.events.push_back({.sequence = next_event_++,
                            .at = now(),
                            .kind = std::move(kind),
                            .subject = std::move(subject),
                            .state = std::move(state),
                            .reason = std::move(reason),
                            .detail = std::move(detail)});
}

// ---- time -------------------------------------------------------------------------------------------------

void Scheduler::Impl::sweep() {
    sweep_timer_ = env_.loop.after(sweep_period, [this] { sweep(); });
    rest();
    if (stopped_) return;
    check_heartbeats();
    check_maintenance();
    defrag_now_and_then();
    relieve_cards();
    for (auto& [name, queue] : queues_) {
        if (!queue.waits_changed) continue;
        queue.waits_changed = false;
        std::vector<double> sorted(queue.waits.begin(), queue.waits.end());
        std::sort(sorted.begin(), sorted.end());
        const auto at = [&](double part) {
            return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
        };
        queue.p50 = at(0.5);
        queue.p95 = at(0.95);
        touch_queue(name);
    }
    if (free_changed_) {
        free_changed_ = false;
        open_.update.free = engine_.largest_free();
        wake();
    }
    refresh_plugins();
    const auto failing = outbox_.failing();
    if (failing.tasks || outbox_.dead) problems_changed_ = true;
    if (problems_changed_) wake();
    pump_callbacks();
}

// Retention: decision traces and audit rows for `decision_retention`, ended jobs as long.
void Scheduler::Impl::forget_old() {
    forget_timer_ = env_.loop.after(forget_period, [this] { forget_old(); });
    if (stopped_) return;
    const Instant before = now() - config_.decision_retention;
    std::size_t rows = 0;
    for (const char* kind : {"decision", "job_state", "audit"}) {
        if (const auto gone = env_.store.forget_history(kind, before))
            rows += *gone;
        else
            log::warning("old history cannot be dropped", {{"kind", kind}, {"why", gone.error().text()}});
    }
    std::size_t gone = 0;
    constexpr std::size_t jobs_per_sweep = 5'000;
    JobFilter ended;
    for (const StateRow& row : state_table())
        if (row.terminal) ended.states.push_back(row.state);
    if (const auto page = read_.jobs(ended, "submitted", jobs_per_sweep, {})) {
        for (const api::JobRow& row : page->items) {
            if (!row.ended || row.ended >= before || jobs_.contains(row.id)) continue;
            erase("job/" + row.id);
            erase("job/" + row.id + "/spec");
            open_.update.removed_jobs.push_back(row.id);
            ++gone;
        }
    }
    for (const std::uint64_t kind : profiles_.forget(before)) erase(Profiles::key_of(kind));
    for (auto it = idempotency_.begin(); it != idempotency_.end();) {
        if (it->second.at + Millis(86'400'000) < now()) {
            erase("idem/" + it->first);
            it = idempotency_.erase(it);
        } else {
            ++it;
        }
    }
    // Nodes that have been gone for as long, and hold nothing.
    for (auto it = nodes_.begin(); it != nodes_.end();) {
        Node& node = it->second;
        if (!node.state.lost || node.state.since >= before || !node.tasks.empty() || node.touched) {
            ++it;
            continue;
        }
        engine_.apply(engine::NodeRemoved{node.name});
        erase("node/" + node.name);
        erase("node/" + node.name + "/state");
        open_.update.removed_nodes.push_back(node.name);
        log::info("a node that is lost for long is dropped", {{"node", node.name}});
        problems_changed_ = true;
        it = nodes_.erase(it);
    }
    if (rows || gone)
        log::info("old history dropped", {{"rows", rows}, {"jobs", gone}, {"before", format(before)}});
    wake();
}

void Scheduler::Impl::stop() {
    if (stopped_) return;
    stopped_ = true;
    log::info("scheduler stops", {{"term", term_}});
}

// ---- the face ---------------------------------------------------------------------------------------------

Scheduler::Scheduler(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Scheduler::~Scheduler() = default;

Result<std::unique_ptr<Scheduler>> Scheduler::start(Config config, Env env) {
    auto impl = std::make_unique<Impl>(std::move(config), std::move(env));
    CRATER_TRY_VOID(impl->recover());
    return std::unique_ptr<Scheduler>(new Scheduler(std::move(impl)));
}

void Scheduler::submit(Submit command, Reply<Submitted> reply) {
    impl_->submit(std::move(command), std::move(reply));
}
void Scheduler::act(Act command, Reply<JobRecordPtr> reply) {
    impl_->act(std::move(command), std::move(reply));
}
void Scheduler::drain(const std::string& node, bool draining, const api::ReasonBody& body, const Actor& actor,
                      Reply<api::NodeRow> reply) {
    impl_->drain(node, draining, body, actor, std::move(reply));
}
void Scheduler::set_taint(const std::string& node, const Taint& taint, bool off, const Actor& actor,
                          Reply<api::NodeRow> reply) {
    impl_->set_taint(node, taint, off, actor, std::move(reply));
}
void Scheduler::plan_maintenance(const std::string& node, std::optional<Maintenance> window,
                                 const Actor& actor, Reply<api::NodeRow> reply) {
    impl_->plan_maintenance(node, window, actor, std::move(reply));
}
void Scheduler::set_queue(QueueSpec queue, const Actor& actor, Reply<api::QueueView> reply) {
    impl_->set_queue(std::move(queue), actor, std::move(reply));
}
void Scheduler::set_quota(const std::string& tenant, const api::QuotaChange& change, const Actor& actor,
                          Reply<api::QuotaView> reply) {
    impl_->set_quota(tenant, change, actor, std::move(reply));
}
void Scheduler::create_token(const api::TokenRequest& request, const Actor& actor,
                             Reply<api::TokenView> reply) {
    impl_->create_token(request, actor, std::move(reply));
}
void Scheduler::revoke_token(const std::string& id, const Actor& actor, Reply<api::TokenView> reply) {
    impl_->revoke_token(id, actor, std::move(reply));
}
void Scheduler::ensure_token(const std::string& name, Role role, const std::string& secret,
                             Reply<api::TokenView> reply) {
    impl_->ensure_token(name, role, secret, std::move(reply));
}
Scheduler::Reloaded Scheduler::reload(Config config) { return impl_->reload(std::move(config)); }
void Scheduler::why(const std::string& job, const engine::WhyQuestion& question, Reply<engine::Why> reply) {
    impl_->why(job, question, std::move(reply));
}
void Scheduler::what_if(const engine::Supposed& supposed, const Actor& actor, Reply<engine::WhatIf> reply) {
    impl_->what_if(supposed, actor, std::move(reply));
}
void Scheduler::plan_quota(const api::QuotaPlan& plan, Reply<engine::WhatIf> reply) {
    impl_->plan_quota(plan, std::move(reply));
}
void Scheduler::defrag(const api::DefragRequest& request, const Actor& actor,
                       Reply<api::DefragStarted> reply) {
    impl_->defrag(request, actor, std::move(reply));
}
void Scheduler::estimates(const std::vector<std::string>& jobs,
                          Reply<std::vector<Result<engine::StartEstimate>>> reply) {
    impl_->estimates(jobs, std::move(reply));
}
void Scheduler::fit(const JobSpec& spec, const Actor& actor, Reply<api::FitView> reply) {
    impl_->fit(spec, actor, std::move(reply));
}
void Scheduler::tables(Millis wait, Reply<Tables> reply) { impl_->tables(wait, std::move(reply)); }
std::uint64_t Scheduler::log(const LogQuery& query, std::function<void(std::string)> data,
                             std::function<void(Result<void>)> end) {
    return impl_->log(query, std::move(data), std::move(end));
}
void Scheduler::plugins(Reply<std::vector<api::PluginView>> reply) { impl_->plugins(std::move(reply)); }
void Scheduler::stop_log(std::uint64_t handle) { impl_->stop_log(handle); }
wire::LinkCallbacks Scheduler::agent_link(std::function<std::shared_ptr<wire::Link>()> link) {
    return impl_->agent_link(std::move(link));
}
const ReadModel& Scheduler::read() const { return impl_->read_; }
EventHub& Scheduler::events() { return impl_->hub_; }
Result<std::vector<store::HistoryRow>> Scheduler::history(const store::HistoryQuery& query) const {
    return impl_->store().history(query);
}
api::JobMetrics Scheduler::job_metrics(const std::string& job) const { return impl_->series_.of(job); }
void Scheduler::stop() { impl_->stop(); }

}  // namespace crater::scheduler
