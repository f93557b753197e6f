// The engine as others see it. Facts come in (facts/): each changes the state and its hash, and notes whether
// anything that waits may start now.
#include "engine_impl.h"
#include "state/fact_hash.h"

namespace crater::engine {

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
Result<WhatIf> Engine::what_if(const Supposed& supposed, Instant now) const {
    return impl_->what_if(supposed, now);
}
std::vector<Preemption> Engine::relieve_cards(Instant now) { return impl_->relieve_cards(now); }
std::vector<Preemption> Engine::start_defrag(const DefragOptions& options, Instant now) {
    return impl_->start_defrag(options, now);
}
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
Result<StartEstimate> Engine::estimate(const std::string& job, Instant now) const {
    return impl_->estimate(job, now);
}
std::vector<std::pair<std::string, StartEstimate>> Engine::estimates(Instant now) const {
    return impl_->estimates(now);
}
std::optional<RunTime> Engine::expected_run_time(const EngineJob& job) const {
    return impl_->expected_run_time(job);
}
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

Shape Engine::Impl::shape_of(const JobSpec& spec, const std::string& queue, int crowd) const {
    const int q = backlog_.find(queue);
    const Policy policy = q < 0 ? QueueSpec{}.policy : backlog_.queue(q).spec.policy;
    Around around{.crowd = crowd, .maintenance = cluster_.maintained()};
    if (q >= 0) around.overcommit = queue_overcommit(q), around.weights = &backlog_.queue(q).spec.weights;
    return make_shape(spec, policy, cluster_, around);
}

Shape Engine::Impl::shape_of(const JobSlot& slot) const {
    return shape_of(*slot.info.spec, slot.info.queue, slot.crowd);
}

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

}  // namespace crater::engine
