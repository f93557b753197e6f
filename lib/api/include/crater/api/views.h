// What the API answers. Each view is described once (base/describe.h): the description makes the JSON, the
// OpenAPI schema, the console's generated TypeScript client, and is what the CLI reads back. Units are in the
// names. No logic here.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "crater/engine/explain.h"
#include "crater/model/job.h"
#include "crater/model/node.h"
#include "crater/model/tenant.h"

namespace crater::api {

// A page of a list. `next` is the cursor of the following page; absent on the last.
template <class T>
struct Page {
    std::vector<T> items;
    std::string next;
    std::int64_t total = 0;
};
template <class V, class T>
void describe(V& v, Page<T>& p) {
    v.field("items", p.items, "Rows.", {.required = true});
    v.field("next", p.next, "Cursor of the next page.");
    v.field("total", p.total, "Rows that match the filters.");
}

// One row of the job list.
struct JobRow {
    std::string id, name, queue, tenant, user;
    JobType type = JobType::unset;
    State state = State::pending;
    Reason reason = Reason::none;
    std::string detail;
    int priority = 0;
    std::int64_t tasks = 1;
    MilliGpu gpu;          // all tasks together
    Mebibytes gpu_memory;  // all tasks together; 0 = whole cards
    MilliCpu cpu;
    Bytes memory;
    std::vector<std::string> nodes;
    Instant submitted, started, ended;
    std::int64_t preemptions = 0;
    bool preemptible = false, simulated = false;
    std::string enforcement;  // "advisory" when a limit is not held; absent while it is enforced
    // while it waits: of a job alone, and of lists that ask for it
    std::optional<engine::StartEstimate> estimate;
};
template <class V>
void describe(V& v, JobRow& j) {
    v.field("id", j.id, "Job id.", {.required = true});
    v.field("name", j.name, "Name.");
    v.field("type", j.type, "Kind of work.");
    v.field("queue", j.queue, "Queue.");
    v.field("tenant", j.tenant, "Tenant.");
    v.field("user", j.user, "Name of the token that submitted it.");
    v.field("state", j.state, "State.", {.required = true});
    v.field("reason", j.reason, "Why it is in this state.");
    v.field("detail", j.detail, "Why, in particular.");
    v.field("priority", j.priority, "Priority, 0 to 1000.");
    v.field("preemptible", j.preemptible, "Whether it may be stopped for others.");
    v.field("tasks", j.tasks, "Equal tasks placed together.");
    v.field("gpu", j.gpu, "Cards, all tasks together.");
    v.field("gpu_memory_mib", j.gpu_memory, "GPU memory, all tasks together, in MiB; 0 = whole cards.");
    v.field("cpu", j.cpu, "Cores, all tasks together.");
    v.field("memory_bytes", j.memory, "Memory, all tasks together.");
    v.field("nodes", j.nodes, "Where it runs.");
    v.field("submitted", j.submitted, "When it was accepted.");
    v.field("started", j.started, "When it first started.");
    v.field("ended", j.ended, "When it ended.");
    v.field("preemptions", j.preemptions, "How often it was stopped for others.");
    v.field("simulated", j.simulated, "It runs on simulated hardware.");
    v.field("enforcement", j.enforcement, "advisory when a limit is not held.");
    v.field("estimate", j.estimate, "When it will start, while it waits; in lists with estimates=true.");
}

struct OutputFile {
    std::string path;
    std::int64_t bytes = 0;
};
template <class V>
void describe(V& v, OutputFile& f) {
    v.field("path", f.path, "Path below the job's output folder.");
    v.field("bytes", f.bytes, "Size.");
}

// A job in full.
struct JobView {
    JobRow job;
    JobSpec spec;  // secrets masked
    std::vector<TaskStatus> tasks;
    std::vector<StateChange> timeline;              // oldest first
    std::optional<engine::DecisionTrace> decision;  // of the last placement
    std::vector<std::string> notes;  // what was filled in at submit, what is kept without effect
    std::string no_estimate;         // while it waits: why nobody knows when it will start
};
template <class V>
void describe(V& v, JobView& j) {
    v.field("job", j.job, "Its row of the list.", {.required = true});
    v.field("spec", j.spec, "What was asked for, with what was filled in.");
    v.field("tasks", j.tasks, "Its tasks, with the exact slices they hold.");
    v.field("timeline", j.timeline, "How it came here, oldest first.");
    v.field("decision", j.decision, "Why it was placed where it is.");
    v.field("notes", j.notes, "What was filled in at submit, and what is kept without effect.");
    v.field("no_estimate", j.no_estimate, "While it waits: why it is unknown when it will start.");
}

// Allocated, used and total, always together.
struct Amounts {
    double allocated = 0, used = 0, total = 0;
};
template <class V>
void describe(V& v, Amounts& a) {
    v.field("allocated", a.allocated, "Given to tasks.", {.required = true});
    v.field("used", a.used, "Really used, from live samples.", {.required = true});
    v.field("total", a.total, "All there is on nodes that are not lost.", {.required = true});
}
struct ResourceBars {
    Amounts gpu, gpu_memory_mib, cpu, memory_bytes, disk_bytes, iops;  // gpu in cards, cpu in cores
};
template <class V>
void describe(V& v, ResourceBars& r) {
    v.field("gpu", r.gpu, "Cards.", {.required = true});
    v.field("gpu_memory_mib", r.gpu_memory_mib, "GPU memory in MiB.", {.required = true});
    v.field("cpu", r.cpu, "Cores.", {.required = true});
    v.field("memory_bytes", r.memory_bytes, "Memory in bytes.", {.required = true});
    v.field("disk_bytes", r.disk_bytes, "Disk space in bytes.", {.required = true});
    v.field("iops", r.iops, "Disk operations per second.", {.required = true});
}

// One slice of a card, for the heat map.
struct CardSlice {
    std::string job;
    std::int64_t task = 0;
    MilliGpu compute;
    Mebibytes memory;
};
template <class V>
void describe(V& v, CardSlice& c) {
    v.field("job", c.job, "Who holds it.");
    v.field("task", c.task, "Its task.");
    v.field("compute", c.compute, "Part of the card.");
    v.field("memory_mib", c.memory, "Memory in MiB.");
}
struct CardView {
    std::int64_t index = 0;
    std::string model, uuid;
    bool healthy = true;
    std::string health_detail;
    Mebibytes memory_total, memory_allocated, memory_used;
    MilliGpu compute_allocated;
    double utilization_percent = 0, temperature_celsius = 0, power_watts = 0;
    std::vector<CardSlice> slices;
};
template <class V>
void describe(V& v, CardView& c) {
    v.field("index", c.index, "Card on its node.");
    v.field("model", c.model, "Model.");
    v.field("uuid", c.uuid, "UUID.");
    v.field("healthy", c.healthy, "Whether tasks may be placed on it.");
    v.field("health_detail", c.health_detail, "What is wrong with it.");
    v.field("memory_total_mib", c.memory_total, "Memory in MiB.");
    v.field("memory_allocated_mib", c.memory_allocated, "Given to tasks, in MiB.");
    v.field("memory_used_mib", c.memory_used, "Really used, in MiB.");
    v.field("compute_allocated", c.compute_allocated, "Compute given to tasks; 1 = the card.");
    v.field("utilization_percent", c.utilization_percent, "Live use.");
    v.field("temperature_celsius", c.temperature_celsius, "Temperature.");
    v.field("power_watts", c.power_watts, "Power.");
    v.field("slices", c.slices, "Who holds what.");
}
// Carried by the jobs of an array: its id.
inline constexpr std::string_view array_label = "crater.array";

struct NodeRow {
    std::string name;
    NodeState state = NodeState::up;
    std::string detail;
    std::map<std::string, std::string> labels;
    bool simulated = false;
    ResourceBars resources;
    std::vector<CardView> cards;
    std::int64_t tasks = 0;
    Instant since, last_heartbeat;
    std::vector<Taint> taints;
    std::vector<Maintenance> maintenance;  // planned or under way
};
template <class V>
void describe(V& v, NodeRow& n) {
    v.field("name", n.name, "Node.", {.required = true});
    v.field("state", n.state, "up, draining or lost.", {.required = true});
    v.field("detail", n.detail, "Why.");
    v.field("labels", n.labels, "Labels.");
    v.field("simulated", n.simulated, "Its hardware is simulated.");
    v.field("resources", n.resources, "Allocated, used, total.");
    v.field("cards", n.cards, "Its cards.");
    v.field("tasks", n.tasks, "Tasks on it.");
    v.field("since", n.since, "When it entered this state.");
    v.field("last_heartbeat", n.last_heartbeat, "When its agent was last heard.");
    v.field("taints", n.taints, "What keeps jobs away that do not tolerate it.");
    v.field("maintenance", n.maintenance, "When it takes no work, planned or under way.");
}
struct NodeTask {
    std::string job, name;
    TaskStatus task;
};
template <class V>
void describe(V& v, NodeTask& t) {
    v.field("job", t.job, "Job.");
    v.field("name", t.name, "Its name.");
    v.field("task", t.task, "The task.");
}
struct NodeView {
    NodeRow node;
    NodeInventory inventory;
    std::optional<NodeSample> sample;
    std::vector<NodeTask> held;
};
template <class V>
void describe(V& v, NodeView& n) {
    v.field("node", n.node, "Its row of the list.", {.required = true});
    v.field("inventory", n.inventory, "Its hardware and what is enforced on it.");
    v.field("sample", n.sample, "Latest live sample.");
    v.field("held", n.held, "Tasks on it.");
}
// NUMA, PCIe, GPU, NVMe, NIC as a graph.
struct TopologyVertex {
    std::string id, kind, label;  // kind: node, numa, gpu, disk, nic
};
template <class V>
void describe(V& v, TopologyVertex& t) {
    v.field("id", t.id, "Vertex.");
    v.field("kind", t.kind, "node, numa, gpu, disk or nic.");
    v.field("label", t.label, "What to show.");
}
struct TopologyEdge {
    std::string from, to, kind;  // kind: contains, nvlink, numa
    std::string label;
};
template <class V>
void describe(V& v, TopologyEdge& t) {
    v.field("from", t.from, "Vertex.");
    v.field("to", t.to, "Vertex.");
    v.field("kind", t.kind, "contains, nvlink or numa.");
    v.field("label", t.label, "What to show.");
}
struct TopologyView {
    std::vector<TopologyVertex> vertices;
    std::vector<TopologyEdge> edges;
};
template <class V>
void describe(V& v, TopologyView& t) {
    v.field("vertices", t.vertices, "Devices.");
    v.field("edges", t.edges, "How they are joined.");
}

struct QueueView {
    QueueSpec spec;
    std::int64_t waiting = 0, running = 0;
    Instant oldest;                                     // submit time of the oldest waiting job
    double wait_p50_seconds = 0, wait_p95_seconds = 0;  // of the last 1,000 starts
};
template <class V>
void describe(V& v, QueueView& q) {
    v.field("spec", q.spec, "How it is set.", {.required = true});
    v.field("waiting", q.waiting, "Jobs waiting.");
    v.field("running", q.running, "Jobs holding slices.");
    v.field("oldest", q.oldest, "Submit time of the oldest waiting job.");
    v.field("wait_p50_seconds", q.wait_p50_seconds, "Median wait of recent starts.");
    v.field("wait_p95_seconds", q.wait_p95_seconds, "95th percentile wait of recent starts.");
}

struct QuotaView {
    std::string tenant;
    Quota hard;
    engine::Usage used;
    std::int64_t max_priority = 700, max_pending = 10'000, pending = 0;
};
template <class V>
void describe(V& v, QuotaView& q) {
    v.field("tenant", q.tenant, "Tenant.", {.required = true});
    v.field("hard", q.hard, "Hard quota; what is absent has no limit.");
    v.field("used", q.used, "Held now, its descendants included.");
    v.field("max_priority", q.max_priority, "Highest priority its jobs may ask for.");
    v.field("max_pending", q.max_pending, "Most jobs waiting at once.");
    v.field("pending", q.pending, "Jobs waiting now.");
}
// Body of PUT /quotas/{tenant}. What is absent stays as it is; null lifts a cap.
struct QuotaChange {
    Quota hard;
    std::optional<std::int64_t> max_priority, max_pending;
};
template <class V>
void describe(V& v, QuotaChange& q) {
    v.field("hard", q.hard, "Hard quota.");
    v.field("max_priority", q.max_priority, "Highest priority its jobs may ask for.",
            {.minimum = 0, .maximum = 1000});
    v.field("max_pending", q.max_pending, "Most jobs waiting at once.", {.minimum = 0, .maximum = 1e9});
}

// One line in the strip of problems.
struct Problem {
    std::string kind, subject, text;  // kind: node_lost, card_unhealthy, callback_failing, store_slow
    Instant since;
};
template <class V>
void describe(V& v, Problem& p) {
    v.field("kind", p.kind, "What is wrong.");
    v.field("subject", p.subject, "With what.");
    v.field("text", p.text, "In words.");
    v.field("since", p.since, "Since when.");
}
struct NodeCounts {
    std::int64_t up = 0, draining = 0, lost = 0, simulated = 0;
};
template <class V>
void describe(V& v, NodeCounts& n) {
    v.field("up", n.up, "Up.");
    v.field("draining", n.draining, "Draining.");
    v.field("lost", n.lost, "Lost.");
    v.field("simulated", n.simulated, "With simulated hardware.");
}
// Whose token asked.
struct Identity {
    std::string name;
    Role role = Role::admin;
    std::string tenant;
};
template <class V>
void describe(V& v, Identity& i) {
    v.field("name", i.name, "Name of the token.");
    v.field("role", i.role, "What it may do.");
    v.field("tenant", i.tenant, "Whose jobs, for the role tenant.");
}
struct ClusterView {
    std::string name, version;
    std::vector<std::string> capabilities, pools;
    std::string health = "ok";  // "degraded" while there are problems
    NodeCounts nodes;
    std::map<std::string, std::int64_t> jobs;  // state -> count
    ResourceBars resources;
    std::vector<engine::FreeSlice> free;
    std::vector<QueueView> queues;
    std::vector<Problem> problems;
    std::uint64_t revision = 0;
    std::string state_hash;                // hexadecimal, of the engine at `revision`
    bool state_hash_verified = true;       // at the last start the rebuilt state had the stored hash
    std::uint64_t recovered_revision = 0;  // what the last start found in the store
    std::string recovered_state_hash;      // and rebuilt from it
    Instant now;
    std::optional<Identity> you;
};
template <class V>
void describe(V& v, ClusterView& c) {
    v.field("name", c.name, "Cluster.");
    v.field("version", c.version, "Version of Crater.");
    v.field("capabilities", c.capabilities, "What this cluster can do.");
    v.field("pools", c.pools, "Names of its pools.");
    v.field("health", c.health, "ok, or degraded while there are problems.");
    v.field("nodes", c.nodes, "Nodes by state.");
    v.field("jobs", c.jobs, "Jobs by state.");
    v.field("resources", c.resources, "Allocated, used, total.");
    v.field("free", c.free, "Largest free slices per GPU model.");
    v.field("queues", c.queues, "Queues.");
    v.field("problems", c.problems, "What is wrong now.");
    v.field("revision", c.revision, "Committed revision this answer shows.");
    v.field("state_hash", c.state_hash, "Hash of the scheduler's state at that revision.");
    v.field("state_hash_verified", c.state_hash_verified,
            "Whether the state rebuilt at the last start had the stored hash.");
    v.field("recovered_revision", c.recovered_revision, "Revision that the last start found in the store.");
    v.field("recovered_state_hash", c.recovered_state_hash,
            "Hash of the state that it rebuilt from that revision.");
    v.field("now", c.now, "The scheduler's clock.");
    v.field("you", c.you, "Whose token asked.");
}

// GET /cluster/holdings: the agents' own tables against the scheduler's books, device by device.
struct HoldingsView {
    std::int64_t compared = 0;
    std::vector<std::string> differences;
};
template <class V>
void describe(V& v, HoldingsView& h) {
    v.field("compared", h.compared, "Tasks found in the agents' tables.", {.required = true});
    v.field("differences", h.differences, "Where tables and books differ, in words; absent when nowhere.");
}

// One live event (SSE `data`, the SSE id is `sequence`).
struct EventView {
    std::uint64_t sequence = 0;
    Instant at;
    std::string kind;     // job, node, queue, quota, cluster
    std::string subject;  // job id, node name, ...
    std::string state, reason, detail;
};
template <class V>
void describe(V& v, EventView& e) {
    v.field("sequence", e.sequence, "Number; resume after it with Last-Event-ID.");
    v.field("at", e.at, "When.");
    v.field("kind", e.kind, "job, node, queue, quota.");
    v.field("subject", e.subject, "Job id, node, queue or tenant.");
    v.field("state", e.state, "State entered.");
    v.field("reason", e.reason, "Why, as a code.");
    v.field("detail", e.detail, "Why, in particular.");
}

struct TokenRequest {
    std::string name;
    Role role = Role::read_only;
    std::string tenant;
    Millis expires_in{0};
};
template <class V>
void describe(V& v, TokenRequest& t) {
    v.field("name", t.name, "What it is for.", {.required = true});
    v.field("role", t.role, "What it may do.", {.required = true});
    v.field("tenant", t.tenant, "Whose jobs, for the role tenant.");
    v.field("expires_in", t.expires_in, "How long it lives; for ever when absent.");
}
struct TokenView {
    std::string id, name, tenant, secret;  // secret: only in the answer that made it
    Role role = Role::read_only;
    Instant created, expires;
};
template <class V>
void describe(V& v, TokenView& t) {
    v.field("id", t.id, "Token id.", {.required = true});
    v.field("name", t.name, "What it is for.");
    v.field("role", t.role, "What it may do.");
    v.field("tenant", t.tenant, "Whose jobs.");
    v.field("created", t.created, "When it was made.");
    v.field("expires", t.expires, "When it ends.");
    v.field("secret", t.secret, "The token itself, shown once.");
}

struct PluginView {
    std::string name, version, description, file, state, reason;
    std::int64_t calls = 0, late = 0;
    Micros p99;
    Instant since;
};
template <class V>
void describe(V& v, PluginView& p) {
    v.field("name", p.name, "Placement plugin.", {.required = true});
    v.field("version", p.version, "Its version.");
    v.field("description", p.description, "What it is for, in its own words.");
    v.field("file", p.file, "Where it was loaded from.");
    v.field(
        "state", p.state,
        "loading, active, quarantined (at fault, not asked until its file changes) or refused (never worked).");
    v.field("reason", p.reason, "Why it is not active, or why its new file is not.");
    v.field("calls", p.calls, "Decisions it was asked about.");
    v.field("late", p.late, "How often it was late.");
    v.field("p99_us", p.p99, "99th percentile of the time until it had answered, of the last 1,000 calls.");
    v.field("since", p.since, "When it entered this state.");
}

// Bodies of small changes.
struct ReasonBody {
    std::string reason;
    Millis grace_period{-1};
    bool evict = false;  // drain: move running work too
};
template <class V>
void describe(V& v, ReasonBody& r) {
    v.field("reason", r.reason, "Why; kept in the audit log.");
    v.field("grace_period", r.grace_period, "Instead of the job's own.");
    v.field("evict", r.evict, "Drain: stop what runs, too.");
}

// GET /jobs/{id}/metrics
struct MetricPoint {
    Instant at;
    double cpu_cores = 0, memory_bytes = 0, read_bytes = 0, write_bytes = 0, gpu_percent = 0,
           gpu_memory_mib = 0;
};
template <class V>
void describe(V& v, MetricPoint& m) {
    v.field("at", m.at, "When.");
    v.field("cpu_cores", m.cpu_cores, "Cores used.");
    v.field("memory_bytes", m.memory_bytes, "Memory used.");
    v.field("read_bytes", m.read_bytes, "Bytes read since the start.");
    v.field("write_bytes", m.write_bytes, "Bytes written since the start.");
    v.field("gpu_percent", m.gpu_percent, "GPU use.");
    v.field("gpu_memory_mib", m.gpu_memory_mib, "GPU memory used in MiB.");
}
struct TaskSeries {
    std::int64_t task = 0;
    std::vector<MetricPoint> points;
};
template <class V>
void describe(V& v, TaskSeries& t) {
    v.field("task", t.task, "Task.");
    v.field("points", t.points, "Oldest first.");
}
struct JobMetrics {
    std::vector<TaskSeries> series;
};
template <class V>
void describe(V& v, JobMetrics& j) {
    v.field("series", j.series, "One per task.");
}

// POST /schedule and GET /tasks/{id}, and the body of a callback. SPEC 10.1.
struct AllocatedResources {
    std::string node;
    std::vector<std::int64_t> gpu_ids, cpu_cores;
    std::int64_t numa_node = -1;
    std::string checkpoint_path;
};
template <class V>
void describe(V& v, AllocatedResources& a) {
    v.field("node", a.node, "Node.");
    v.field("gpu_ids", a.gpu_ids, "Cards.");
    v.field("cpu_cores", a.cpu_cores, "Logical CPUs.");
    v.field("numa_node", a.numa_node, "NUMA domain; -1 when not bound.");
    v.field("checkpoint_path", a.checkpoint_path, "Where the task keeps its checkpoints.");
}
struct TaskView {
    std::string task_id, status;  // AllData's names: queued, scheduled, preparing, running, ...
    std::int64_t sequence = 0;
    std::optional<AllocatedResources> allocated_resources;
    std::string reason, detail;
    std::optional<std::int64_t> exit_code;
    Instant at;
    std::vector<std::string> notes;  // in answers only, not in callbacks
};
template <class V>
void describe(V& v, TaskView& t) {
    v.field("task_id", t.task_id, "The caller's id.", {.required = true});
    v.field(
        "status", t.status,
        "queued, scheduled, preparing, running, preempted, finished, failed, cancelled, evicted, lost or rejected.",
        {.required = true});
    v.field("sequence", t.sequence, "Number of this status, from 1, without gaps.");
    v.field("allocated_resources", t.allocated_resources, "What it holds.");
    v.field("reason", t.reason, "Why, as a code.");
    v.field("detail", t.detail, "Why, in particular.");
    v.field("exit_code", t.exit_code, "Exit code, when it has ended.");
    v.field("at", t.at, "When.");
    v.field("notes", t.notes, "What was filled in at submit, and what is kept without effect.");
}

}  // namespace crater::api
