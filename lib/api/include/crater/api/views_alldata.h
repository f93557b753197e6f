// What AllData sees below /alldata/v1: one envelope {success, code, msg, data, timestamp} and its paging.
// SPEC 7. HTTP status and `code` agree, 200 is success. No logic here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "crater/api/views.h"

namespace crater::api {

template <class T>
struct Envelope {
    bool success = true;
    std::int64_t code = 200;
    std::string msg;
    std::optional<T> data;       // absent in a failure
    std::int64_t timestamp = 0;  // ms since the epoch
};
template <class V, class T>
void describe(V& v, Envelope<T>& e) {
    v.field("success", e.success, "Whether the call did what was asked.", {.required = true});
    v.field("code", e.code, "200, or the HTTP status of the failure.", {.required = true});
    v.field("msg", e.msg, "What went wrong: the field, what was found, what is allowed.");
    v.field("data", e.data, "The answer.");
    v.field("timestamp", e.timestamp, "When it was given, in ms since the epoch.", {.required = true});
}

template <class T>
struct AllDataPage {
    std::int64_t page_num = 1, page_size = 20, total = 0;  // pages count from 1
    std::vector<T> data;
};
template <class V, class T>
void describe(V& v, AllDataPage<T>& p) {
    v.field("pageNum", p.page_num, "This page, from 1.", {.required = true});
    v.field("pageSize", p.page_size, "Rows on a page.", {.required = true});
    v.field("total", p.total, "Rows in all.", {.required = true});
    v.field("data", p.data, "Rows.", {.required = true});
}

// POST /alldata/v1/release. Idempotent: releasing what has ended answers its last status.
struct AllDataRelease {
    std::string task_id, reason;
};
template <class V>
void describe(V& v, AllDataRelease& r) {
    v.field("task_id", r.task_id, "The caller's id.", {.required = true});
    v.field("reason", r.reason, "Why; kept in the audit log.");
}

// POST /alldata/v1/quota. What is absent stays as it is.
struct AllDataQuota {
    std::string tenant;
    Quota hard;
    std::optional<std::int64_t> max_priority, max_pending;
};
template <class V>
void describe(V& v, AllDataQuota& q) {
    v.field("tenant", q.tenant, "Tenant: names joined by /.", {.required = true});
    v.field("hard", q.hard, "Hard quota.");
    v.field("max_priority", q.max_priority, "Highest priority its jobs may ask for.",
            {.minimum = 0, .maximum = 1000});
    v.field("max_pending", q.max_pending, "Most jobs waiting at once.", {.minimum = 0, .maximum = 1e9});
}

// GET /alldata/v1/usage
struct AllDataUsage {
    std::vector<QuotaView> tenants;
    ResourceBars cluster;
};
template <class V>
void describe(V& v, AllDataUsage& u) {
    v.field("tenants", u.tenants, "Held now and quota, per tenant that the caller may see.",
            {.required = true});
    v.field("cluster", u.cluster, "Allocated, used, total.", {.required = true});
}

// GET /api/v1/changes: every status that was entered after `since`, oldest first.
struct Changes {
    std::vector<TaskView> changes;
    std::string cursor;
    bool more = false;
};
template <class V>
void describe(V& v, Changes& c) {
    v.field("changes", c.changes, "Statuses entered since, oldest first.", {.required = true});
    v.field("cursor", c.cursor, "Give it as `since` next time.", {.required = true});
    v.field("more", c.more, "Whether there is more to fetch at once.");
}

// GET /healthz, /health, /readyz
struct Health {
    std::string status = "ok", detail;
};
template <class V>
void describe(V& v, Health& h) {
    v.field("status", h.status, "ok, or what is wrong.", {.required = true});
    v.field("detail", h.detail, "In words.");
}

}  // namespace crater::api
