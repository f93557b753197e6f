// Answers of the engine in words and numbers: why a job waits, why it went where it went.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crater/base/describe.h"
#include "crater/base/quantity.h"

namespace crater::engine {

struct ScoreTerm {
    std::string name;
    double value = 0;  // in [0,1], higher is better
    double weight = 0;
};
template <class V>
void describe(V& v, ScoreTerm& t) {
    v.field("name", t.name, "Term.");
    v.field("value", t.value, "In [0,1].");
    v.field("weight", t.weight, "Its weight.");
}
struct Candidate {
    std::string node;
    double score = 0;
    std::vector<ScoreTerm> terms;
};
template <class V>
void describe(V& v, Candidate& c) {
    v.field("node", c.node, "Node.");
    v.field("score", c.score, "Σ w·term / Σ w.");
    v.field("terms", c.terms, "Its parts.");
}
// How many nodes a filter turned away, and which first, with the sentence of that first node.
struct Rejection {
    std::string filter;  // "gpu_memory"
    std::int64_t nodes = 0;
    std::string first_node;
    std::string detail;  // "needs 16 GiB on one card, at most 10 GiB free"
};
template <class V>
void describe(V& v, Rejection& r) {
    v.field("filter", r.filter, "What was missing.");
    v.field("nodes", r.nodes, "On how many nodes.");
    v.field("first_node", r.first_node, "The first of them.");
    v.field("detail", r.detail, "In words, for that node.");
}
// The winner and the next five, per task of a gang the first task's.
struct DecisionTrace {
    std::string policy;
    std::vector<Candidate> candidates;  // winner first
    std::vector<Rejection> rejections;  // most nodes first
};
template <class V>
void describe(V& v, DecisionTrace& d) {
    v.field("policy", d.policy, "Placement policy.");
    v.field("candidates", d.candidates, "Winner first, then the next five.");
    v.field("rejections", d.rejections, "Why the other nodes could not serve.");
}

// A decision in numbers, cheap enough to keep for every placement. `Engine::words` makes the document of it;
// to be asked before the next fact, because nodes and shapes are named by their positions.
struct Trace {
    struct Mark {
        std::int32_t node = -1, level = -1;
    };
    struct Lack {
        std::int32_t filter = -1, nodes = 0;
    };
    int shape = -1;
    std::array<Mark, 6> best{};    // the winner, then the next five; node -1 ends it
    std::array<Lack, 12> lacks{};  // how many nodes lacked what; filter -1 ends it
    // Better ones that were turned down because of what would be used there.
    struct {
        std::int32_t nodes = 0, first = -1;
        std::string detail;  // of the first
    } predicted;
    std::shared_ptr<const DecisionTrace> written;  // of a policy whose terms had to be taken down at once
};

struct Holder {
    std::string job, node;
    std::string holds;  // "2 cards", "30 GiB on card 1"
};
template <class V>
void describe(V& v, Holder& h) {
    v.field("job", h.job, "Who holds.");
    v.field("node", h.node, "Where.");
    v.field("holds", h.holds, "How much.");
}
// One requirement against the best node for it: a bar "needs / best has".
struct Requirement {
    std::string name;  // "gpu_memory"
    std::string unit;  // "MiB", "cores", "cards", "bytes", "IOPS"
    double needs = 0, best_has = 0, best_total = 0;
    std::string best_node;
    std::int64_t nodes_short = 0;  // nodes that lack it now
    bool binding = false;
};
template <class V>
void describe(V& v, Requirement& r) {
    v.field("name", r.name, "Requirement.");
    v.field("unit", r.unit, "Unit of the amounts.");
    v.field("needs", r.needs, "What one task needs.");
    v.field("best_has", r.best_has, "The most that is free on one node.");
    v.field("best_total", r.best_total, "That node's total.");
    v.field("best_node", r.best_node, "That node.");
    v.field("nodes_short", r.nodes_short, "Nodes that lack it now.");
    v.field("binding", r.binding, "Whether this is what the job waits for.");
}
struct NodeVerdict {
    std::string node;
    std::string filter;  // empty = fits
    std::string detail;
};
template <class V>
void describe(V& v, NodeVerdict& n) {
    v.field("node", n.node, "Node.");
    v.field("filter", n.filter, "First thing missing; absent when it fits.");
    v.field("detail", n.detail, "In words.");
}
// When a waiting job will start: half of the futures that run times allow start it by p50, nine in ten by
// p90.
struct StartEstimate {
    Instant p50, p90;
    std::string basis;  // where the run times it rests on come from, in words
};
template <class V>
void describe(V& v, StartEstimate& e) {
    v.field("p50", e.p50, "As likely before as after.");
    v.field("p90", e.p90, "By then with nine chances in ten.");
    v.field("basis", e.basis, "What the run times it rests on are.");
}
// The smallest change of one kind that starts the job now, tried on the books: less than this does not.
struct Change {
    std::string kind;  // "gpu_memory", "gpu_count", "cpu", "memory", "gpu_model", "tasks", "job_end", ...
    std::string text;  // "ask for 10 GiB of GPU memory instead of 16 GiB"
    double from = 0, to = 0;  // in `unit`; both 0 where the kind has no amount
    std::string unit;
    std::string value;  // a model or the job whose end it is; else empty
};
template <class V>
void describe(V& v, Change& c) {
    v.field("kind", c.kind, "What changes.");
    v.field("text", c.text, "In words.");
    v.field("from", c.from, "Asked for now.");
    v.field("to", c.to, "The most that starts now.");
    v.field("unit", c.unit, "Unit of the amounts.");
    v.field("value", c.value, "The model, or the job whose end it takes.");
}
// What to answer beside the sentence, what binds, the holders and the rank.
struct WhyQuestion {
    bool nodes = false;     // node by node: as long as the cluster is large
    bool changes = true;    // what would start it now, as far as the search is short
    bool thorough = false;  // search for changes to the end, or nearly: a tenth of a second and more
    // when it will start: for the first asked in a while, a simulation of all that wait
    bool estimate = true;
};
struct Why {
    std::string summary;  // one sentence a person understands
    // name of the binding requirement: gpu_memory, gpu_count, quota, dependency, order, ...
    std::string binding;
    std::int64_t rank = 0;  // place in its queue, from 1
    std::int64_t queue_length = 0;
    std::vector<Requirement> requirements;
    std::vector<Rejection> rejections;
    std::vector<Holder> holders;     // who holds what is missing, largest first, at most 10
    std::vector<NodeVerdict> nodes;  // node by node, at most 1,000
    std::int64_t fitting = 0;        // nodes that would take one of its tasks now
    std::optional<StartEstimate> estimate;
    std::string no_estimate;      // why there is none
    std::vector<Change> changes;  // at most one of each kind
    // the search ended before all kinds were tried to the end; a thorough question goes on
    bool more_changes = false;
};
template <class V>
void describe(V& v, Why& w) {
    v.field("summary", w.summary, "The sentence that matters.");
    v.field("binding", w.binding, "The binding constraint.");
    v.field("rank", w.rank, "Place in its queue, from 1.");
    v.field("queue_length", w.queue_length, "Jobs waiting in its queue.");
    v.field("requirements", w.requirements, "Needs against the best node.");
    v.field("rejections", w.rejections, "How many nodes lack what.");
    v.field("holders", w.holders, "Who holds what is missing.");
    v.field("nodes", w.nodes, "Node by node.");
    v.field("estimate", w.estimate, "When it will start.");
    v.field("no_estimate", w.no_estimate, "Why that is unknown.");
    v.field("fitting", w.fitting, "Nodes that would take one of its tasks now.");
    v.field("changes", w.changes, "The smallest change of each kind that would start it now.");
    v.field("more_changes", w.more_changes,
            "Not all kinds of change were tried to the end; ask with thorough=true.");
}

struct FreeSlice {
    std::string model;
    bool simulated = false;
    std::int64_t whole_cards = 0;  // free whole cards in all
    std::int64_t cards_on_one_node = 0;
    Mebibytes largest;  // largest free slice on one card
    std::string node;   // where that is
};
template <class V>
void describe(V& v, FreeSlice& f) {
    v.field("model", f.model, "GPU model.");
    v.field("simulated", f.simulated, "All its cards are simulated.");
    v.field("whole_cards", f.whole_cards, "Free whole cards.");
    v.field("cards_on_one_node", f.cards_on_one_node, "Most free whole cards on one node.");
    v.field("largest_mib", f.largest, "Largest free slice on one card in MiB.");
    v.field("node", f.node, "Where it is.");
}

struct Usage {
    MilliGpu gpu;
    Mebibytes gpu_memory;
    MilliCpu cpu;
    Bytes memory, disk;
    Iops iops;
    std::int64_t jobs = 0;
};
template <class V>
void describe(V& v, Usage& u) {
    v.field("gpu", u.gpu, "Cards.");
    v.field("gpu_memory_mib", u.gpu_memory, "GPU memory in MiB.");
    v.field("cpu", u.cpu, "Cores.");
    v.field("memory_bytes", u.memory, "Memory in bytes.");
    v.field("disk_bytes", u.disk, "Disk space in bytes.");
    v.field("iops", u.iops, "Disk operations per second.");
    v.field("jobs", u.jobs, "Jobs.");
}

}  // namespace crater::engine
