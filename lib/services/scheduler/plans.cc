// What would happen, and moving jobs so that what is free lies together.
#include "crater/base/ids.h"
#include "crater/base/log.h"
#include "impl.h"

namespace crater::scheduler {

void Scheduler::Impl::what_if(const engine::Supposed& supposed, const Actor& actor,
                              Reply<engine::WhatIf> reply) {
    if (refuse_when_stopped(reply)) return;
    auto answer = engine_.what_if(supposed, now());
    if (answer) hide_others(*answer, actor);
    reply(std::move(answer));
}

// Whose jobs would be stopped is not a tenant's business, only how many and at what cost.
void Scheduler::Impl::hide_others(engine::WhatIf& answer, const Actor& actor) {
    if (actor.role != Role::tenant) return;
    for (engine::JobEffect& effect : answer.jobs) {
        const Job* job = find(effect.job);
        if (job && !tenant_below(job->fixed->tenant, actor.tenant))
            effect.job = "(another tenant's)", effect.detail.clear();
    }
}

// The caps that the plan does not name stay as they are.
void Scheduler::Impl::plan_quota(const api::QuotaPlan& plan, Reply<engine::WhatIf> reply) {
    if (refuse_when_stopped(reply)) return;
    if (auto good = check_tenant(plan.tenant, "tenant"); !good) return reply(fail(std::move(good.error())));
    const auto known = tenants_.find(plan.tenant);
    Tenant tenant;
    if (known != tenants_.end()) tenant = known->second.tenant;
    tenant.path = plan.tenant;
    merge_caps(tenant.hard, plan.hard);
    reply(engine_.what_if(engine::SupposeQuota{tenant}, now()));
}

void Scheduler::Impl::defrag(const api::DefragRequest& request, const Actor& actor,
                             Reply<api::DefragStarted> reply) {
    if (refuse_when_stopped(reply)) return;
    const engine::DefragOptions options{request.job, request.max_moves};
    auto plan = engine_.what_if(engine::SupposeDefrag{options}, now());
    if (!plan) return reply(fail(std::move(plan.error())));
    auto started = std::make_shared<api::DefragStarted>(api::DefragStarted{std::move(*plan), {}});
    for (const auto& move : engine_.start_defrag(options, now())) {
        preempt(move);
        started->moving.push_back(move.victim);
    }
    defragged_ = now();
    audit(actor, "defrag", request.job, started->plan.summary);
    reply_when_durable<api::DefragStarted>(std::move(reply),
                                           [started]() -> Result<api::DefragStarted> { return *started; });
}

void Scheduler::Impl::defrag_now_and_then() {
    const DefragmentationConfig& config = config_.defragmentation;
    if (!config.enabled || now() < defragged_ + config.interval) return;
    const bool first = !defragged_;
    defragged_ = now();
    if (first) return;  // the scheduler has just started
    const auto moves = engine_.start_defrag({{}, config.max_moves}, now());
    for (const auto& move : moves) preempt(move);
    if (moves.empty()) return;
    log::info("jobs are moved so that what is free lies together", {{"jobs", std::to_string(moves.size())}});
    wake();
}

void Scheduler::Impl::relieve_cards() {
    for (const auto& stopped : engine_.relieve_cards(now())) {
        log::warning("a job makes room on a card above the watermark",
                     {{"job", stopped.victim}, {"why", stopped.detail}});
        preempt(stopped);
        wake();
    }
}

}  // namespace crater::scheduler
