// Queues and tenants as they are set by operators.
#include "crater/base/ids.h"
#include "impl.h"

namespace crater::scheduler {

void Scheduler::Impl::set_queue(QueueSpec spec, const Actor& actor, Reply<api::QueueView> reply) {
    if (refuse_when_stopped(reply)) return;
    if (auto good = check_queue(spec); !good) return reply(fail(std::move(good.error())));
    if (spec.priority.value < 0) spec.priority.value = 500;
    const std::string name = spec.name;
    Queue& queue = queues_[name];
    queue.stored.spec = std::move(spec);
    engine_.apply(engine::QueueSet{queue.stored.spec});
    problems_changed_ = true;  // it may name a plugin that is not there
    write("queue/" + name, stored_value(queue.stored));
    audit(actor, "set_queue", name, stored_text(queue.stored.spec));
    event("queue", name, "set", "", "by " + actor.name);
    touch_queue(name);
    reply_when_durable<api::QueueView>(std::move(reply), [this, name]() -> Result<api::QueueView> {
        for (auto& view : read_.queues())
            if (view.spec.name == name) return view;
        return crater::fail(Code::not_found, "the queue is gone");
    });
}

// What the change does not name stays. A cap below zero is how the document's `null` arrives: the cap is
// lifted.
void merge_caps(Quota& caps, const Quota& change) {
    const auto merge = [](auto& cap, const auto& wanted) {
        if (!wanted) return;
        bool lifted = false;
        if constexpr (requires { wanted->value; })
            lifted = wanted->value < 0;
        else
            lifted = *wanted < 0;
        if (lifted)
            cap.reset();
        else
            cap = wanted;
    };
    merge(caps.gpu, change.gpu);
    merge(caps.gpu_memory, change.gpu_memory);
    merge(caps.cpu, change.cpu);
    merge(caps.memory, change.memory);
    merge(caps.disk, change.disk);
    merge(caps.iops, change.iops);
    merge(caps.jobs, change.jobs);
}

void Scheduler::Impl::set_quota(const std::string& path, const api::QuotaChange& change, const Actor& actor,
                                Reply<api::QuotaView> reply) {
    if (refuse_when_stopped(reply)) return;
    if (auto good = check_tenant(path, "tenant"); !good) return reply(fail(std::move(good.error())));
    ensure_tenant(path);
    Tenant& tenant = tenants_.at(path).tenant;
    merge_caps(tenant.hard, change.hard);
    if (change.max_priority) tenant.max_priority = *change.max_priority;
    if (change.max_pending) tenant.max_pending = *change.max_pending;
    engine_.apply(engine::TenantSet{tenant});
    write("tenant/" + path, stored_value(tenant));
    audit(actor, "set_quota", path, stored_text(tenant));
    event("quota", path, "set", "", "by " + actor.name);
    touch_tenant(path);
    reply_when_durable<api::QuotaView>(std::move(reply), [this, path]() -> Result<api::QuotaView> {
        if (auto view = read_.quota(path)) return std::move(*view);
        return crater::fail(Code::not_found, "the tenant is gone");
    });
}

}  // namespace crater::scheduler
