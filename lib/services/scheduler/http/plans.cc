// What would happen: the dry runs, and the moves that one of them describes.
#include <nlohmann/json.hpp>

#include "api_impl.h"

namespace crater::scheduler {

void HttpApi::Impl::plan_submit(CallPtr call) {
    auto tree = codec::parse_json(call->request.body);
    if (!tree) return call->fail(tree.error());
    auto spec = api::read_job(*tree);
    if (!spec) return call->fail(spec.error());
    on_loop([self = shared_from_this(), call, spec = std::move(*spec)] {
        self->scheduler_.fit(spec, call->actor, [call](Result<api::FitView> fit) { call->answer(fit); });
    });
}

void HttpApi::Impl::suppose(CallPtr call, engine::Supposed supposed) {
    on_loop([self = shared_from_this(), call, supposed = std::move(supposed)] {
        self->scheduler_.what_if(supposed, call->actor,
                                 [call](Result<engine::WhatIf> answer) { call->answer(answer); });
    });
}

void HttpApi::Impl::plan_preempt(CallPtr call) {
    auto plan = body_of<api::PreemptPlan>(*call);
    if (!plan) return call->fail(plan.error());
    auto job = visible_job(*call, plan->job);
    if (!job) {
        job.error().field = "job";
        return call->fail(job.error());
    }
    suppose(std::move(call), engine::SupposePreempt{(*job)->id()});
}

void HttpApi::Impl::plan_defrag(CallPtr call) {
    auto plan = body_of<api::DefragRequest>(*call);
    if (!plan) return call->fail(plan.error());
    suppose(std::move(call), engine::SupposeDefrag{{plan->job, plan->max_moves}});
}

void HttpApi::Impl::plan_drain(CallPtr call) {
    auto plan = body_of<api::DrainPlan>(*call);
    if (!plan) return call->fail(plan.error());
    suppose(std::move(call), engine::SupposeDrain{plan->node, plan->evict});
}

void HttpApi::Impl::plan_node_loss(CallPtr call) {
    auto plan = body_of<api::NodeLossPlan>(*call);
    if (!plan) return call->fail(plan.error());
    suppose(std::move(call), engine::SupposeLoss{plan->node});
}

void HttpApi::Impl::plan_quota(CallPtr call) {
    auto plan = body_of<api::QuotaPlan>(*call);
    if (!plan) return call->fail(plan.error());
    on_loop([self = shared_from_this(), call, plan = std::move(*plan)] {
        self->scheduler_.plan_quota(plan, [call](Result<engine::WhatIf> answer) { call->answer(answer); });
    });
}

void HttpApi::Impl::defrag(CallPtr call) {
    auto request = body_of<api::DefragRequest>(*call);
    if (!request) return call->fail(request.error());
    on_loop([self = shared_from_this(), call, request = std::move(*request)] {
        self->scheduler_.defrag(request, call->actor,
                                [call](Result<api::DefragStarted> started) { call->answer(started); });
    });
}

}  // namespace crater::scheduler
