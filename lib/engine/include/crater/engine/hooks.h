// Placement hooks: filters and scores from outside the engine, asked about the best candidates of a decision.
// Which a queue uses, and how much each counts, stands in its `plugins`.
//
// Asked in the middle of a decision, on its thread: a hook answers within its time budget or not at all. What
// a hook said is not replayed; the placement is the fact. Views point into the engine's own objects and are
// good for one call.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "crater/engine/engine.h"

namespace crater::engine {

// How many candidates are worth asking about: the rest would not win.
inline constexpr std::size_t hook_candidates = 64;

struct JobView {
    const EngineJob* job = nullptr;
    JobType type = JobType::unset;  // as resolved at submit
    std::int64_t waiting = 1;       // tasks without a place, the one asked about included
};

struct CardView {
    const Gpu* gpu = nullptr;
    Mebibytes memory_free;
    MilliGpu compute_free;
    std::int64_t tasks = 0;
    bool taken = false;       // whole, by one task
    std::uint64_t peers = 0;  // joined by NVLink, by position in the node's cards
    BytesPerSecond nvlink;    // all links of the card, both ways, as sold; 0 = none or unknown
};

struct NodeView {
    const NodeInventory* inventory = nullptr;
    MilliCpu cpu_total, cpu_free;
    Bytes memory_total, memory_free;
    BytesPerSecond bandwidth_total, bandwidth_free;
    Bytes disk_total, disk_free;
    Iops iops_total, iops_free;
    std::vector<CardView> cards;
    std::int64_t tasks = 0, tenant_tasks = 0, job_tasks = 0;
    std::uint64_t chosen = 0;  // cards that the task would get, by position; 0 = not said
    double score = 0;          // of the queue's policy, in [0,1]
};

// Whose tasks stand on the node already; those placed earlier in the same decision included.
struct Neighbours {
    std::int64_t of_tenant = 0, of_job = 0;
};
// `book` says what is used at this moment of the decision; cards in the order of the inventory, further ones
// (held, but no longer reported) are left out. Both must outlive the view.
NodeView view_of(const NodeInventory& inventory, const NodeBook& book, Neighbours neighbours, double score,
                 std::uint64_t chosen = 0);
// The NVLink bandwidth of a card by the data sheet of its model, as normalised in an inventory; 0 = none or
// unknown.
BytesPerSecond nvlink_bandwidth(std::string_view model);

struct HookAnswer {
    bool given = false;              // false: not in time, or out of order; the decision goes on without it
    std::vector<std::uint8_t> keep;  // by node; empty = it turns none away
    std::vector<double> score;       // by node, in [0,1] (0 where not kept); empty = it does not score
};

struct PlacementHook {
    virtual ~PlacementHook() = default;
    virtual std::string_view name() const = 0;
    virtual HookAnswer ask(const JobView& job, std::span<const NodeView> nodes) = 0;
};

// Where hooks come from. A hook stays valid until the source is told to refresh, which happens between
// decisions only.
struct HookSource {
    virtual ~HookSource() = default;
    virtual PlacementHook* find(std::string_view name) = 0;  // null when there is none that works
};

struct HookUse {
    PlacementHook* hook = nullptr;
    double weight = 1;  // against 1 for the queue's whole policy
};
// Those of the queue that work now, in its order. None without a source.
std::vector<HookUse> hooks_of(const QueueSpec& queue, HookSource* source);

// What the hooks make of the candidates: (policy + Σ w·score) / (1 + Σ w) over those that answered and score.
struct Hooked {
    struct Candidate {
        std::size_t position = 0;  // in `nodes`
        double score = 0;
        std::vector<ScoreTerm> terms;  // "plugin spread_tenant", one per hook that scored
    };
    std::vector<Candidate> ranked;      // best first; equals stay in the order they came in
    std::vector<Rejection> rejections;  // by hook
};
Hooked ask_hooks(std::span<const HookUse> hooks, const JobView& job, std::span<const NodeView> nodes);

}  // namespace crater::engine
