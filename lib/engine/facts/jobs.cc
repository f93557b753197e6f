// Facts of jobs and their tasks.
#include "engine_impl.h"
#include "state/fact_hash.h"
#include "state/placement_fact.h"

namespace crater::engine {
namespace {

constexpr int was_stopped = -2;  // in WaitClass::only, instead of a position

TaskSlot& task_named(JobSlot& slot, std::int64_t task) {
    CRATER_CHECK(task >= 0 && task < static_cast<std::int64_t>(slot.tasks.size()),
                 "a fact names a task the job does not have");
    return slot.tasks[static_cast<std::size_t>(task)];
}

}  // namespace

std::uint64_t Engine::Impl::job_fact(const JobSlot& slot) const {
    const EngineJob& info = slot.info;
    FactBytes bytes;
    bytes.add(info.id), bytes.add(slot.spec_hash), bytes.add(info.queue), bytes.add(info.tenant),
        bytes.add(info.priority), bytes.add(info.preemptible), bytes.add(info.submitted),
        bytes.add(info.preemptions), bytes.add(info.blocked);
    return bytes.hash(static_cast<std::uint64_t>(FactKind::job));
}

JobSlot& Engine::Impl::new_job() {
    if (free_jobs_.empty()) {
        free_jobs_.push_back(static_cast<int>(jobs_.size()));
        jobs_.push_back(nullptr);
    }
    const int position = free_jobs_.back();
    free_jobs_.pop_back();
    JobSlot*& slot = jobs_[static_cast<std::size_t>(position)];
    slot = job_slots_.take();
    slot->position = position;
    return *slot;
}

void Engine::Impl::on(const JobAdded& fact) {
    CRATER_CHECK(fact.job.spec != nullptr && fact.job.spec->tasks >= 1,
                 "a job has a spec and at least one task");
    CRATER_CHECK(position_of(fact.job.id) < 0, "a job is added twice: " + fact.job.id);
    JobSlot& slot = new_job();
    slot.info = fact.job;
    slot.type = infer_type(*fact.job.spec);
    slot.queue = backlog_.intern(fact.job.queue);
    slot.tenant = tenants_.intern(fact.job.tenant);
    pricing_.use(backlog_.queue(slot.queue).spec.policy);
    bool avoids_anew = false;
    slot.crowd = cluster_.crowds().take(*fact.job.spec, &avoids_anew);
    slot.shape = shapes_.take(shape_of(slot));
    slot.tasks.resize(static_cast<std::size_t>(fact.job.spec->tasks));
    slot.waiting = static_cast<int>(fact.job.spec->tasks);
    FactBytes spec;
    spec.add(*fact.job.spec);
    slot.spec_hash = spec.hash(static_cast<std::uint64_t>(FactKind::job));
    slot.id_hash = hash64(fact.job.id);
    if (fact.job.profile) slot.profile_hash = fact_hash(FactKind::profile, *fact.job.profile), ++profiles_;
    timed_ += says_length(fact.job);
    job_positions_.add(slot.id_hash, slot.position);
    pricing_.arrived(slot.shape, shapes_.at(slot.shape), static_cast<std::int64_t>(slot.tasks.size()));
    set_fact(slot.fact, job_fact(slot));
    enlist(slot);
    // Who carries what it avoids has to look out for it from now on.
    if (!avoids_anew) return;
    for (auto& other : jobs_)
        if (other && other->waiting > 0 && other->crowd >= 0 && shapes_.at(other->shape).crowd < 0)
            reshape(*other);
}

void Engine::Impl::on(const JobUnblocked& fact) {
    JobSlot& slot = job_named(fact.job);
    if (!slot.info.blocked) return;
    slot.info.blocked = false;
    set_fact(slot.fact, job_fact(slot));
    enlist(slot);
}

void Engine::Impl::on(const JobRemoved& fact) {
    JobSlot& slot = job_named(fact.job);
    tell_time(fact.at);
    learn_run_time(slot, fact.at);
    // The rows of its node are on their way while the rest is taken down.
    if (slot.held > 0) fetch_node(slot.tasks.front().slices.node);
    const int position = slot.position;
    job_positions_.remove(slot.id_hash, position);
    delist(slot);
    reservations_.forget(slot.position);
    estimates_.forget(slot.position);
    const auto placed = std::count_if(slot.tasks.begin(), slot.tasks.end(), [](const TaskSlot& task) {
        return task.life != TaskSlot::Life::waiting;
    });
    if (placed > 0) pricing_.departed(slot.shape, shapes_.at(slot.shape), placed);
    set_fact(slot.fact, 0);
    if (slot.info.profile) --profiles_;
    shapes_.drop(slot.shape);
    for (std::size_t t = 0; t < slot.tasks.size(); ++t) {
        if (slot.tasks[t].life == TaskSlot::Life::held)
            release(slot, static_cast<int>(t), TaskSlot::Life::ended);
        set_fact(slot.tasks[t].fact, 0);
    }
    drop_pledge(slot);
    victim_done(slot);
    timed_ -= says_length(slot.info);
    cluster_.crowds().drop(slot.crowd);
    ++holdings_;  // its position and its shape may be given to others
    job_slots_.give_back(std::exchange(jobs_[static_cast<std::size_t>(position)], nullptr));
    free_jobs_.push_back(position);
}

void Engine::Impl::on(const TaskPlaced& fact) {
    JobSlot& slot = job_named(fact.job);
    CRATER_CHECK(task_named(slot, fact.task).life != TaskSlot::Life::held, "a task is placed twice");
    delist(slot);
    drop_pledge(slot);
    Slices slices = cluster_.from_allocation(fact.allocation);
    slices.crowd = slot.crowd;
    const Node& node = cluster_.node(slices.node);
    for (const auto& part : slices.cards) {
        const CardUse& card = cluster_.used().cards[static_cast<std::size_t>(node.cards_at + part.card)];
        const bool clash = card.exclusive > 0 || (part.exclusive && card.tasks > 0);
        CRATER_CHECK(!clash || !preemptors_.empty(), "a whole card is given to two tasks");
    }
    tenants_.charge_anyway(slot.tenant, amounts_of(slices));
    const auto placed = placement_fact(slot.id_hash, fact.task, fact.allocation);
    hold(slot, static_cast<int>(fact.task), std::move(slices), placed, fact.started);
    enlist(slot);
}

void Engine::Impl::on(const TaskFreed& fact) {
    JobSlot& slot = job_named(fact.job);
    TaskSlot& task = task_named(slot, fact.task);
    tell_time(fact.at);
    delist(slot);
    if (task.life == TaskSlot::Life::held)
        account(slot, task, fact.at ? fact.at : clock_),
            release(slot, static_cast<int>(fact.task), TaskSlot::Life::ended);
    else if (task.life == TaskSlot::Life::waiting)
        --slot.waiting;
    task.life = TaskSlot::Life::ended;
    // An ended task of a job that goes on is a fact of its own: after a restart it must not wait again.
    FactBytes bytes;
    bytes.add(slot.info.id), bytes.add(fact.task);
    set_fact(task.fact, bytes.hash(static_cast<std::uint64_t>(FactKind::ended_task)));
    if (slot.held == 0) victim_done(slot);
    if (slot.waiting == 0 && !slot.moving) drop_pledge(slot);
    enlist(slot);
}

// A task's run is over: what it received counts, kept or not.
void Engine::Impl::account(JobSlot& slot, TaskSlot& task, Instant at) {
    slot.info.served =
        std::min(slot.info.served + std::min(received(task, at), INT64_MAX / 4), INT64_MAX / 4);
    slot.run_started = std::max(slot.run_started, task.started);
}

void Engine::Impl::on(const JobRequeued& fact) {
    JobSlot& slot = job_named(fact.job);
    CRATER_CHECK(slot.held == 0, "a job that waits again holds nothing: " + fact.job);
    delist(slot);
    victim_done(slot);
    for (auto& task : slot.tasks) {
        task.life = TaskSlot::Life::waiting;
        set_fact(task.fact, 0);
    }
    slot.waiting = static_cast<int>(slot.tasks.size());
    slot.info.preemptions = fact.preemptions;
    // Of the run that ended, what came before its last checkpoint is kept.
    if (slot.run_started && slot.checkpointed > slot.run_started)
        slot.info.progress += slot.checkpointed - slot.run_started;
    slot.run_started = {};
    slot.info.waits_since = clock_;
    set_fact(slot.fact, job_fact(slot));
    reshape(slot);
    enlist(slot);
}

void Engine::Impl::on(const TaskRequeued& fact) {
    JobSlot& slot = job_named(fact.job);
    TaskSlot& task = task_named(slot, fact.task);
    CRATER_CHECK(task.life == TaskSlot::Life::ended, "a task that waits again was freed before");
    delist(slot);
    task.life = TaskSlot::Life::waiting;
    set_fact(task.fact, 0);
    ++slot.waiting;
    reshape(slot);
    enlist(slot);
}

void Engine::Impl::on(const Checkpointed& fact) {
    JobSlot& slot = job_named(fact.job);
    slot.checkpointed = std::max(slot.checkpointed, fact.at);
}

// Where the preemptor will go is not stored: its next look finds it again.
void Engine::Impl::on(const PreemptionStarted& fact) {
    JobSlot& victim = job_named(fact.victim);
    if (victim.held == 0) return;
    if (!victim.stopping) stopping_.push_back(victim.position);
    victim.stopping = true;
    able_.shape = -1;
    const int waits = position_of(fact.preemptor);
    if (waits < 0 || job(waits).waiting == 0) return;  // it was placed or removed meanwhile
    JobSlot& preemptor = job(waits);
    auto victims = preemptor.victims;
    if (std::find(victims.begin(), victims.end(), victim.position) == victims.end())
        victims.push_back(victim.position);
    wait_for(preemptor, std::move(victims), preemptor.pledge);
}

void Engine::Impl::enlist(JobSlot& slot) {
    if (slot.info.blocked || slot.waiting == 0 || slot.in_class || slot.stopping) return;
    WaitClass like;
    like.priority = slot.info.priority;
    like.tenant = slot.tenant;
    like.shape = slot.shape;
    like.tasks = slot.waiting;
    like.profile = slot.profile_hash;
    like.length = length_class(slot.info);
    like.preemptible = slot.info.preemptible;
    // Who was stopped does not stop others for a while; it must not hold back its equals that may.
    if (slot.info.preemptions > 0 && slot.info.waits_since) like.only = was_stopped;
    if (slot.held > 0 || !slot.victims.empty() || !slot.pledge.empty()) like.only = slot.position;
    slot.ages_at = ages_at(slot);
    slot.place = place_of(slot);
    if (slot.ages_at > clock_) backlog_.queue(slot.queue).ageing.emplace(slot.ages_at, slot.position);
    slot.in_class = &backlog_.add(slot.queue, std::move(like), slot.place);
    dirty_ = true;
}

void Engine::Impl::delist(JobSlot& slot) {
    if (!slot.in_class) return;
    leave_place(slot);
    backlog_.queue(slot.queue).ageing.erase({slot.ages_at, slot.position});
    backlog_.remove(slot.queue, *slot.in_class, slot.place);
    slot.in_class = nullptr;
}

int Engine::Impl::next_task(const JobSlot& slot, int from) const {
    auto t = static_cast<std::size_t>(from);
    while (t < slot.tasks.size() && slot.tasks[t].life != TaskSlot::Life::waiting) ++t;
    return t < slot.tasks.size() ? static_cast<int>(t) : -1;
}

}  // namespace crater::engine
