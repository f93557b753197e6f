// What people do to a job: cancel, evict, resume.
#include "crater/base/ids.h"
#include "impl.h"

namespace crater::scheduler {

void Scheduler::Impl::act(Act command, Reply<JobRecordPtr> reply) {
    if (refuse_when_stopped(reply)) return;
    Job* job = find(command.job);
    const JobRecordPtr record = read_.job(command.job);
    if (!job && !record && command.action == Action::cancel) return cancel_array(command, std::move(reply));
    const auto unknown = [&] {
        reply(fail(Code::not_found, "there is no job " + shown(command.job), "job"));
    };
    if (!job && !record) return unknown();
    if (command.actor.role == Role::tenant &&
        !tenant_below(job ? job->fixed->tenant : record->tenant(), command.actor.tenant))
        return unknown();

    const auto answer = [&] {
        reply_when_durable<JobRecordPtr>(
            std::move(reply), [this, id = command.job]() -> Result<JobRecordPtr> {
                if (auto now_so = read_.job(id)) return now_so;
                return crater::fail(Code::not_found, "the job " + shown(id) + " is gone");
            });
    };
    const State state = job ? job->status().state : record->state();
    const bool over = state_row(state).terminal;
    const auto conflict = [&](const std::string& what) {
        reply(fail(Code::conflict, "the job has " + what + " as " + std::string(name_of(state)), "job"));
    };
    const std::string by =
        "by " + command.actor.name + (command.body.reason.empty() ? "" : ": " + command.body.reason);

    if (command.action == Action::resume) {
        if (state == State::finished) return conflict("ended well");
        if (!over) return conflict("not ended, it stands");
        if (job)
            return reply(
                fail(Code::unavailable, "the job is still being stopped", "job", "try again in a moment"));
        if (auto done = revive(command.job, by); !done) return reply(fail(std::move(done.error())));
        audit(command.actor, "resume", command.job, command.body.reason);
        return answer();
    }

    const bool evict = command.action == Action::evict;
    const State outcome = evict ? State::evicted : State::cancelled;
    if (over) return state == outcome ? answer() : conflict("already ended");  // the same again is no error
    audit(command.actor, evict ? "evict" : "cancel", command.job, command.body.reason);
    order_stop(*job, {.outcome = outcome,
                      .reason = evict ? Reason::admin_evicted : Reason::user_cancelled,
                      .detail = by,
                      .since = now(),
                      .grace = command.body.grace_period >= Millis(0) ? command.body.grace_period
                                                                      : job->fixed->outline->grace_period});
    answer();
}

// The id of an array: all of its jobs that have not ended.
void Scheduler::Impl::cancel_array(const Act& command, Reply<JobRecordPtr> reply) {
    // by length, then text: in the order of their numbers
    std::vector<std::pair<std::size_t, std::string>> members;
    for (const auto& [id, job] : jobs_) {
        const auto& labels = job->fixed->outline->labels;
        const auto it = labels.find(std::string(api::array_label));
        if (it == labels.end() || it->second != command.job || !id.starts_with(command.job + ".") ||
            state_row(job->status().state).terminal)
            continue;
        if (command.actor.role == Role::tenant && !tenant_below(job->fixed->tenant, command.actor.tenant))
            continue;
        members.emplace_back(id.size(), id);
    }
    std::sort(members.begin(), members.end());
    if (members.empty()) {
        if (read_.job(command.job + ".0"))
            return reply(
                fail(Code::conflict, "all jobs of the array " + shown(command.job) + " have ended", "job"));
        return reply(fail(Code::not_found, "there is no job " + shown(command.job), "job"));
    }
    audit(command.actor, "cancel", command.job, command.body.reason);
    for (const auto& [length, id] : members) {
        Job& job = *jobs_.at(id);
        order_stop(job, {.outcome = State::cancelled,
                         .reason = Reason::user_cancelled,
                         .detail = "by " + command.actor.name +
                                   (command.body.reason.empty() ? "" : ": " + command.body.reason),
                         .since = now(),
                         .grace = command.body.grace_period >= Millis(0) ? command.body.grace_period
                                                                         : job.fixed->outline->grace_period});
    }
    reply_when_durable<JobRecordPtr>(
        std::move(reply), [this, id = members.front().second]() -> Result<JobRecordPtr> {
            if (auto now_so = read_.job(id)) return now_so;
            return crater::fail(Code::not_found, "the job " + shown(id) + " is gone");
        });
}

// A job that ended otherwise than well waits again under its id, so that it finds its checkpoints. This is a
// new life, not a step of the old one: the table of states ends with the old one's end.
Result<void> Scheduler::Impl::revive(const std::string& id, const std::string& by) {
    CRATER_TRY(spec_text, env_.store.get("job/" + id + "/spec"));
    CRATER_TRY(status_text, env_.store.get("job/" + id));
    if (!spec_text || !status_text)
        return fail(Code::unavailable, "the end of the job is not stored yet", "job",
                    "try again in a moment");
    auto owned = std::make_unique<Job>(awake_);
    Job& job = *owned;
    auto fixed = std::make_shared<FixedJob>();
    CRATER_TRY_VOID(read_stored_job(*spec_text, *fixed, outlines_));
    CRATER_TRY(stored, stored_object<StoredStatus>(*status_text));
    job.fixed = std::move(fixed);
    job.edit() = std::move(stored);
    JobStatus& status = job.change();
    // What it waited for may have ended meanwhile; who resumes it wants it to run.
    std::erase_if(job.edit().waits_for, [&](const std::string& other) {
        const Job* live = find(other);
        return !live || state_row(live->status().state).terminal;
    });
    job.blocked = !job.s().waits_for.empty();
    engine::EngineJob info = for_engine(job);
    if (!queues_.contains(job.fixed->queue)) return fail(Code::conflict, "its queue is gone", "job");
    CRATER_TRY_VOID(engine_.admit(info));  // it may have become impossible
    for (TaskStatus& task : status.tasks) {
        if (task.allocation) job.edit().past.push_back({task.index, task.attempt, task.allocation->node});
        task.allocation.reset();
        task.state = State::pending;
        task.reason = Reason::requeued;
        task.detail = by;
        task.since = now();
    }
    status.state = State::pending;
    status.reason = Reason::requeued;
    status.detail = "resumed " + by;
    status.ended = {};
    status.restarts = 0;
    job.edit().stop.reset();
    jobs_[id] = std::move(owned);
    for (const std::string& other : job.s().waits_for) dependents_[other].push_back(id);
    ensure_tenant(job.fixed->tenant);
    engine_.apply(engine::JobAdded{std::move(info)});
    job.known_to_engine = true;
    recount(job);
    note_change(job);
    set_deadline(job);
    return {};
}

}  // namespace crater::scheduler
