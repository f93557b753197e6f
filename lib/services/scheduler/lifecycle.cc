// The state machine of tasks and jobs: what a decision, a report, an order or a timeout does. Every change
// goes through set_task and settle; every end of a holding through free_slices; every job leaves through
// conclude.
#include "crater/base/log.h"
#include "impl.h"
#include "metrics.h"

namespace crater::scheduler {
namespace {

constexpr std::size_t waits_kept = 1'000;
constexpr std::size_t past_runs_kept = 32;
constexpr Millis ask_again{30'000};  // after a stop's grace
// a task that ran longer than this is worth waiting for when its node is lost
constexpr Millis settled_run{600'000};

bool terminal(State state) { return state_row(state).terminal; }
bool holding(const TaskStatus& task) { return state_row(task.state).holds; }

// By our clock: the node's may be another.
Instant running_since(const Job& job, const TaskStatus& task) {
    return job.s().runs_since ? job.s().runs_since : task.started;
}

}  // namespace

bool Job::holds() const { return std::any_of(status().tasks.begin(), status().tasks.end(), holding); }

Job* Scheduler::Impl::find(const std::string& id) {
    const auto it = jobs_.find(id);
    return it == jobs_.end() ? nullptr : it->second.get();
}

void Scheduler::Impl::set_task(Job& job, TaskStatus& task, State state, Reason reason,
                               const std::string& detail) {
    CRATER_CHECK(may_change(task.state, state),
                 job.id() + ": " + std::string(name_of(task.state)) + " -> " + std::string(name_of(state)));
    task.state = state;
    task.reason = reason;
    task.detail = detail;
    task.since = now();
    // who waits again when he ends ran no longer than he did
    if (terminal(state) && !task.ended) task.ended = task.since;
    touch(job);
}

// The job's state follows from its tasks'. Within one state a single task's phases and reasons are the job's.
void Scheduler::Impl::settle(Job& job, Reason reason, const std::string& detail) {
    JobStatus& status = job.change();
    std::vector<State> states;
    for (const TaskStatus& task : status.tasks) states.push_back(task.state);
    State next = job_state(states);
    // A job is back in its queue, or has made room, when the last of its tasks has.
    if (job.holds() && (next == State::pending || next == State::preempted))
        next = status.state == State::lost ? State::lost : State::preempting;
    if (status.state == State::preempting && next == State::pending) next = State::preempted;
    const bool changed = next != status.state;
    recount(job);
    set_deadline(job);
    if (!changed && (status.tasks.size() != 1 || (reason == status.reason && detail == status.detail)))
        return touch(job);
    // a gang that failed stays so while the rest of it stops
    if (changed && terminal(status.state)) return touch(job);
    status.state = next;
    status.reason = reason;
    status.detail = detail;
    if (changed && terminal(next)) {
        status.ended = now();
        ended_.emplace_back(job.id(), next == State::finished);
        if (env_.metrics && status.started)
            env_.metrics->observe(metric::job_run,
                                  static_cast<double>((status.ended - status.started).count()) / 1000,
                                  {job.fixed->queue, std::string(name_of(next))});
    }
    note_change(job);
}

// Says it to all who follow: history, live events, AllData.
void Scheduler::Impl::note_change(Job& job) {
    const JobStatus& status = job.status();
    history("job_state", job.id(),
            stored_text(StateChange{now(), status.state, status.reason, status.detail}));
    event("job", job.id(), std::string(name_of(status.state)), std::string(name_of(status.reason)),
          status.detail);
    tell_alldata(job);
    touch(job);
}

// ---- decisions --------------------------------------------------------------------------------------------

void Scheduler::Impl::place(const engine::Placement& placement, Instant at) {
    Job* found = find(placement.job);
    CRATER_CHECK(found, "a job was placed that is not known: " + placement.job);
    Job& job = *found;
    JobStatus& status = job.change();
    const bool first = status.tasks.front().attempt == 0;
    job.edit().placed = at;
    job.edit().runs_since = {};
    std::string nodes;
    for (const auto& [index, allocation] : engine_.allocations(placement)) {
        TaskStatus& task = status.tasks.at(static_cast<std::size_t>(index));
        set_task(job, task, State::preparing, Reason::placed, "on " + allocation.node);
        ++task.attempt;
        task.allocation = allocation;
        task.exit_code = -1;
        task.started = task.ended = {};
        take_slices(nodes_.at(allocation.node), job, task);
        if (nodes.find(allocation.node) == std::string::npos)
            nodes += (nodes.empty() ? "on " : ", ") + allocation.node;
        order_launch(job, task);
    }
    history("decision", job.id(), stored_text(engine_.words(placement.trace)));
    if (first) {
        const double waited = static_cast<double>((at - status.submitted).count()) / 1000;
        Queue& queue = queues_.at(job.fixed->queue);
        queue.waits.push_back(waited);
        if (queue.waits.size() > waits_kept) queue.waits.pop_front();
        queue.waits_changed = true;
        if (env_.metrics) env_.metrics->observe(metric::queue_wait, waited, {job.fixed->queue});
    }
    if (nodes.size() > 200) nodes = "on " + std::to_string(placement.tasks) + " tasks' nodes";
    settle(job, Reason::placed, nodes);
}

void Scheduler::Impl::take_slices(Node& node, const Job& job, const TaskStatus& task) {
    node.tasks.set({job.id(), task.index}, task.attempt);
    for (const GpuSlice& slice : task.allocation->gpus)
        for (api::CardView& card : node.edit_row().cards)
            if (card.index == slice.index)
                card.slices.push_back({job.id(), task.index, slice.compute, slice.memory});
    touch(node);
}

void Scheduler::Impl::preempt(const engine::Preemption& preemption) {
    Job* victim = find(preemption.victim);
    CRATER_CHECK(victim, "a job was chosen to make room that is not known: " + preemption.victim);
    if (victim->s().stop) return;  // it stops already
    if (env_.metrics) env_.metrics->add(metric::preemptions, 1);
    order_stop(*victim,
               {.outcome = State::preempted,
                .reason = Reason::preempted_for,
                .detail = preemption.detail.empty() ? "for job " + preemption.preemptor : preemption.detail,
                .requeue = true,
                .counts = true,
                .preemptor = preemption.preemptor,
                .since = now(),
                .grace = victim->fixed->outline->grace_period});
}

// ---- stopping ---------------------------------------------------------------------------------------------

// Tells every task that holds something to stop. An order that ends the job replaces one after which it would
// wait again, not the other way.
void Scheduler::Impl::order_stop(Job& job, StopOrder order) {
    if (job.s().stop && !(job.s().stop->requeue && !order.requeue)) return;
    job.edit().stop = std::make_shared<const StopOrder>(order);
    job.next_ask = order.since + order.grace + ask_again;
    // So that the engine counts on its slices and asks for no others.
    if (order.preemptor.empty() && job.known_to_engine && job.holds())
        engine_.apply(engine::PreemptionStarted{job.id(), {}});
    bool told = false;
    for (TaskStatus& task : job.change().tasks) {
        if (!holding(task)) {
            // What waits again or was waiting has nothing to stop.
            if (!order.requeue && !terminal(task.state) && may_change(task.state, order.outcome))
                set_task(job, task, order.outcome, order.reason, order.detail);
            continue;
        }
        told = true;
        if (task.state == State::lost) continue;
        if (order.requeue && may_change(task.state, State::preempting))
            set_task(job, task, State::preempting, order.reason, order.detail);
        order_stop_of(task.allocation->node, {job.id(), task.index, task.attempt}, order);
    }
    settle(job, order.reason, told ? (order.detail.empty() ? "stopping" : order.detail) : order.detail);
    // Nobody can tell a lost node: its tasks are given up at once when the job does not want them any more.
    // One that is back has told that they ended, and when follows.
    if (!order.requeue)
        for (TaskStatus& task : job.change().tasks)
            if (task.state == State::lost && nodes_.at(task.allocation->node).state.lost)
                give_up(job, task, order.detail);
    conclude(job);
}

// ---- ends -------------------------------------------------------------------------------------------------

void Scheduler::Impl::free_slices(Job& job, TaskStatus& task) {
    engine_.apply(engine::TaskFreed{job.id(), task.index, now()});
    job.freed = true;
    task.ended = now();
    Node& node = nodes_.at(task.allocation->node);
    node.tasks.erase({job.id(), task.index});
    for (api::CardView& card : node.edit_row().cards)
        std::erase_if(card.slices, [&](const api::CardSlice& slice) {
            return slice.job == job.id() && slice.task == task.index;
        });
    touch(node);
}

bool Scheduler::Impl::may_restart(const Job& job) const {
    const Restart& restart = job.fixed->outline->restart;
    return restart.policy == RestartPolicy::on_failure && job.status().restarts < restart.max &&
           !job.s().stop;
}

// The task does not run any more: its agent says so. `state` is what the agent saw.
void Scheduler::Impl::task_ended(Job& job, TaskStatus& task, State state, Reason reason,
                                 const std::string& detail, std::int64_t exit_code, Instant at) {
    free_slices(job, task);
    task.exit_code = exit_code;
    const bool restart = state == State::failed && may_restart(job) && may_change(task.state, State::pending);
    const std::shared_ptr<const StopOrder> stop = job.s().stop;
    Reason why = reason;
    std::string words = detail;
    State next = state;
    if (stop && state != State::finished) {
        next = stop->outcome;
        if (why == Reason::none || !stop->requeue)
            why = stop->reason, words = stop->detail.empty() ? detail : stop->detail;
    } else if (restart) {
        next = State::pending;
    }
    // A requeue passes over Preempted only for those that were told to make room; others go straight back.
    if (next == State::preempted && !may_change(task.state, State::preempted))
        next = may_change(task.state, State::pending) ? State::pending : State::evicted;
    set_task(job, task, next, why, words);
    task.ended = at ? at : now();
    settle(job, why, words);

    if (restart) {
        ++job.change().restarts;
        order_stop(job, {.outcome = State::preempted,
                         .reason = Reason::requeued,
                         .detail = "restart " + std::to_string(job.status().restarts) + " of " +
                                   std::to_string(job.fixed->outline->restart.max) + " after " +
                                   (detail.empty() ? std::string(name_of(reason)) : detail),
                         .requeue = true,
                         .since = now(),
                         .grace = job.fixed->outline->grace_period});
        return;
    }
    // A gang does not go on without one of its tasks.
    if (!stop && next != State::finished && job.holds()) {
        order_stop(
            job, {.outcome = terminal(next) ? State::cancelled : State::preempted,
                  .reason = why,
                  .detail = "task " + std::to_string(task.index) + " ended as " + std::string(name_of(next)),
                  .requeue = !terminal(next),
                  .since = now(),
                  .grace = job.fixed->outline->grace_period});
        return;
    }
    conclude(job);
}

// When nothing is held any more: the job waits again, or has ended.
void Scheduler::Impl::conclude(Job& job) {
    if (job.holds() || job.retired) return;
    const auto& tasks = job.status().tasks;
    const bool all_terminal =
        std::all_of(tasks.begin(), tasks.end(), [](const TaskStatus& t) { return terminal(t.state); });
    const bool all_finished = std::all_of(tasks.begin(), tasks.end(),
                                          [](const TaskStatus& t) { return t.state == State::finished; });
    if (!all_terminal && !job.s().stop && !job.freed) return;  // it waits, and nothing happened to it
    const bool again = job.s().stop ? job.s().stop->requeue && !all_finished : !all_terminal;
    if (again) {
        StopOrder order;
        order.reason = Reason::requeued;
        if (job.s().stop) order = *job.s().stop;
        job.edit().stop.reset();
        return requeue(job, order.reason, order.detail, order.counts);
    }
    if (all_terminal) retire(job);
}

void Scheduler::Impl::requeue(Job& job, Reason reason, const std::string& detail, bool counts) {
    JobStatus& status = job.change();
    if (counts) ++status.preemptions;
    for (TaskStatus& task : status.tasks) {
        if (task.allocation) {
            auto& past = job.edit().past;
            past.push_back({task.index, task.attempt, task.allocation->node});
            if (past.size() > past_runs_kept) past.erase(past.begin());
            task.allocation.reset();
        }
        if (task.state == State::pending) continue;
        // A new attempt, not a step of the old one: also of tasks of a gang that had ended well.
        task.state = State::pending;
        task.reason = reason;
        task.detail = detail;
        task.since = now();
    }
    job.freed = false;
    engine_.apply(engine::JobRequeued{job.id(), status.preemptions});
    job.edit().received = engine_.received(job.id());
    settle(job, reason, detail);
    touch(job);
}

void Scheduler::Impl::retire(Job& job) {
    job.edit().stop.reset();
    job.retired = true;
    if (const auto* known =
            profiles_.ended(job.id(), job.fixed->kind, job.status().state == State::finished, now()))
        write(Profiles::key_of(job.fixed->kind), stored_value(*known));
    if (job.status().reason == Reason::out_of_memory && profiles_.mistaken(job.fixed->kind))
        erase(Profiles::key_of(job.fixed->kind));
    if (job.known_to_engine) {
        job.edit().received = engine_.received(job.id());
        engine_.apply(engine::JobRemoved{job.id(), now(), job.status().state == State::finished});
        job.known_to_engine = false;
    }
    recount(job);
    set_deadline(job);
    touch(job);
}

// ---- lost nodes -------------------------------------------------------------------------------------------

void Scheduler::Impl::lose_task(Job& job, TaskStatus& task, const std::string& detail) {
    if (task.state == State::lost) return;
    set_task(job, task, State::lost, Reason::node_lost, detail);
    settle(job, Reason::node_lost, detail);
}

// Nobody waits for it any more. It may still run where nobody hears: that node takes no new work before it
// said that it is gone.
void Scheduler::Impl::give_up(Job& job, TaskStatus& task, const std::string& detail) {
    Node& node = nodes_.at(task.allocation->node);
    node.strays.insert({job.id(), task.index, task.attempt});
    free_slices(job, task);
    if (job.s().stop && !job.s().stop->requeue) {
        set_task(job, task, job.s().stop->outcome, job.s().stop->reason, job.s().stop->detail);
        settle(job, job.s().stop->reason, job.s().stop->detail);
        return conclude(job);
    }
    set_task(job, task, State::pending, Reason::node_lost, detail);
    if (!job.s().stop)
        return order_stop(job, {.outcome = State::preempted,
                                .reason = Reason::node_lost,
                                .detail = detail,
                                .requeue = true,
                                .since = now(),
                                .grace = job.fixed->outline->grace_period});
    settle(job, Reason::node_lost, detail);
    conclude(job);
}

// ---- deadlines --------------------------------------------------------------------------------------------

Instant Scheduler::Impl::deadline_of(const Job& job) const {
    const JobSpec& spec = *job.fixed->outline;
    const JobStatus& status = job.status();
    Instant first;
    const auto consider = [&](Instant at) {
        if (!first || at < first) first = at;
    };
    if (job.retired) return first;
    if (job.place == Place::waiting && spec.max_queue_time > Millis(0) && !job.s().late)
        consider(status.submitted + spec.max_queue_time);
    bool stopping = false;
    for (const TaskStatus& task : status.tasks) {
        if (!holding(task)) continue;
        if (task.state == State::lost) {
            const bool settled = task.started && task.since - task.started > settled_run;
            consider(task.since + (settled ? config_.lost_grace : Millis(0)));
        } else if (job.s().stop) {
            stopping = true;
        } else if (task.state == State::preparing || task.state == State::ready) {
            consider(task.since + state_row(task.state).timeout);
        } else if (task.state == State::running && spec.time_limit > Millis(0)) {
            consider(running_since(job, task) + spec.time_limit);
        }
    }
    if (stopping) consider(job.next_ask);
    return first;
}

void Scheduler::Impl::set_deadline(Job& job) {
    const Instant next = deadline_of(job);
    if (next == job.deadline) return;
    if (job.deadline) deadlines_.erase(JobAt{job.deadline.ms, &job});
    if (next) deadlines_.insert({next.ms, &job});
    job.deadline = next;
    arm_deadlines();
}

void Scheduler::Impl::arm_deadlines() {
    const Instant first = deadlines_.empty() ? Instant{} : Instant{deadlines_.begin()->at};
    if (!first || (deadline_timer_ && deadline_armed_ <= first)) return;
    env_.loop.cancel(deadline_timer_);
    deadline_armed_ = first;
    deadline_timer_ = env_.loop.after(std::max(Millis(0), first - now()), [this] { on_deadlines(); });
}

void Scheduler::Impl::on_deadlines() {
    deadline_timer_ = 0;
    if (broken_) return;
    const Instant at = now();
    for (int handled = 0; !deadlines_.empty() && deadlines_.begin()->at <= at.ms && handled < 1'000;
         ++handled) {
        Job* const job = deadlines_.begin()->job;
        deadlines_.erase(deadlines_.begin());
        job->deadline = {};
        if (!job->retired) on_deadline(*job);
        set_deadline(*job);
    }
    arm_deadlines();
}

void Scheduler::Impl::on_deadline(Job& job) {
    const JobSpec& spec = *job.fixed->outline;
    const Instant at = now();
    if (job.place == Place::waiting && spec.max_queue_time > Millis(0) && !job.s().late &&
        at >= job.status().submitted + spec.max_queue_time) {
        job.edit().late = true;
        const std::string words =
            "it waits longer than the " + format(spec.max_queue_time) + " it was willing to";
        history("job_state", job.id(),
                stored_text(StateChange{at, job.status().state, Reason::max_queue_time, words}));
        event("job", job.id(), "sla_missed", std::string(name_of(Reason::max_queue_time)), words);
        touch(job);
    }
    for (std::size_t i = 0; i < job.status().tasks.size(); ++i) {
        const TaskStatus& task = job.status().tasks[i];
        if (task.state != State::lost) continue;
        const bool settled = task.started && task.since - task.started > settled_run;
        if (at >= task.since + (settled ? config_.lost_grace : Millis(0)))
            give_up(job, job.change().tasks[i], "node " + task.allocation->node + " did not come back");
        if (job.retired) return;
    }
    if (job.s().stop) {
        if (at < job.next_ask) return;
        job.next_ask = at + ask_again;
        for (const TaskStatus& task : job.status().tasks) {
            if (!holding(task) || task.state == State::lost) continue;
            log::warning("a task does not stop; its node is asked again",
                         {{"job", job.id()}, {"task", task.index}, {"node", task.allocation->node}});
            order_stop_of(task.allocation->node, {job.id(), task.index, task.attempt}, *job.s().stop);
        }
        return;
    }
    const auto fail_with = [&](Reason reason, std::string words) {
        const bool restart = reason == Reason::prepare_timeout && may_restart(job);
        if (restart) ++job.change().restarts;
        order_stop(job, {.outcome = restart ? State::preempted : State::failed,
                         .reason = reason,
                         .detail = std::move(words),
                         .requeue = restart,
                         .since = at,
                         .grace = spec.grace_period});
    };
    for (const TaskStatus& task : job.status().tasks) {
        const Millis limit = state_row(task.state).timeout;
        if ((task.state == State::preparing || task.state == State::ready) && at >= task.since + limit)
            return fail_with(Reason::prepare_timeout, "not running " + format(limit) +
                                                          " after it was placed on " + task.allocation->node);
        if (task.state == State::running && spec.time_limit > Millis(0) &&
            at >= running_since(job, task) + spec.time_limit)
            return fail_with(Reason::time_limit, "it ran for its time limit of " + format(spec.time_limit));
    }
}

}  // namespace crater::scheduler
