// Facts in: each changes the state and its hash, and notes whether anything that waits may start now.
#include "engine_impl.h"
#include "state/fact_hash.h"
#include "state/placement_fact.h"

namespace crater::engine {
namespace {

constexpr int was_stopped = -2;  // in WaitClass::only, instead of a position

// What lies in a cache comes and goes; the node need not be built anew for it.
bool only_cache_differs(const Node& node, const NodeInventory& now) {
    if (!node.present || node.inventory->cache == now.cache) return false;
    NodeInventory as_before = now;
    as_before.cache = node.inventory->cache;
    FactBytes before, after;
    before.add(*node.inventory), after.add(as_before);
    return before.bytes() == after.bytes();
}

}  // namespace

Engine::Engine(Settings settings) : impl_(std::make_unique<Impl>(std::move(settings))) {}
Engine::~Engine() = default;
void Engine::apply(const Event& event) {
    std::visit([&](const auto& fact) { impl_->on(fact); }, event);
}
Result<Engine::Admitted> Engine::admit(EngineJob job) const { return impl_->admit(std::move(job)); }
Plan Engine::pass(Instant now, const PassLimits& limits) { return impl_->pass(now, limits); }
std::vector<std::pair<std::int64_t, Allocation>> Engine::allocations(const Placement& placement) const {
    return impl_->allocations(placement);
}
bool Engine::wants_pass() const { return impl_->wants_pass(); }
std::optional<Instant> Engine::wake_at() const { return impl_->wake_at(); }
Result<Why> Engine::why(const std::string& job, Instant now, const WhyQuestion& question) const {
    auto out = impl_->why(job, now, question);
    if (out && question.estimate) impl_->add_estimate(job, now, *out);
    return out;
}
Result<DecisionTrace> Engine::would_place(const EngineJob& job, Instant now) const {
    return impl_->would_place(job, now);
}
DecisionTrace Engine::words(const Trace& trace) const { return impl_->words(trace); }
Result<WhatIf> Engine::what_if(const Supposed& supposed, Instant now) const { return impl_->what_if(supposed, now); }
std::vector<Preemption> Engine::relieve_cards(Instant now) { return impl_->relieve_cards(now); }
std::vector<Preemption> Engine::start_defrag(const DefragOptions& options, Instant now) { return impl_->start_defrag(options, now); }
std::vector<Preemption> Engine::would_preempt(const std::string& job, Instant now) const {
    return impl_->would_preempt(job, now);
}
std::vector<std::string> Engine::waiting(const std::string& queue) const { return impl_->waiting(queue); }
std::vector<NodeBook> Engine::books() const { return impl_->books(); }
Result<NodeBook> Engine::book(const std::string& node) const { return impl_->book(node); }
std::vector<FreeSlice> Engine::largest_free() const { return impl_->largest_free(); }
Usage Engine::usage(const std::string& tenant) const { return impl_->usage(tenant); }
Received Engine::received(const std::string& job) const { return impl_->received(job); }
void Engine::set_hooks(HookSource* hooks) { impl_->set_hooks(hooks); }
std::string Engine::learned() const { return impl_->learned(); }
Result<StartEstimate> Engine::estimate(const std::string& job, Instant now) const { return impl_->estimate(job, now); }
std::vector<std::pair<std::string, StartEstimate>> Engine::estimates(Instant now) const { return impl_->estimates(now); }
std::optional<RunTime> Engine::expected_run_time(const EngineJob& job) const { return impl_->expected_run_time(job); }
std::uint64_t Engine::state_hash() const { return impl_->state_hash(); }

Engine::Impl::~Impl() {
    for (JobSlot* slot : jobs_)
        if (slot) job_slots_.give_back(slot);
}

Received Engine::Impl::received(const std::string& id) const {
    const int position = position_of(id);
    if (position < 0) return {};
    const EngineJob& info = job(position).info;
    return {info.served, info.progress, info.waits_since};
}

Engine::Impl::Impl(Settings settings) : cluster_(std::move(settings)) {
    shapes_.gone = [this](int shape) {
        seats_.leave(shape), pricing_.leave(shape), surveys_.leave(shape);
        if (bounds_shape_ == shape) bounds_shape_ = -1;
    };
    tenants_.set_half_life(cluster_.settings().fair_half_life);
    set_fact(settings_fact_, fact_hash(FactKind::settings, cluster_.settings()));
}

int Engine::Impl::position_of(std::string_view id) const {
    return job_positions_.find(hash64(id), [&](int position) {
        const JobSlot& slot = job(position);
        fetch(&slot, sizeof slot);
        return slot.info.id == id;
    });
}

JobSlot& Engine::Impl::job_named(const std::string& id) {
    const int position = position_of(id);
    CRATER_CHECK(position >= 0, "a fact names a job that is not known: " + id);
    return job(position);
}

int Engine::Impl::node_named(const std::string& name) const {
    const int n = cluster_.find(name);
    CRATER_CHECK(n >= 0, "a fact names a node that is not known: " + name);
    return n;
}

void Engine::Impl::on(const NodeSet& fact) {
    if (const int n = cluster_.find(fact.inventory->name); n >= 0 && only_cache_differs(cluster_.node(n), *fact.inventory)) {
        ++holdings_;
        cluster_.set_cache(n, fact.inventory);
        set_fact(node_facts_[fact.inventory->name], fact_hash(FactKind::node, *fact.inventory));
        return gained(n);
    }
    // What is held there is taken off the books of the old hardware and put on those of the new.
    struct Moved {
        Slices* slices;
        Allocation allocation;
    };
    std::vector<Moved> moved;
    if (const int n = cluster_.find(fact.inventory->name); n >= 0) {
        for (const auto& held : held_on_[static_cast<std::size_t>(n)])
            moved.push_back({&job(held.job).tasks[static_cast<std::size_t>(held.task)].slices, {}});
        for (const int p : preemptors_)
            for (auto& slices : job(p).pledge)
                if (slices.node == n) moved.push_back({&slices, {}});
        for (auto& part : moved) {
            part.allocation = cluster_.to_allocation(*part.slices);
            cluster_.book(*part.slices, -1);
        }
    }
    ++holdings_;
    const int types = cluster_.type_count();
    const int known = cluster_.find(fact.inventory->name);
    if (known < 0 || !areas_.stands_still(cluster_, known, *fact.inventory)) areas_.forget();
    const int n = cluster_.set_node(fact.inventory);
    if (known >= 0) reservations_.rebuilt(n);
    if (types != cluster_.type_count()) pricing_.forget(), seats_.levels_changed();  // a shape may take another part of the new cards
    held_on_.resize(static_cast<std::size_t>(cluster_.size()));
    for (auto& part : moved) {
        const int crowd = part.slices->crowd;
        *part.slices = cluster_.from_allocation(part.allocation);
        part.slices->crowd = crowd;
        cluster_.book(*part.slices, 1);
    }
    set_fact(node_facts_[fact.inventory->name], fact_hash(FactKind::node, *fact.inventory));
    gained(n);
}

void Engine::Impl::on(const NodeFlags& fact) {
    const int n = node_named(fact.node);
    ++holdings_;
    cluster_.set_flags(n, fact.draining, fact.lost);
    FactBytes bytes;
    bytes.add(fact.node), bytes.add(fact.draining), bytes.add(fact.lost);
    // A node without flags is the same as one that never had any.
    const bool plain = !fact.draining && !fact.lost;
    set_fact(flag_facts_[fact.node], plain ? 0 : bytes.hash(static_cast<std::uint64_t>(FactKind::flags)));
    if (plain) gained(n);
}

void Engine::Impl::on(const NodeTaints& fact) {
    const int n = node_named(fact.node);
    ++holdings_;
    cluster_.set_taints(n, fact.taints);
    FactBytes bytes;
    bytes.add(fact.node), bytes.add(fact.taints);
    set_fact(taint_facts_[fact.node], fact.taints.empty() ? 0 : bytes.hash(static_cast<std::uint64_t>(FactKind::taints)));
    gained(n);
}

void Engine::Impl::on(const NodeMaintenance& fact) {
    const int n = node_named(fact.node);
    ++holdings_;
    const bool first = !cluster_.maintained();
    cluster_.set_windows(n, fact.windows, now_);
    FactBytes bytes;
    bytes.add(fact.node), bytes.add(fact.windows);
    set_fact(maintenance_facts_[fact.node], fact.windows.empty() ? 0 : bytes.hash(static_cast<std::uint64_t>(FactKind::maintenance)));
    gained(n);
    // From now on it matters how long a job takes.
    if (first && cluster_.maintained())
        for (auto& slot : jobs_)
            if (slot && slot->waiting > 0) reshape(*slot);
}

void Engine::Impl::on(const NodeRemoved& fact) {
    const int n = node_named(fact.node);
    for (const int p : std::vector<int>(preemptors_)) {
        const auto& pledge = job(p).pledge;
        if (std::any_of(pledge.begin(), pledge.end(), [&](const Slices& s) { return s.node == n; }))
            drop_pledge(job(p)), relist(job(p));
    }
    cluster_.remove_node(n);
    areas_.forget();
    set_fact(taint_facts_[fact.node], 0);
    set_fact(maintenance_facts_[fact.node], 0);
    set_fact(node_facts_[fact.node], 0);
    set_fact(flag_facts_[fact.node], 0);
}

void Engine::Impl::on(const QueueSet& fact) {
    const int q = backlog_.intern(fact.queue.name);
    auto& queue = backlog_.queue(q);
    const bool other_order = queue.spec.order != fact.queue.order;
    const bool other_shapes = queue.spec.policy != fact.queue.policy || queue.spec.overcommit_ratio != fact.queue.overcommit_ratio ||
                              queue.spec.weights != fact.queue.weights;
    const bool other_reserve = queue.spec.reserved_gpu != fact.queue.reserved_gpu;
    queue.spec = fact.queue;
    queue.declared = true;
    pricing_.use(fact.queue.policy);
    // Its plugins may be others, and what it keeps for itself is in the way of all queues.
    for (int i = 0; i < backlog_.queue_count(); ++i) {
        if (i != q && !other_reserve) continue;
        for (auto& [key, members] : backlog_.queue(i).classes) members->blocked = {};
        backlog_.rouse_all(i);
    }
    set_fact(queue_facts_[fact.queue.name], fact_hash(FactKind::queue, fact.queue));
    dirty_ = true;
    elders_.known = reserves_.known = false;
    reserving_ = false;
    for (int i = 0; i < backlog_.queue_count(); ++i) reserving_ |= backlog_.queue(i).spec.reserved_gpu > 0;
    if (other_order)
        for (auto& slot : jobs_)
            if (slot && slot->queue == q && slot->in_class) relist(*slot);
    if (!other_shapes) return;
    std::int64_t highest = 0;
    for (int i = 0; i < backlog_.queue_count(); ++i) highest = std::max(highest, queue_overcommit(i));
    if (cluster_.set_queue_overcommit(highest)) limits_changed();
    for (auto& slot : jobs_)
        if (slot && slot->queue == q) reshape(*slot);
}

Shape Engine::Impl::shape_of(const JobSpec& spec, const std::string& queue, int crowd) const {
    const int q = backlog_.find(queue);
    const Policy policy = q < 0 ? QueueSpec{}.policy : backlog_.queue(q).spec.policy;
    Around around{.crowd = crowd, .maintenance = cluster_.maintained()};
    if (q >= 0) around.overcommit = queue_overcommit(q), around.weights = &backlog_.queue(q).spec.weights;
    return make_shape(spec, policy, cluster_, around);
}

Shape Engine::Impl::shape_of(const JobSlot& slot) const { return shape_of(*slot.info.spec, slot.info.queue, slot.crowd); }

// Something around it changed, and with it what it asks for.
void Engine::Impl::reshape(JobSlot& slot) {
    const bool listed = slot.in_class != nullptr;
    const int before = slot.shape, after = shapes_.take(shape_of(slot));
    if (listed && after != before) delist(slot);
    slot.shape = after;
    shapes_.drop(before);
    if (listed && after != before) enlist(slot);
}

void Engine::Impl::advance(Instant now) {
    now_ = now;
    for (const int n : cluster_.advance(now)) gained(n);
}

void Engine::Impl::on(const TenantSet& fact) {
    tenants_.set(fact.tenant);
    set_fact(tenant_facts_[fact.tenant.path], fact_hash(FactKind::tenant, fact.tenant));
    dirty_ = true;
}

void Engine::Impl::on(const SettingsSet& fact) {
    const bool other_wait = fact.settings.order_wait_most != cluster_.settings().order_wait_most;
    cluster_.set_settings(fact.settings);
    tenants_.set_half_life(fact.settings.fair_half_life);
    elders_.known = false;
    set_fact(settings_fact_, fact_hash(FactKind::settings, fact.settings));
    limits_changed();
    for (auto& slot : jobs_)
        if (other_wait && slot && slot->in_class) relist(*slot);
}

// What a shape takes of a card, or what a node takes, may be something else now.
void Engine::Impl::limits_changed() {
    shapes_.forget();
    seats_.forget();
    pricing_.forget();
    surveys_.forget();
    ++victims_seen_;
    ++holdings_;
    for (int n = 0; n < cluster_.size(); ++n) gained(n);
}

std::int64_t Engine::Impl::queue_overcommit(int q) const {
    const auto& ratio = backlog_.queue(q).spec.overcommit_ratio;
    return ratio ? overcommit_of(*ratio) : 0;
}

std::uint64_t Engine::Impl::job_fact(const JobSlot& slot) const {
    const EngineJob& info = slot.info;
    FactBytes bytes;
    bytes.add(info.id), bytes.add(slot.spec_hash), bytes.add(info.queue), bytes.add(info.tenant),
        bytes.add(info.priority), bytes.add(info.preemptible), bytes.add(info.submitted), bytes.add(info.preemptions),
        bytes.add(info.blocked);
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
        if (other && other->waiting > 0 && other->crowd >= 0 && shapes_.at(other->shape).crowd < 0) reshape(*other);
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
    const auto placed = std::count_if(slot.tasks.begin(), slot.tasks.end(),
                                      [](const TaskSlot& task) { return task.life != TaskSlot::Life::waiting; });
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
    CRATER_CHECK(fact.task >= 0 && fact.task < static_cast<std::int64_t>(slot.tasks.size()),
                 "a placement names a task the job does not have");
    CRATER_CHECK(slot.tasks[static_cast<std::size_t>(fact.task)].life != TaskSlot::Life::held,
                 "a task is placed twice");
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
    CRATER_CHECK(fact.task >= 0 && fact.task < static_cast<std::int64_t>(slot.tasks.size()),
                 "a fact names a task the job does not have");
    TaskSlot& task = slot.tasks[static_cast<std::size_t>(fact.task)];
    tell_time(fact.at);
    delist(slot);
    if (task.life == TaskSlot::Life::held)
        account(slot, task, fact.at ? fact.at : clock_), release(slot, static_cast<int>(fact.task), TaskSlot::Life::ended);
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
    slot.info.served = std::min(slot.info.served + std::min(received(task, at), INT64_MAX / 4), INT64_MAX / 4);
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
    if (slot.run_started && slot.checkpointed > slot.run_started) slot.info.progress += slot.checkpointed - slot.run_started;
    slot.run_started = {};
    slot.info.waits_since = clock_;
    set_fact(slot.fact, job_fact(slot));
    reshape(slot);
    enlist(slot);
}

void Engine::Impl::on(const TaskRequeued& fact) {
    JobSlot& slot = job_named(fact.job);
    CRATER_CHECK(fact.task >= 0 && fact.task < static_cast<std::int64_t>(slot.tasks.size()),
                 "a fact names a task the job does not have");
    TaskSlot& task = slot.tasks[static_cast<std::size_t>(fact.task)];
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

void Engine::Impl::on(const LoadSampled& fact) {
    const int n = cluster_.find(fact.node);  // a sample may come after its node left
    if (n >= 0 && cluster_.set_sample(n, fact.sample)) gained(n);
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
