// The decision core: where each task goes, who waits, who gives way, and why. Deterministic: no clock, IO,
// threads, globals, floating-point order or hash order reaches a decision; the same events in the same order
// give the same decisions and the same hash.
//
// Owned by one loop; not thread-safe. All amounts are in model units. `apply` is the only way in; `pass`
// decides and applies its own decisions, which the caller must make durable before anything acts on them.
// After a restart the caller rebuilds the engine by applying the same facts (nodes, queues, tenants, jobs,
// placements) from the store, in any order that names a thing before using it; `state_hash` is then equal,
// because it is a commutative hash over the facts, not over the path to them.
//
// Live load (`LoadSampled`) and profiles steer filters, scores and the prediction but are not part of the
// hash.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "crater/engine/explain.h"
#include "crater/engine/plan.h"
#include "crater/model/job.h"
#include "crater/model/node.h"
#include "crater/model/tenant.h"

namespace crater::engine {

struct HookSource;  // hooks.h

// Tuning shared by all queues. SPEC 3.2, 3.4, 10.2 names and defaults.
struct Settings {
    double cpu_threshold = 0.8;  // live use above which a node takes no more
    double memory_threshold = 0.8;
    double disk_io_threshold = 0.9;
    double gpu_threshold = 0;  // 0 = off
    std::int64_t max_tasks_per_gpu = 8;
    double gpu_preprocessing_reserve = 0.2;  // share of a GPU node's cores that CPU-only jobs may not use
    // of a card's memory, for one inference task that shares a card
    double inference_max_gpu_fraction = 0.5;
    double memory_overcommit_ratio = 1.0;  // slices of a shared card may add up to so much of its memory
    double safety_watermark = 0.90;        // part of a card's memory that real use should stay below
    // for so long real use may stay above it before a task of the card makes room; 0: for ever
    Millis watermark_grace{60'000};
    // the best candidates are turned down where use would pass the watermark
    bool enable_prediction = true;
    std::int64_t prediction_window_minutes = 15;
    std::int64_t gpu_memory_granularity_mb = 0;  // 0 = max(512, ceil(total/32))
    // Weights of the load term, of the capacity term.
    double w_gpu = 0.25, w_cpu = 0.25, w_mem = 0.25, w_disk = 0.25;
    double capacity_gpu_memory = 0.45, capacity_cpu_cores = 0.20, capacity_memory_bandwidth = 0.20,
           capacity_ssd_iops = 0.15;
    Millis min_run_time{0};  // of a victim since its last start, before it may be preempted
    // the same where it gives way for its queue's order, at equal priority
    Millis order_min_run_time{600'000};
    // after which who waits goes first, whatever the order but `fifo`
    Millis order_wait_most{5 * 86'400'000LL};
    // what stopping a task costs beside the work lost, for each of its cards
    Millis restart_cost{300'000};
    Millis fair_half_life{7 * 86'400'000LL};  // after which used GPU time counts half in the order `fair`
    std::int64_t preemption_budget = 100;     // how often one job may be preempted in its life
    // kinds of waiting jobs for which places are kept, for each kind of card; 0 = none
    std::int64_t backfill_depth = 1;
};
template <class V>
void describe(V& v, Settings& s) {
    v.field("cpu_threshold", s.cpu_threshold, "Live CPU use above which a node takes no more.",
            {.minimum = 0, .maximum = 1});
    v.field("memory_threshold", s.memory_threshold, "Live memory use above which a node takes no more.",
            {.minimum = 0, .maximum = 1});
    v.field("disk_io_threshold", s.disk_io_threshold, "Live disk use above which a node takes no more.",
            {.minimum = 0, .maximum = 1});
    v.field("gpu_threshold", s.gpu_threshold, "Live GPU use above which a card takes no more; 0 is off.",
            {.minimum = 0, .maximum = 1});
    v.field("max_tasks_per_gpu", s.max_tasks_per_gpu, "Most tasks sharing one card.",
            {.minimum = 1, .maximum = 64});
    v.field("gpu_preprocessing_reserve", s.gpu_preprocessing_reserve,
            "Share of a GPU node's cores kept for its GPU tasks.", {.minimum = 0, .maximum = 1});
    v.field("inference_max_gpu_fraction", s.inference_max_gpu_fraction,
            "Most of a shared card's memory one inference task may ask for.", {.minimum = 0, .maximum = 1});
    v.field("memory_overcommit_ratio", s.memory_overcommit_ratio,
            "What slices of a shared card may add up to, as a part of its memory.",
            {.minimum = 1, .maximum = 10});
    v.field("safety_watermark", s.safety_watermark,
            "Real use of a card's memory above which it takes no more slices.", {.minimum = 0, .maximum = 1});
    v.field(
        "watermark_grace", s.watermark_grace,
        "For how long real use may stay above the watermark before a task on the card moves or is stopped; 0 is for ever.");
    v.field("enable_prediction", s.enable_prediction,
            "Whether a place is turned down where predicted use would pass the watermark.");
    v.field("prediction_window_minutes", s.prediction_window_minutes,
            "How far ahead; what has run for so long is judged by its live use.",
            {.minimum = 1, .maximum = 1440});
    v.field("gpu_memory_granularity_mb", s.gpu_memory_granularity_mb,
            "Step of GPU memory slices in MiB; 0 = max(512, total/32).", {.minimum = 0, .maximum = 1e6});
    v.field("w_gpu", s.w_gpu, "Weight of GPU in the load term.", {.minimum = 0, .maximum = 100});
    v.field("w_cpu", s.w_cpu, "Weight of CPU in the load term.", {.minimum = 0, .maximum = 100});
    v.field("w_mem", s.w_mem, "Weight of memory in the load term.", {.minimum = 0, .maximum = 100});
    v.field("w_disk", s.w_disk, "Weight of disk in the load term.", {.minimum = 0, .maximum = 100});
    v.field("capacity_gpu_memory", s.capacity_gpu_memory, "Capacity weight of GPU memory.",
            {.minimum = 0, .maximum = 100});
    v.field("capacity_cpu_cores", s.capacity_cpu_cores, "Capacity weight of cores.",
            {.minimum = 0, .maximum = 100});
    v.field("capacity_memory_bandwidth", s.capacity_memory_bandwidth, "Capacity weight of memory bandwidth.",
            {.minimum = 0, .maximum = 100});
    v.field("capacity_ssd_iops", s.capacity_ssd_iops, "Capacity weight of disk IOPS.",
            {.minimum = 0, .maximum = 100});
    v.field("min_run_time", s.min_run_time, "Run time of a victim before it may be preempted.");
    v.field("order_min_run_time", s.order_min_run_time,
            "Run time of a victim of the same priority before the order of its queue may preempt it.");
    v.field(
        "order_wait_most", s.order_wait_most,
        "Wait after which a job goes first in every order but fifo; until its first start alone where the order may stop it again, and no less than four times its run where nothing may be stopped for the order.");
    v.field("restart_cost", s.restart_cost,
            "What stopping a task costs beside the work lost, for each of its cards.");
    v.field("fair_half_life", s.fair_half_life, "After which used GPU time counts half in the order fair.");
    v.field("preemption_budget", s.preemption_budget, "How often one job may be preempted.",
            {.minimum = 0, .maximum = 1e6});
    v.field(
        "backfill_depth", s.backfill_depth,
        "For how many kinds of blocked jobs, first ones first, of those that can use the same cards, the place is kept where they will start; 0 = none.",
        {.minimum = 0, .maximum = 10'000});
}

// What a task of a kind uses at its peak, learned from those that ran before. Absent: not known.
struct Profile {
    std::optional<Mebibytes> gpu_memory;  // on each of its cards
    std::optional<MilliCpu> cpu;
    std::optional<Bytes> memory;
    std::optional<BytesPerSecond> disk_rate, memory_bandwidth;
    bool operator==(const Profile&) const = default;
};
template <class V>
void describe(V& v, Profile& p) {
    v.field("gpu_memory_mib", p.gpu_memory, "GPU memory on each card, in MiB.");
    v.field("cpu", p.cpu, "Cores.");
    v.field("memory_bytes", p.memory, "Memory in bytes.");
    v.field("disk_bytes", p.disk_rate, "Disk, bytes/s.");
    v.field("memory_bandwidth_bytes", p.memory_bandwidth, "Memory bandwidth, bytes/s.");
}

// How long a job runs in all, not counting what it lost: half of its like end by p50, nine in ten by p90.
struct RunTime {
    Millis p50{0}, p90{0};
    bool operator==(const RunTime&) const = default;
};
template <class V>
void describe(V& v, RunTime& r) {
    v.field("p50", r.p50, "Half of its like end by then.");
    v.field("p90", r.p90, "Nine in ten do.");
}

// A job as the engine sees it: everything resolved (queue, tenant, priority, preemptible), requests filled
// and rounded by `admit`.
struct EngineJob {
    std::string id;
    std::shared_ptr<const JobSpec> spec;
    std::string queue, tenant;
    int priority = 500;
    bool preemptible = false;
    Instant submitted;
    std::int64_t preemptions = 0;
    bool blocked = false;                    // dependencies not met: not considered by pass
    std::shared_ptr<const Profile> profile;  // null: nothing is known; steers like live load, not hashed
    // The following steer the order and estimates; like live load they are not hashed.
    std::optional<RunTime> run_time;  // absent: the spec's duration, else what jobs like it took (learned)
    std::int64_t served = 0;          // milli-GPU-seconds received in earlier starts, kept or not
    Millis progress{0};               // run time of earlier starts whose result is kept
    Instant waits_since;              // when it was stopped last; 0: it never ran
    // told to stop, it saves what it did: stopping it costs the restart alone; only
    // simulations know that of a job
    bool saves_on_stop = false;
};

// What a job received in starts that are over, for the store: it goes back into EngineJob after a restart.
struct Received {
    std::int64_t served = 0;
    Millis progress{0};
    Instant waits_since;
    bool operator==(const Received&) const = default;
};
template <class V>
void describe(V& v, Received& r) {
    v.field("served", r.served, "Milli-GPU-seconds in earlier starts.");
    v.field("progress", r.progress, "Run time of earlier starts whose result is kept.");
    v.field("waits_since", r.waits_since, "When it was stopped last.");
}

// ---- Facts ------------------------------------------------------------------------------------------------
// New, or changed by a re-registration.
struct NodeSet {
    std::shared_ptr<const NodeInventory> inventory;  // never null; the engine keeps this very object
    NodeSet(std::shared_ptr<const NodeInventory> shared) : inventory(std::move(shared)) {}
    NodeSet(NodeInventory own) : inventory(std::make_shared<const NodeInventory>(std::move(own))) {}
};
// A row a fact.
// clang-format off
struct NodeFlags { std::string node; bool draining = false, lost = false; };     // takes no new work
struct NodeTaints { std::string node; std::vector<Taint> taints; };              // all that it has
struct NodeMaintenance { std::string node; std::vector<Maintenance> windows; };  // all that are planned or under way
struct NodeRemoved { std::string node; };                                        // holds nothing
struct QueueSet { QueueSpec queue; };
struct TenantSet { Tenant tenant; };
struct SettingsSet { Settings settings; };
struct JobAdded { EngineJob job; };                                              // waits
struct JobUnblocked { std::string job; };
// Ended at `at` (0: not known), well or not; holds nothing any more.
struct JobRemoved { std::string job; Instant at; bool finished = false; };
// Replay of a stored placement.
struct TaskPlaced { std::string job; std::int64_t task; Allocation allocation; Instant started; };
// Its slices are free; the job is not queued again by this.
struct TaskFreed { std::string job; std::int64_t task; Instant at; };
// Waits again, all its tasks freed, keeps its submit time.
struct JobRequeued { std::string job; std::int64_t preemptions; };
// One freed task waits again (restart on failure); its gang stays.
struct TaskRequeued { std::string job; std::int64_t task; };
struct Checkpointed { std::string job; Instant at; };          // durable: what ran before is kept; not hashed
struct PreemptionStarted { std::string victim, preemptor; };   // replay of a stored Preemption; not hashed
struct Remembered { std::string learned; };  // what Engine::learned gave; after all other facts; not hashed
struct LoadSampled { std::string node; NodeSample sample; };   // not hashed
// clang-format on

using Event =
    std::variant<NodeSet, NodeFlags, NodeTaints, NodeMaintenance, NodeRemoved, QueueSet, TenantSet,
                 SettingsSet, JobAdded, JobUnblocked, JobRemoved, TaskPlaced, TaskFreed, JobRequeued,
                 TaskRequeued, Checkpointed, PreemptionStarted, Remembered, LoadSampled>;

// ---- Decisions --------------------------------------------------------------------------------------------
// All waiting tasks of a job, or none. Engine::allocations has what each got, Engine::words the trace as a
// document.
struct Placement {
    std::string job;
    std::int64_t tasks = 0;      // how many
    std::uint64_t decision = 0;  // which of this engine; no two have the same number
    Trace trace;
};
struct Preemption {
    std::string victim;  // all of its tasks stop
    // who waits for the slices; they are pledged to it until it is placed, cancelled or changes
    std::string preemptor;
    std::string detail;  // a sentence with the comparison that decided
};
struct Plan {
    std::vector<Placement> placements;
    std::vector<Preemption> preemptions;
    bool more = false;     // the work bound was reached: call again soon
    bool learned = false;  // so much was learned that `learned` is worth storing anew
};

struct PassLimits {
    int placements_max = 1000;
    int evaluations_max = 20'000;  // shapes × scans, bounds the time of a pass
};

// What a node's books say, per device. For showing and for the check against the agents' own tables.
struct CardBook {
    MilliGpu compute_used;
    Mebibytes memory_used, memory_total;  // declared by its tasks; what the card has
    // what slices may add up to: more than it has where memory is overcommitted
    Mebibytes memory_limit;
    std::optional<Mebibytes> memory_real;  // in real use by the last sample
    std::int64_t tasks = 0;
    bool exclusive = false;
};
struct NodeBook {
    std::string node;
    MilliCpu cpu_used, cpu_total;
    Bytes memory_used, memory_total;
    BytesPerSecond bandwidth_used, bandwidth_total;
    Bytes disk_used, disk_total;
    Iops iops_used, iops_total;
    std::vector<CardBook> cards;
    std::int64_t tasks = 0;
    std::uint64_t hash = 0;  // of the node's allocations
};

class Engine {
  public:
    explicit Engine(Settings settings = {});
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    // Takes a fact. Facts that contradict the state (an unknown job, a slice twice) are our own mistake and
    // abort.
    void apply(const Event& event);

    // Admission of a submit, nothing changed. Fills what the request leaves open (cores and memory per GPU,
    // by its profile where it brings one, whole-card memory) and rounds GPU memory; `notes` says what was
    // filled. Errors: unsatisfiable with the shortfall when no node could hold a task even when empty, when
    // the gang could not start on the empty cluster, or when the tenant's quota ceiling is below it.
    struct Admitted {
        EngineJob job;
        std::vector<std::string> notes;
    };
    Result<Admitted> admit(EngineJob job) const;

    // Decides for the waiting jobs in order and applies its decisions. Placed jobs leave the queue; victims
    // keep their slices until TaskFreed/JobRequeued. `now` orders nothing; it is used for ages in texts and
    // for min_run_time.
    Plan pass(Instant now, const PassLimits& limits = {});
    // Makes room for one waiting job, or makes what is free worth more, by moving jobs: each stops as if
    // preempted, with its new place kept for it. The caller makes it durable like the preemptions of a pass.
    std::vector<Preemption> start_defrag(const DefragOptions& options, Instant now);
    // One task makes room on each card whose real use has been above the safety watermark for
    // watermark_grace, over all calls in between: of those that share it and may be stopped the one of the
    // lowest priority, never of an inference job while training is there. It moves where another place is
    // found, which is kept for it, else it waits again. To be called every few seconds; durable like the
    // preemptions of a pass.
    std::vector<Preemption> relieve_cards(Instant now);
    // Whether anything that happened since the last pass could let a waiting job start.
    bool wants_pass() const;
    // When a pass could decide something though nothing happens until then: a victim will have run for
    // min_run_time. Of the last pass.
    std::optional<Instant> wake_at() const;

    // (task index, slices) of a placement, by index: what is to be stored and carried out. Tasks that were
    // freed since are not in it.
    std::vector<std::pair<std::int64_t, Allocation>> allocations(const Placement& placement) const;

    // Questions; nothing changes.
    Result<Why> why(const std::string& job, Instant now, const WhyQuestion& question = {}) const;
    // A decision of the last pass as a document: each candidate with its terms, each reason with its first
    // node. Before the next fact.
    DecisionTrace words(const Trace& trace) const;
    Result<DecisionTrace> would_place(const EngineJob& job, Instant now) const;  // "would this fit now?"
    std::vector<Preemption> would_preempt(const std::string& job, Instant now) const;
    Result<WhatIf> what_if(const Supposed& supposed, Instant now) const;  // plan.h
    std::vector<std::string> waiting(const std::string& queue) const;  // in the order they will be considered
    // When a waiting job will start, by a forward simulation of those that run and wait. Errors: not_found;
    // unavailable with the reason why nothing can be said. Kept for a while; what they said is compared with
    // what came, so that asking makes later answers better.
    Result<StartEstimate> estimate(const std::string& job, Instant now) const;
    // of all jobs of which it can be said, by id
    std::vector<std::pair<std::string, StartEstimate>> estimates(Instant now) const;
    // How long a job runs in all as far as is known: said, else learned.
    std::optional<RunTime> expected_run_time(const EngineJob& job) const;
    std::vector<NodeBook> books() const;  // by node name
    Result<NodeBook> book(const std::string& node) const;
    std::vector<FreeSlice> largest_free() const;  // per GPU model
    // What a tenant holds now, its descendants included.
    Usage usage(const std::string& tenant) const;
    Received received(const std::string& job) const;  // nothing of a job that is not known

    // Where the plugins that queues name come from; null (the default) = there are none. Must outlive the
    // engine or be taken away again.
    void set_hooks(HookSource* hooks);

    // What was learned (prices, run times, how good estimates were) as text for the store (Remembered). Not
    // part of the state hash.
    std::string learned() const;

    std::uint64_t state_hash() const;

  private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

// The kind of work, from the image and the command, when the user did not say. SPEC 3.6.
JobType infer_type(const JobSpec& spec);

}  // namespace crater::engine
