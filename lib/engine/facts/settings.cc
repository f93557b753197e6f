// Facts of queues, tenants and settings.
#include "engine_impl.h"
#include "state/fact_hash.h"

namespace crater::engine {

void Engine::Impl::on(const QueueSet& fact) {
    const int q = backlog_.intern(fact.queue.name);
    auto& queue = backlog_.queue(q);
    const bool other_order = queue.spec.order != fact.queue.order;
    const bool other_shapes = queue.spec.policy != fact.queue.policy ||
                              queue.spec.overcommit_ratio != fact.queue.overcommit_ratio ||
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

}  // namespace crater::engine
