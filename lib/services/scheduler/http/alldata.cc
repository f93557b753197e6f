// The calls of AllData, in both of its shapes. SPEC 7, 10.1.
#include <nlohmann/json.hpp>

#include "api_impl.h"
#include "crater/api/views_alldata.h"
#include "crater/scheduler/task_view.h"

namespace crater::scheduler {

api::TaskView HttpApi::Impl::view_of(const JobRecord& job) const {
    std::shared_ptr<const api::NodeView> node;
    const JobStatus status = job.status();
    if (!status.tasks.empty() && status.tasks.front().allocation)
        node = scheduler_.read().node(status.tasks.front().allocation->node);
    api::TaskView view = task_view(status, node ? &node->inventory : nullptr);
    view.notes = job.notes();
    return view;
}

template <class T>
void HttpApi::Impl::envelope(const Call& call, const Result<T>& result) const {
    if (!result) return call.fail(result.error());  // the responder wraps errors
    call.answer(api::Envelope<T>{.msg = "ok", .data = *result, .timestamp = clock_.now().ms});
}

void HttpApi::Impl::submit_document(const CallPtr& call,
                                    std::function<void(Result<api::TaskView>, bool)> done) {
    auto request = api::read_schedule(call->request.body, templates_);
    if (!request) return done(fail(request.error()), false);
    Submit command{.spec = std::move(request->spec),
                   .actor = call->actor,
                   .idempotency_key = {},
                   .document = std::move(request->canonical),
                   .task_id = std::move(request->task_id)};
    on_loop([self = shared_from_this(), command = std::move(command), done = std::move(done)]() mutable {
        self->scheduler_.submit(std::move(command),
                                [self, done = std::move(done)](Result<Submitted> submitted) {
                                    if (!submitted) return done(fail(submitted.error()), false);
                                    done(self->view_of(*submitted->job), submitted->created);
                                });
    });
}

void HttpApi::Impl::release(const CallPtr& call, const std::string& task_id, const std::string& reason,
                            std::function<void(Result<api::TaskView>)> done) {
    auto job = visible_job(*call, task_id);
    if (!job) return done(fail(job.error()));
    if (state_row((*job)->state()).terminal) return done(view_of(**job));
    Act command{.job = task_id, .action = Action::cancel, .body = {.reason = reason}, .actor = call->actor};
    on_loop([self = shared_from_this(), command = std::move(command), done = std::move(done)]() mutable {
        self->scheduler_.act(std::move(command),
                             [self, done = std::move(done)](Result<JobRecordPtr> released) {
                                 if (!released) return done(fail(released.error()));
                                 done(self->view_of(**released));
                             });
    });
}

void HttpApi::Impl::schedule(CallPtr call) {
    submit_document(
        call, [call](Result<api::TaskView> view, bool created) { call->answer(view, created ? 201 : 200); });
}

void HttpApi::Impl::get_task(CallPtr call) {
    auto job = visible_job(*call, call->parameter("task_id"));
    if (!job) return call->fail(job.error());
    call->answer(view_of(**job));
}

void HttpApi::Impl::release_task(CallPtr call) {
    auto body = body_of<api::ReasonBody>(*call);
    if (!body) return call->fail(body.error());
    release(call, call->parameter("task_id"), body->reason,
            [call](Result<api::TaskView> view) { call->answer(view); });
}

// Every status change of any job since the cursor, from history: nothing is missed by a poller that was away.
void HttpApi::Impl::get_changes(CallPtr call) {
    auto since = number_of(*call, "since", 0, 0, std::int64_t{1} << 52);
    auto limit = number_of(*call, "limit", 100, 1, 1000);
    if (!since) return call->fail(since.error());
    if (!limit) return call->fail(limit.error());
    auto rows = scheduler_.history({.kind = "job_state",
                                    .subject = {},
                                    .after = static_cast<std::uint64_t>(*since),
                                    .limit = static_cast<std::size_t>(*limit) + 1});
    if (!rows) return call->fail(rows.error());
    api::Changes changes{.changes = {}, .cursor = std::to_string(*since)};
    changes.more = rows->size() > static_cast<std::size_t>(*limit);
    if (changes.more) rows->pop_back();
    for (const store::HistoryRow& row : *rows) {
        changes.cursor = std::to_string(row.sequence);
        auto job = scheduler_.read().job(row.subject);
        auto change = codec::read_json<StateChange>(row.body, {.allow_unknown = true});
        if (!job || !change || !may_see(call->actor, job->tenant())) continue;
        api::TaskView view = view_of(*job);
        view.status = alldata_name(change->state, change->reason);
        view.reason = std::string(name_of(change->reason));
        view.detail = change->detail;
        view.at = change->at;
        view.sequence = static_cast<std::int64_t>(row.sequence);
        changes.changes.push_back(std::move(view));
    }
    call->answer(changes);
}

void HttpApi::Impl::alldata_apply(CallPtr call) {
    submit_document(call, [self = shared_from_this(), call](Result<api::TaskView> view, bool) {
        self->envelope(*call, view);
    });
}

void HttpApi::Impl::alldata_release(CallPtr call) {
    auto body = body_of<api::AllDataRelease>(*call);
    if (!body) return call->fail(body.error());
    release(call, body->task_id, body->reason,
            [self = shared_from_this(), call](Result<api::TaskView> view) { self->envelope(*call, view); });
}

void HttpApi::Impl::alldata_task(CallPtr call) {
    auto job = visible_job(*call, call->parameter("task_id"));
    if (!job) return call->fail(job.error());
    envelope(*call, Result<api::TaskView>(view_of(**job)));
}

void HttpApi::Impl::alldata_tasks(CallPtr call) {
    auto number = number_of(*call, "pageNum", 1, 1, 1'000'000);
    auto size = number_of(*call, "pageSize", 20, 1, 1000);
    if (!number) return call->fail(number.error());
    if (!size) return call->fail(size.error());
    JobFilter filter;
    if (call->actor.role == Role::tenant) filter.tenant = call->actor.tenant;
    const std::string statuses = "," + call->query("status") + ",";
    if (statuses != ",,")
        for (const StateRow& row : state_table())
            if (statuses.find("," + std::string(row.alldata_name) + ",") != std::string::npos)
                filter.states.push_back(row.state);

    api::AllDataPage<api::TaskView> page{.page_num = *number, .page_size = *size, .total = 0, .data = {}};
    std::string cursor;
    for (std::int64_t current = 1; current <= *number; ++current) {
        auto rows = scheduler_.read().jobs(filter, "-submitted", static_cast<std::size_t>(*size), cursor);
        if (!rows) return call->fail(rows.error());
        page.total = rows->total;
        if (current == *number)
            for (const api::JobRow& row : rows->items)
                if (auto found = scheduler_.read().job(row.id)) page.data.push_back(view_of(*found));
        cursor = rows->next;
        if (cursor.empty()) break;
    }
    envelope(*call, Result<api::AllDataPage<api::TaskView>>(std::move(page)));
}

void HttpApi::Impl::alldata_usage(CallPtr call) {
    const std::string wanted = call->query("tenant");
    api::AllDataUsage usage{.tenants = {}, .cluster = scheduler_.read().cluster().resources};
    for (const Tenant& tenant : scheduler_.read().tenants()) {
        if (!may_see(call->actor, tenant.path)) continue;
        if (!wanted.empty() && tenant.path != wanted && !tenant.path.starts_with(wanted + "/")) continue;
        if (auto quota = scheduler_.read().quota(tenant.path)) usage.tenants.push_back(std::move(*quota));
    }
    envelope(*call, Result<api::AllDataUsage>(std::move(usage)));
}

void HttpApi::Impl::alldata_quota(CallPtr call) {
    auto body = body_of<api::AllDataQuota>(*call);
    if (!body) return call->fail(body.error());
    on_loop([self = shared_from_this(), call, body = std::move(*body)] {
        const api::QuotaChange change{
            .hard = body.hard, .max_priority = body.max_priority, .max_pending = body.max_pending};
        self->scheduler_.set_quota(
            body.tenant, change, call->actor,
            [self, call](Result<api::QuotaView> view) { self->envelope(*call, view); });
    });
}

void HttpApi::Impl::alldata_cluster(CallPtr call) {
    envelope(*call, Result<api::ClusterView>(cluster_view(call->actor)));
}

}  // namespace crater::scheduler
