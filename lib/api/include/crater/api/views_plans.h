// What would become of a plan: what is asked of POST /plans/..., and what is answered where engine::WhatIf is
// not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "crater/engine/plan.h"
#include "crater/model/tenant.h"

namespace crater::api {

// POST /plans/submit: would this fit now?
struct FitView {
    bool fits_now = false, fits_ever = true;
    std::string summary;
    std::vector<std::string> nodes;  // where, when it fits
    std::optional<engine::DecisionTrace> decision;
    std::vector<std::string> notes;
    std::optional<engine::WhatIf> plan;  // who would be stopped for it, or why it would wait
};
template <class V>
void describe(V& v, FitView& f) {
    v.field("fits_now", f.fits_now, "It would start at once.", {.required = true});
    v.field("fits_ever", f.fits_ever, "Some node could hold it when empty.", {.required = true});
    v.field("summary", f.summary, "In words.");
    v.field("nodes", f.nodes, "Where it would go.");
    v.field("decision", f.decision, "Candidates and rejections.");
    v.field("notes", f.notes, "What would be filled in.");
    v.field(
        "plan", f.plan,
        "Where it would go, who would be stopped for it and at what cost, or why it would wait and what would start it.");
}

// POST /plans/{preempt|defrag|drain|quota|node_loss}: what is supposed; engine::WhatIf answers.
struct PreemptPlan {
    std::string job;
};
template <class V>
void describe(V& v, PreemptPlan& p) {
    v.field(
        "job", p.job,
        "A job that waits: who would be stopped for it; one that runs: what stopping it costs, and who would start then.",
        {.required = true});
}
struct DefragRequest {
    std::string job;
    std::int64_t max_moves = 10;
};
template <class V>
void describe(V& v, DefragRequest& d) {
    v.field("job", d.job, "Waiting job to make room for; absent: whatever makes what is free worth most.");
    v.field("max_moves", d.max_moves, "Most jobs that may be moved.", {.minimum = 1, .maximum = 1000});
}
struct DrainPlan {
    std::string node;
    bool evict = false;
};
template <class V>
void describe(V& v, DrainPlan& d) {
    v.field("node", d.node, "Node that takes no new work.", {.required = true});
    v.field("evict", d.evict, "Stop what runs there, too.");
}
struct NodeLossPlan {
    std::string node;
};
template <class V>
void describe(V& v, NodeLossPlan& n) {
    v.field("node", n.node, "Node that is lost.", {.required = true});
}
struct QuotaPlan {
    std::string tenant;
    Quota hard;
};
template <class V>
void describe(V& v, QuotaPlan& q) {
    v.field("tenant", q.tenant, "Whose.", {.required = true});
    v.field("hard", q.hard, "Caps that would change; the others stay.");
}
// POST /defrag
struct DefragStarted {
    engine::WhatIf plan;
    std::vector<std::string> moving;
};
template <class V>
void describe(V& v, DefragStarted& d) {
    v.field("plan", d.plan, "What is done.");
    v.field("moving", d.moving, "Jobs that stop and go elsewhere.");
}

}  // namespace crater::api
