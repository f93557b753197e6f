// Taking jobs in: whose, where, whether it could ever run, whether it was here before.
#include "crater/base/ids.h"
#include "crater/base/log.h"
#include "impl.h"
#include "metrics.h"

namespace crater::scheduler {

bool tenant_below(const std::string& tenant, const std::string& root) {
    return tenant == root ||
           (tenant.size() > root.size() && tenant[root.size()] == '/' && tenant.starts_with(root));
}

Result<std::string> Scheduler::Impl::queue_for(const JobSpec& spec) const {
    if (!spec.queue.empty()) {
        if (queues_.contains(spec.queue)) return spec.queue;
        std::vector<std::string> names;
        std::string all;
        for (const auto& [name, queue] : queues_) {
            names.push_back(name);
            all += (all.empty() ? "" : ", ") + name;
        }
        const std::string near = nearest(spec.queue, names);
        return fail(Code::invalid, "there is no queue " + shown(spec.queue), "queue",
                    near.empty() ? "one of " + all : "did you mean \"" + near + "\"?");
    }
    for (const auto& [name, queue] : queues_)
        if (std::find(queue.stored.spec.types.begin(), queue.stored.spec.types.end(), spec.type) !=
            queue.stored.spec.types.end())
            return name;
    for (const char* usual : {"training", "default"})
        if (queues_.contains(usual)) return std::string(usual);
    return queues_.begin()->first;
}

// Everything a spec leaves open, except what the engine fills.
Result<engine::EngineJob> Scheduler::Impl::resolve(const JobSpec& spec, const Actor& actor) const {
    auto full = std::make_shared<JobSpec>(spec);
    if (full->type == JobType::unset) full->type = engine::infer_type(*full);
    CRATER_TRY(queue, queue_for(*full));
    full->queue = queue;

    if (full->tenant.empty()) full->tenant = actor.tenant.empty() ? "default" : actor.tenant;
    CRATER_TRY_VOID(check_tenant(full->tenant, "tenant"));
    if (actor.role == Role::tenant && !tenant_below(full->tenant, actor.tenant))
        return fail(Code::forbidden, "the tenant " + shown(full->tenant) + " is not yours", "tenant",
                    "yours is \"" + actor.tenant + "\" and what is below it");

    const QueueSpec& spec_of_queue = queues_.at(queue).stored.spec;
    const int priority =
        full->priority.value >= 0 ? full->priority.value : std::max(spec_of_queue.priority.value, 0);
    full->priority.value = priority;
    return engine::EngineJob{.id = {},
                             .spec = full,
                             .queue = queue,
                             .tenant = full->tenant,
                             .priority = priority,
                             .preemptible = full->preemptible.value_or(spec_of_queue.default_preemptible),
                             .submitted = now()};
}

Result<void> Scheduler::Impl::check_limits(const engine::EngineJob& job, const Actor& actor,
                                           std::int64_t count) const {
    const Tenant usual;
    std::int64_t priority_max = 1000;
    bool known = false;
    Result<void> verdict{};
    for_each_ancestor(job.tenant, [&](const std::string& path) {
        const auto it = tenants_.find(path);
        const Tenant& tenant = it == tenants_.end() ? usual : it->second.tenant;
        if (!known || it != tenants_.end()) priority_max = std::min(priority_max, tenant.max_priority);
        known = true;
        const std::int64_t pending = it == tenants_.end() ? 0 : it->second.pending;
        if (verdict && pending + count > tenant.max_pending)
            verdict =
                fail(Code::limited,
                     "the tenant \"" + path + "\" has " + std::to_string(pending) +
                         " jobs waiting, at most " + std::to_string(tenant.max_pending) + " are allowed",
                     "tenant", "wait until some have started");
    });
    CRATER_TRY_VOID(verdict);
    if (actor.role == Role::tenant && job.priority > priority_max)
        return fail(Code::invalid,
                    "priority " + std::to_string(job.priority) + " is above what the tenant \"" + job.tenant +
                        "\" may ask for",
                    "priority", "at most " + std::to_string(priority_max));
    return {};
}

// The jobs it still has to wait for. A dependency that already failed it is an error of the submit.
Result<std::vector<std::string>> Scheduler::Impl::unmet_dependencies(const JobSpec& spec) const {
    std::vector<std::string> unmet;
    const auto look = [&](const std::string& id, bool must_end_well, const char* field) -> Result<void> {
        State state = State::pending;
        if (const auto live = jobs_.find(id); live != jobs_.end())
            state = live->second->status().state;
        else if (const auto record = read_.job(id))
            state = record->state();
        else
            return fail(Code::invalid, "there is no job " + shown(id), field,
                        "name the id of a job that was submitted before");
        if (!state_row(state).terminal) {
            if (std::find(unmet.begin(), unmet.end(), id) == unmet.end()) unmet.push_back(id);
        } else if (must_end_well && state != State::finished) {
            return fail(Code::conflict,
                        "the job " + shown(id) + " has already ended as " + std::string(name_of(state)),
                        field);
        }
        return {};
    };
    for (const std::string& id : spec.after_ok) CRATER_TRY_VOID(look(id, true, "after_ok"));
    for (const std::string& id : spec.after_any) CRATER_TRY_VOID(look(id, false, "after_any"));
    return unmet;
}

void Scheduler::Impl::ensure_tenant(const std::string& path) {
    // From the root down, so that the engine knows the parents first.
    std::vector<std::string> missing;
    for_each_ancestor(path, [&](const std::string& p) {
        if (!tenants_.contains(p)) missing.push_back(p);
    });
    for (auto it = missing.rbegin(); it != missing.rend(); ++it) {
        TenantEntry& entry = tenants_[*it];
        entry.tenant.path = *it;
        engine_.apply(engine::TenantSet{entry.tenant});
        write("tenant/" + *it, stored_value(entry.tenant));
    }
    if (!missing.empty()) touch_tenant(path);
}

// Moves the job between the counters of its queue and tenants.
void Scheduler::Impl::recount(Job& job) {
    const Place next = job.holds()                              ? Place::holding
                       : state_row(job.status().state).terminal ? Place::nowhere
                                                                : Place::waiting;
    if (next == job.place) return;
    Queue& queue = queues_.at(job.fixed->queue);
    const auto count = [&](Place place, int sign) {
        if (place == Place::holding) queue.running += sign;
        if (place != Place::waiting) return;
        const JobAt entry{job.status().submitted.ms, &job};
        if (sign > 0)
            queue.waiting.insert(entry);
        else
            queue.waiting.erase(entry);
        for_each_ancestor(job.fixed->tenant,
                          [&](const std::string& path) { tenants_.at(path).pending += sign; });
    };
    count(job.place, -1);
    count(next, 1);
    job.place = next;
    touch_queue(job.fixed->queue);
    touch_tenant(job.fixed->tenant);
}

void Scheduler::Impl::reply_submitted(const std::string& id, bool created, Reply<Submitted> reply) {
    reply_when_durable<Submitted>(std::move(reply), [this, id, created]() -> Result<Submitted> {
        if (auto record = read_.job(id)) return Submitted{std::move(record), created};
        return crater::fail(Code::not_found, "the job " + shown(id) + " is gone");
    });
}

void Scheduler::Impl::submit(Submit command, Reply<Submitted> reply) {
    if (refuse_when_stopped(reply)) return;
    const std::string& document = command.document;
    const std::string hash = sha256_hex(document.empty() ? stored_text(command.spec) : document);
    const auto same = [&](const std::string& id, std::string_view earlier, const char* what) {
        if (earlier == hash) return reply_submitted(id, false, reply);
        reply(fail(Code::conflict, std::string("this ") + what + " was used before with another document",
                   what, "the job is " + id));
    };

    std::string key;
    if (!command.idempotency_key.empty()) {
        key = sha256_hex(command.actor.name + '\n' + command.actor.tenant + '\n' + command.idempotency_key);
        if (const auto it = idempotency_.find(key); it != idempotency_.end())
            return same(it->second.job, it->second.document_hash, "Idempotency-Key");
    }
    if (!command.task_id.empty()) {
        if (auto good = check_id(command.task_id, "task_id"); !good)
            return reply(fail(std::move(good.error())));
        // Somebody else's job of this id is a conflict without a word about it.
        const auto foreign = [&](const std::string& tenant) {
            return command.actor.role == Role::tenant && !tenant_below(tenant, command.actor.tenant);
        };
        const auto taken = [&] { reply(fail(Code::conflict, "this task_id is taken", "task_id")); };
        if (const Job* known = find(command.task_id)) {
            if (foreign(known->fixed->tenant)) return taken();
            return same(known->id(), known->fixed->document_hash(), "task_id");
        }
        if (const auto record = read_.job(command.task_id)) {
            if (foreign(record->tenant())) return taken();
            return same(command.task_id, record->document_hash(), "task_id");
        }
    }

    auto resolved = resolve(command.spec, command.actor);
    if (!resolved) return reply(fail(std::move(resolved.error())));
    const std::int64_t count = std::max<std::int64_t>(1, command.spec.array);
    if (auto good = check_limits(*resolved, command.actor, count); !good)
        return reply(fail(std::move(good.error())));
    auto unmet = unmet_dependencies(command.spec);
    if (!unmet) return reply(fail(std::move(unmet.error())));
    const bool array = command.spec.array > 0;
    if (array && !command.task_id.empty())
        return reply(fail(Code::invalid, "an array has no task_id", "array", "submit it as a job file"));
    // The jobs of an array are named after it: job-x.0, job-x.1.
    const auto first_of = [&](const std::string& id) { return array ? id + ".0" : id; };
    std::string id = command.task_id;
    while (id.empty() || find(first_of(id)) ||
           (command.task_id.empty() && (read_.job(id) || read_.job(first_of(id)))))
        id = make_id("job", env_.rng);
    auto admitted = admit(std::move(*resolved));
    if (!admitted) return reply(fail(std::move(admitted.error())));
    if (auto good = check_quota_policy(*admitted->job.spec); !good)
        return reply(fail(std::move(good.error())));
    if (command.spec.type == JobType::unset)
        admitted->notes.insert(
            admitted->notes.begin(),
            "type " + std::string(name_of(admitted->job.spec->type)) + " was inferred from the command");
    for (std::string& note : kept_without_effect(*admitted->job.spec))
        admitted->notes.push_back(std::move(note));
    add_profile(*admitted);

    ensure_tenant(admitted->job.tenant);
    if (array) {
        admitted->notes.push_back("one of the " + std::to_string(count) + " jobs of the array " + id);
        for (std::int64_t i = 0; i < count; ++i) accept(command, hash, *admitted, id, i, *unmet);
    } else {
        accept(command, hash, *admitted, id, -1, *unmet);
    }
    if (!key.empty()) {
        const StoredIdempotency row{first_of(id), hash, now()};
        write("idem/" + key, stored_value(row));
        idempotency_[key] = row;
    }
    audit(command.actor, "submit", id, admitted->job.spec->name);
    reply_submitted(first_of(id), true, std::move(reply));
}

// Of which kind a job is is known once its request is rounded; then what it leaves open beside its cards is
// filled from what its kind used, where some node could give that.
Result<engine::Engine::Admitted> Scheduler::Impl::admit(engine::EngineJob job) const {
    CRATER_TRY(admitted, engine_.admit(job));
    const Resources& asked = job.spec->resources;
    const bool open = (!asked.cpu.cores || !asked.memory.size) && admitted.job.spec->resources.gpu.count;
    if (!open || !config_.scheduling.enable_prediction) return admitted;
    const std::uint64_t kind = Profiles::kind_of(admitted.job.tenant, *admitted.job.spec);
    if (profiles_.runs(kind) < Profiles::runs_to_fill) return admitted;
    job.profile = profiles_.of(kind);
    auto filled = engine_.admit(std::move(job));
    return filled ? std::move(filled) : Result<engine::Engine::Admitted>(std::move(admitted));
}

// What jobs of its kind used is what it is expected to use, and its owner is told.
void Scheduler::Impl::add_profile(engine::Engine::Admitted& admitted) const {
    const std::uint64_t kind = Profiles::kind_of(admitted.job.tenant, *admitted.job.spec);
    admitted.job.profile = profiles_.of(kind);
    if (!admitted.job.profile || !config_.scheduling.enable_prediction) return;
    const engine::Profile& most = *admitted.job.profile;
    std::string used;
    const auto say = [&](const std::string& amount) { used += (used.empty() ? "" : ", ") + amount; };
    if (most.gpu_memory && admitted.job.spec->resources.gpu.count)
        say(std::to_string(most.gpu_memory->value) + " MiB on a card");
    if (most.cpu) say(std::to_string((most.cpu->value + 999) / 1000) + " cores");
    if (most.memory) say(std::to_string((most.memory->value + (1 << 20) - 1) >> 20) + " MiB of memory");
    const std::int64_t runs = profiles_.runs(kind);
    admitted.notes.push_back("a task is expected to use up to " + used + ", as " +
                             (runs == 1 ? "one like it" : std::to_string(runs) + " like it") + " did");
}

void Scheduler::Impl::accept(const Submit& command, const std::string& hash,
                             const engine::Engine::Admitted& admitted, const std::string& id,
                             std::int64_t index, const std::vector<std::string>& unmet) {
    auto fixed = std::make_shared<FixedJob>();
    engine::EngineJob accepted = admitted.job;
    accepted.id = index < 0 ? id : id + "." + std::to_string(index);
    if (const Job* first = index > 0 ? find(id + ".0") : nullptr) {
        *fixed = *first->fixed;
        fixed->id = accepted.id;
    } else {
        StoredSpec whole;
        whole.id = accepted.id;
        whole.queue = accepted.queue;
        whole.tenant = accepted.tenant;
        whole.priority = accepted.priority;
        whole.preemptible = accepted.preemptible;
        whole.submitted = accepted.submitted;
        whole.kind = Profiles::kind_of(accepted.tenant, *accepted.spec);
        whole.user = command.actor.name;
        whole.task_id = command.task_id;
        whole.document_hash = hash;
        whole.notes = admitted.notes;
        whole.spec = *accepted.spec;
        if (index >= 0) {
            whole.spec.array = 0;
            whole.spec.labels[std::string(api::array_label)] = id;
        }
        const auto kept = keep_job(*fixed, whole, outlines_);
        CRATER_CHECK(kept.has_value(), "what was accepted can be kept");
    }

    auto owned = std::make_unique<Job>(awake_);
    Job& job = *owned;
    job.fixed = std::move(fixed);
    job.fresh = true;
    job.edit().waits_for = unmet;
    job.blocked = !job.s().waits_for.empty();
    JobStatus& status = job.change();
    status.id = job.id();
    status.submitted = job.fixed->submitted;
    status.reason = job.blocked ? Reason::waiting_for_dependency : Reason::submitted;
    status.tasks.resize(static_cast<std::size_t>(job.fixed->outline->tasks));
    for (std::size_t i = 0; i < status.tasks.size(); ++i) {
        status.tasks[i].index = static_cast<std::int64_t>(i);
        status.tasks[i].reason = status.reason;
        status.tasks[i].since = status.submitted;
    }
    jobs_[job.id()] = std::move(owned);
    for (const std::string& dependency : job.s().waits_for) dependents_[dependency].push_back(job.id());

    accepted.spec = job.outline();
    accepted.blocked = job.blocked;
    engine_.apply(engine::JobAdded{std::move(accepted)});
    job.known_to_engine = true;
    recount(job);
    note_change(job);
    set_deadline(job);
    if (env_.metrics) env_.metrics->add(metric::jobs_submitted, 1, {job.fixed->queue});
}

void Scheduler::Impl::dependency_ended(const std::string& id, bool well) {
    const auto it = dependents_.find(id);
    if (it == dependents_.end()) return;
    const std::vector<std::string> waiting = std::move(it->second);
    dependents_.erase(it);
    for (const std::string& name : waiting) {
        Job* job = find(name);
        if (!job || state_row(job->status().state).terminal || !std::erase(job->edit().waits_for, id))
            continue;
        touch(*job);
        const auto& after_ok = job->fixed->outline->after_ok;
        if (!well && std::find(after_ok.begin(), after_ok.end(), id) != after_ok.end()) {
            for (TaskStatus& task : job->change().tasks)
                set_task(*job, task, State::failed, Reason::dependency_failed, "job " + id);
            settle(*job, Reason::dependency_failed, "job " + id);
            conclude(*job);
        } else if (job->s().waits_for.empty()) {
            job->blocked = false;
            engine_.apply(engine::JobUnblocked{name});
            job->change().reason = Reason::submitted;
            job->change().detail.clear();
            touch(*job);
        }
    }
}

void Scheduler::Impl::fit(const JobSpec& spec, const Actor& actor, Reply<api::FitView> reply) {
    if (refuse_when_stopped(reply)) return;
    auto resolved = resolve(spec, actor);
    if (!resolved) return reply(fail(std::move(resolved.error())));
    if (auto good = check_limits(*resolved, actor, std::max<std::int64_t>(1, spec.array)); !good)
        return reply(fail(std::move(good.error())));
    api::FitView view;
    auto admitted = admit(std::move(*resolved));
    if (admitted)
        if (auto good = check_quota_policy(*admitted->job.spec); !good)
            admitted = crater::fail(std::move(good.error()));
    if (!admitted) {
        if (admitted.error().code != Code::unsatisfiable) return reply(fail(std::move(admitted.error())));
        view.fits_ever = false;
        view.summary = admitted.error().text();
        return reply(std::move(view));
    }
    view.notes = std::move(admitted->notes);
    for (std::string& note : kept_without_effect(*admitted->job.spec)) view.notes.push_back(std::move(note));
    admitted->job.profile = profiles_.of(Profiles::kind_of(admitted->job.tenant, *admitted->job.spec));
    auto plan = engine_.what_if(engine::SupposeSubmit{&admitted->job}, now());
    auto trace = engine_.would_place(admitted->job, now());
    if (!plan || !trace) return reply(fail(std::move(plan ? trace.error() : plan.error())));
    view.fits_now = !trace->candidates.empty();
    if (view.fits_now) {
        view.nodes.push_back(trace->candidates.front().node);
        view.summary = "It would start at once on " + view.nodes.front() + ".";
    } else {
        view.summary = plan->summary;
    }
    hide_others(*plan, actor);
    view.plan = std::move(*plan);
    view.decision = std::move(*trace);
    reply(std::move(view));
}

}  // namespace crater::scheduler
