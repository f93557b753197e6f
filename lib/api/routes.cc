#include "crater/api/routes.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "crater/api/views.h"
#include "crater/api/views_alldata.h"
#include "crater/api/views_plans.h"
#include "crater/codec/codec.h"
#include "schedule_document.h"

namespace crater::api {
namespace {

using wire::QueryParameter;
using wire::RoleSet;
using wire::Route;
using Json = nlohmann::json;

// SPEC 10.4. Callers of the role `tenant` are held to their own tenant's jobs and quota by the handlers.
constexpr RoleSet anyone = 0;
constexpr RoleSet admin = role_bit(Role::admin);
constexpr RoleSet manage = admin | role_bit(Role::op);
constexpr RoleSet work = manage | role_bit(Role::tenant);
constexpr RoleSet look_around = manage | role_bit(Role::read_only);
constexpr RoleSet look = work | role_bit(Role::read_only);
constexpr RoleSet join = admin | role_bit(Role::agent_join);

// A schema under its name, so that the document holds it once and generated clients have a word for it.
template <std::size_t N>
struct SchemaName {
    char text[N];
    consteval SchemaName(const char (&name)[N]) { std::copy_n(name, N, text); }
};
template <class T, SchemaName name>
Json schema() {
    return {{"$ref", std::string("#/$defs/") + name.text}, {"$defs", {{name.text, codec::schema<T>()}}}};
}

constexpr QueryParameter limit{"limit", "Rows on a page, 1 to 1000; 100 when absent."};
constexpr QueryParameter cursor{"cursor", "Where the page starts: `next` of the page before."};
constexpr QueryParameter sort{
    "sort",
    "Column to sort by, with a leading - for descending; jobs by submitted, name, state, priority or id, others by name, path or id."};

const std::vector<QueryParameter> page{limit, cursor, sort};
const std::vector<QueryParameter> job_filters{
    limit,
    cursor,
    sort,
    {"status", "States, separated by commas: Pending,Running."},
    {"queue", "Queue."},
    {"tenant", "Tenant and its descendants."},
    {"name", "Part of the name or id."},
    {"user", "Name of the token that submitted it."},
    {"type", "training, inference, batch or interactive."},
    {"node", "Node it holds slices on."},
    {"label", "Label, as key or key=value; crater.array=ID for the jobs of an array."},
    {"since", "Submitted at or after: a time, or a span before now such as 24h."},
    {"estimates", "true: with the start that is expected of each that waits."}};
const std::vector<QueryParameter> node_filters{limit,
                                               cursor,
                                               sort,
                                               {"name", "Part of the name."},
                                               {"state", "up, draining or lost."},
                                               {"label", "Label, as key or key=value."}};
const std::vector<QueryParameter> why_parameters{
    {"nodes", "true adds every node and what it lacks, at most 1,000."},
    {"thorough",
     "true searches for changes that would start it to the end; else only as far as that is quick."}};
const std::vector<QueryParameter> log_parameters{
    {"task", "Task, from 0; 0 when absent."},
    {"attempt", "Start to show, from 1; the latest when absent."},
    {"offset", "First byte to send."},
    {"tail", "Only the last lines, so many."},
    {"follow", "true keeps the answer open while the task runs."}};
const std::vector<QueryParameter> metric_parameters{
    {"metric", "Only this one: cpu, memory, io, gpu, gpu-memory."}, {"range", "How far back, such as 1h."}};
const std::vector<QueryParameter> event_parameters{
    {"kind", "Only these kinds, separated by commas: job, node, queue, quota, cluster."},
    {"subject", "Only this job, node, queue or tenant."},
    {"since", "Sequence to resume after, where Last-Event-ID cannot be sent."}};
const std::vector<QueryParameter> change_parameters{
    {"since", "Cursor of the answer before; from the beginning when absent."}, limit};
const std::vector<QueryParameter> alldata_page{{"pageNum", "Page, from 1."},
                                               {"pageSize", "Rows on a page, 1 to 1000; 20 when absent."},
                                               {"status", "Statuses, separated by commas: queued,running."}};
const std::vector<QueryParameter> alldata_tenant{{"tenant", "Tenant and its descendants."}};

// A POST takes an Idempotency-Key, so that a caller who got no answer may ask again.
constexpr bool idempotent = true;

const std::vector<Route>& table() {
    // clang-format off
    static const std::vector<Route> rows{
        // ---- jobs
        {"POST", "/api/v1/jobs", work, "submit_job",
         "Submit a job. 201 with the job, of an array with the first; the same key and body again 200, another body 409; 422 when no node could ever hold it.",
         {}, schema<JobSpec, "JobSpec">, schema<JobView, "JobView">, "jobs", idempotent},
        {"GET", "/api/v1/jobs", look, "list_jobs", "Jobs, newest first.", job_filters, nullptr, schema<Page<JobRow>, "JobPage">, "jobs"},
        {"GET", "/api/v1/jobs/{id}", look, "get_job", "A job in full. A task_id serves as well as a job id.", {}, nullptr,
         schema<JobView, "JobView">, "jobs"},
        {"GET", "/api/v1/jobs/{id}/why", look, "get_job_why", "Why it waits: the binding constraint, who holds it, its rank, and the smallest changes that would start it.", why_parameters,
         nullptr, schema<engine::Why, "Why">, "jobs"},
        {"GET", "/api/v1/jobs/{id}/events", look, "get_job_events", "What happened to it, oldest first.", {limit, cursor}, nullptr,
         schema<Page<EventView>, "EventPage">, "jobs"},
        {"GET", "/api/v1/jobs/{id}/metrics", look, "get_job_metrics", "What its tasks use, over time.", metric_parameters, nullptr,
         schema<JobMetrics, "JobMetrics">, "jobs"},
        {"GET", "/api/v1/jobs/{id}/logs", look, "get_job_logs", "What a task wrote, as text.", log_parameters, nullptr, nullptr, "jobs",
         false, "text/plain"},
        {"POST", "/api/v1/jobs/{id}/cancel", work, "cancel_job", "End it, with its grace period. The id of an array ends all its jobs.", {}, schema<ReasonBody, "ReasonBody">,
         schema<JobView, "JobView">, "jobs", idempotent},
        {"POST", "/api/v1/jobs/{id}/evict", manage, "evict_job", "Take its slices away.", {}, schema<ReasonBody, "ReasonBody">, schema<JobView, "JobView">,
         "jobs", idempotent},
        {"POST", "/api/v1/jobs/{id}/resume", work, "resume_job", "Queue an evicted, failed or cancelled job again.", {},
         schema<ReasonBody, "ReasonBody">, schema<JobView, "JobView">, "jobs", idempotent},
        // ---- plans: what would happen; nothing is changed
        {"POST", "/api/v1/plans/submit", work, "plan_submit", "Would this job start now, where, and who would be stopped for it? Nothing is changed.", {},
         schema<JobSpec, "JobSpec">, schema<FitView, "FitView">, "plans", idempotent},
        {"POST", "/api/v1/plans/preempt", work, "plan_preempt", "Who would be stopped for a waiting job, or what stopping a running one costs. Nothing is changed.", {},
         schema<PreemptPlan, "PreemptPlan">, schema<engine::WhatIf, "WhatIf">, "plans", idempotent},
        {"POST", "/api/v1/plans/defrag", manage, "plan_defrag", "Which jobs would move so that what is free lies together. Nothing is changed.", {},
         schema<DefragRequest, "DefragRequest">, schema<engine::WhatIf, "WhatIf">, "plans", idempotent},
        {"POST", "/api/v1/plans/drain", manage, "plan_drain", "What becomes of the jobs of a node that takes no new work. Nothing is changed.", {},
         schema<DrainPlan, "DrainPlan">, schema<engine::WhatIf, "WhatIf">, "plans", idempotent},
        {"POST", "/api/v1/plans/node_loss", manage, "plan_node_loss", "Which jobs would lose their place with a node, and where they would go. Nothing is changed.", {},
         schema<NodeLossPlan, "NodeLossPlan">, schema<engine::WhatIf, "WhatIf">, "plans", idempotent},
        {"POST", "/api/v1/plans/quota", manage, "plan_quota", "Which jobs another quota would start or hold back. Nothing is changed.", {},
         schema<QuotaPlan, "QuotaPlan">, schema<engine::WhatIf, "WhatIf">, "plans", idempotent},
        {"POST", "/api/v1/defrag", manage, "defrag", "Move jobs so that what is free lies together: each stops with its grace period and goes on elsewhere.", {},
         schema<DefragRequest, "DefragRequest">, schema<DefragStarted, "DefragStarted">, "cluster", idempotent},
        // ---- nodes
        {"GET", "/api/v1/nodes", look_around, "list_nodes", "Nodes.", node_filters, nullptr, schema<Page<NodeRow>, "NodePage">, "nodes"},
        {"GET", "/api/v1/nodes/{name}", look_around, "get_node", "A node in full.", {}, nullptr, schema<NodeView, "NodeView">, "nodes"},
        {"GET", "/api/v1/nodes/{name}/topology", look_around, "get_node_topology", "How its devices are joined.", {}, nullptr,
         schema<TopologyView, "TopologyView">, "nodes"},
        {"POST", "/api/v1/nodes/{name}/drain", manage, "drain_node", "Take no new work; `evict` moves what runs.", {},
         schema<ReasonBody, "ReasonBody">, schema<NodeRow, "NodeRow">, "nodes", idempotent},
        {"POST", "/api/v1/nodes/{name}/taint", manage, "taint_node", "Keep jobs away that do not tolerate it; one taint a key.", {},
         schema<Taint, "Taint">, schema<NodeRow, "NodeRow">, "nodes", idempotent},
        {"POST", "/api/v1/nodes/{name}/untaint", manage, "untaint_node", "Take a taint away; without a value, whatever its value.", {},
         schema<Taint, "Taint">, schema<NodeRow, "NodeRow">, "nodes", idempotent},
        {"POST", "/api/v1/nodes/{name}/maintenance", manage, "plan_maintenance",
         "Plan maintenance: until it begins only what ends before is placed, then nothing, and after its end all again.", {},
         schema<Maintenance, "Maintenance">, schema<NodeRow, "NodeRow">, "nodes", idempotent},
        {"DELETE", "/api/v1/nodes/{name}/maintenance", manage, "cancel_maintenance", "Give up all maintenance planned or under way.", {},
         nullptr, schema<NodeRow, "NodeRow">, "nodes"},
        {"POST", "/api/v1/nodes/{name}/resume", manage, "resume_node", "Take work again.", {}, schema<ReasonBody, "ReasonBody">, schema<NodeRow, "NodeRow">,
         "nodes", idempotent},
        // ---- queues, tenants, quotas
        {"GET", "/api/v1/queues", look, "list_queues", "Queues.", page, nullptr, schema<Page<QueueView>, "QueuePage">, "queues"},
        {"GET", "/api/v1/queues/{name}", look, "get_queue", "A queue.", {}, nullptr, schema<QueueView, "QueueView">, "queues"},
        {"PUT", "/api/v1/queues/{name}", manage, "put_queue", "Make or change a queue; holds from the next decision on.", {},
         schema<QueueSpec, "QueueSpec">, schema<QueueView, "QueueView">, "queues"},
        {"GET", "/api/v1/tenants", look_around, "list_tenants", "Tenants.", page, nullptr, schema<Page<Tenant>, "TenantPage">, "tenants"},
        {"GET", "/api/v1/tenants/{path*}", look, "get_tenant", "A tenant.", {}, nullptr, schema<Tenant, "Tenant">, "tenants"},
        {"PUT", "/api/v1/tenants/{path*}", admin, "put_tenant", "Make or change a tenant.", {}, schema<Tenant, "Tenant">, schema<Tenant, "Tenant">,
         "tenants"},
        {"GET", "/api/v1/quotas/{tenant*}", look, "get_quota", "Quota and what is held now.", {}, nullptr, schema<QuotaView, "QuotaView">,
         "tenants"},
        {"PUT", "/api/v1/quotas/{tenant*}", manage, "put_quota",
         "Change a quota; takes effect at once, never ends running work.", {}, schema<QuotaChange, "QuotaChange">, schema<QuotaView, "QuotaView">, "tenants"},
        // ---- cluster
        {"GET", "/api/v1/cluster", look, "get_cluster", "Name, version, capabilities, totals, problems.", {}, nullptr,
         schema<ClusterView, "ClusterView">, "cluster"},
        {"GET", "/api/v1/cluster/holdings", look_around, "get_holdings", "Do the agents' own tables agree with the books, device by device?", {},
         nullptr, schema<HoldingsView, "HoldingsView">, "cluster"},
        {"GET", "/api/v1/plugins", look_around, "list_plugins", "Placement plugins and how they do.", {}, nullptr,
         schema<Page<PluginView>, "PluginPage">, "cluster"},
        {"GET", "/api/v1/events", look, "stream_events", "Live events as server-sent events; resumes after Last-Event-ID.",
         event_parameters, nullptr, schema<EventView, "EventView">, "cluster", false, "text/event-stream"},
        {"GET", "/api/v1/tokens", admin, "list_tokens", "Tokens, without their secrets.", page, nullptr, schema<Page<TokenView>, "TokenPage">,
         "tokens"},
        {"POST", "/api/v1/tokens", admin, "create_token", "Make a token; its secret is in this answer only.", {},
         schema<TokenRequest, "TokenRequest">, schema<TokenView, "TokenView">, "tokens", idempotent},
        {"DELETE", "/api/v1/tokens/{id}", admin, "revoke_token", "Revoke a token, at once.", {}, nullptr, schema<TokenView, "TokenView">,
         "tokens"},
        {"GET", "/api/v1/agent", join, "join_agent", "WebSocket by which a node's agent joins the cluster.", {}, nullptr, nullptr,
         "cluster"},
        // ---- documents of AllData
        {"POST", "/api/v1/schedule", work, "schedule",
         "Submit AllData's training document or portal form; idempotent by task_id, another document for it is 409.", {},
         schema<ScheduleDocument, "ScheduleDocument">, schema<TaskView, "TaskView">, "alldata", idempotent},
        {"GET", "/api/v1/tasks/{task_id}", look, "get_task", "Where a task stands.", {}, nullptr, schema<TaskView, "TaskView">, "alldata"},
        {"POST", "/api/v1/tasks/{task_id}/release", work, "release_task", "Give it up; what still runs is cancelled.", {},
         schema<ReasonBody, "ReasonBody">, schema<TaskView, "TaskView">, "alldata", idempotent},
        {"GET", "/api/v1/changes", look, "get_changes", "Statuses entered since a cursor, for those who poll.", change_parameters,
         nullptr, schema<Changes, "Changes">, "alldata"},
        {"POST", "/alldata/v1/apply", work, "alldata_apply", "As POST /api/v1/schedule.", {}, schema<ScheduleDocument, "ScheduleDocument">,
         schema<Envelope<TaskView>, "AllDataTaskAnswer">, "alldata", idempotent},
        {"POST", "/alldata/v1/release", work, "alldata_release", "As POST /api/v1/tasks/{task_id}/release.", {},
         schema<AllDataRelease, "AllDataRelease">, schema<Envelope<TaskView>, "AllDataTaskAnswer">, "alldata", idempotent},
        {"GET", "/alldata/v1/tasks", look, "alldata_tasks", "Tasks, newest first.", alldata_page, nullptr,
         schema<Envelope<AllDataPage<TaskView>>, "AllDataTaskPageAnswer">, "alldata"},
        {"GET", "/alldata/v1/tasks/{task_id}", look, "alldata_task", "Where a task stands.", {}, nullptr, schema<Envelope<TaskView>, "AllDataTaskAnswer">,
         "alldata"},
        {"GET", "/alldata/v1/usage", look, "alldata_usage", "What tenants hold, and cluster totals.", alldata_tenant, nullptr,
         schema<Envelope<AllDataUsage>, "AllDataUsageAnswer">, "alldata"},
        {"POST", "/alldata/v1/quota", manage, "alldata_quota", "As PUT /api/v1/quotas/{tenant}.", {}, schema<AllDataQuota, "AllDataQuota">,
         schema<Envelope<QuotaView>, "AllDataQuotaAnswer">, "alldata", idempotent},
        {"GET", "/alldata/v1/cluster", look, "alldata_cluster", "As GET /api/v1/cluster.", {}, nullptr,
         schema<Envelope<ClusterView>, "AllDataClusterAnswer">, "alldata"},
        // ---- outside the prefix
        {"GET", "/healthz", anyone, "healthz", "The process lives.", {}, nullptr, schema<Health, "Health">, "health"},
        {"GET", "/health", anyone, "health", "As /healthz.", {}, nullptr, schema<Health, "Health">, "health"},
        {"GET", "/readyz", anyone, "readyz", "It takes requests: state loaded, store writable. Else 503.", {}, nullptr,
         schema<Health, "Health">, "health"},
        {"GET", "/metrics", anyone, "metrics", "Prometheus text format.", {}, nullptr, nullptr, "health", false, "text/plain"},
        {"GET", "/openapi.json", anyone, "openapi", "This description.", {}, nullptr, nullptr, "health"},
    };
    // clang-format on
    return rows;
}

}  // namespace

std::span<const Route> routes() { return table(); }

std::string openapi_document() {
    std::vector<std::string_view> role_names;
    for (const auto& row : enum_names(Role{})) {
        CRATER_CHECK(static_cast<std::size_t>(row.value) == role_names.size(), row.name);
        role_names.push_back(row.name);
    }
    return wire::openapi(routes(), "Crater", CRATER_VERSION, role_names);
}

}  // namespace crater::api
