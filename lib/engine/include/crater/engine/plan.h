// What would happen: plans that are only asked about. The engine tries them on its books and takes everything
// back, so that its state is the same before and after.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "crater/engine/explain.h"
#include "crater/model/tenant.h"

namespace crater::engine {

struct EngineJob;

// Which jobs may be moved, and how many, so that what is free lies together.
struct DefragOptions {
    std::string job;  // that shall start; empty: what is free shall be worth more
    std::int64_t max_moves = 10;
};

// What is supposed to happen.
// clang-format off
struct SupposeSubmit { const EngineJob* job; };  // admitted; asked about while the call lasts
struct SupposePreempt { std::string job; };      // it makes room for itself, or, if it runs, is stopped
struct SupposeDrain { std::string node; bool evict = false; };
struct SupposeLoss { std::string node; };
struct SupposeQuota { Tenant tenant; };
struct SupposeDefrag { DefragOptions options; };
// clang-format on
using Supposed =
    std::variant<SupposeSubmit, SupposePreempt, SupposeDrain, SupposeLoss, SupposeQuota, SupposeDefrag>;

// What a plan does to one job.
enum class Effect { starts, waits, stops, moves, keeps, waits_longer };
inline std::span<const EnumName<Effect>> enum_names(Effect) {
    static constexpr EnumName<Effect> names[] = {
        {Effect::starts, "starts"}, {Effect::waits, "waits"}, {Effect::stops, "stops"},
        {Effect::moves, "moves"},   {Effect::keeps, "keeps"}, {Effect::waits_longer, "waits_longer"}};
    return names;
}
struct JobEffect {
    std::string job;
    Effect effect = Effect::waits;
    std::vector<std::string> from, to;  // nodes, by name
    double lost_gpu_seconds = 0;        // work since its last checkpoint, and the restart
    std::string detail;
};
template <class V>
void describe(V& v, JobEffect& e) {
    v.field("job", e.job, "Job.");
    v.field("effect", e.effect, "What happens to it.");
    v.field("from", e.from, "Nodes it leaves.");
    v.field("to", e.to, "Nodes it would go to.");
    v.field("lost_gpu_seconds", e.lost_gpu_seconds,
            "Work since its last checkpoint and its restart, in GPU-seconds.");
    v.field("detail", e.detail, "In words.");
}

struct WhatIf {
    std::string summary;  // one sentence
    // the job would start, everybody would find a place, the plan is worth its cost
    bool possible = false;
    std::vector<JobEffect> jobs;  // in the order of the decisions; at most effects_shown
    std::int64_t affected = 0;    // jobs in all
    double lost_gpu_seconds = 0;  // in all
    double gained_gpus = 0;       // defrag: cards made usable for what waits, or for the usual mix
    std::optional<Why> why;       // why the job would wait
    std::optional<StartEstimate> estimate;
    std::string state;  // the state it was worked out on: equal text, equal state
    static constexpr std::size_t effects_shown = 1000;
};
template <class V>
void describe(V& v, WhatIf& w) {
    v.field("summary", w.summary, "The sentence that matters.");
    v.field("possible", w.possible, "Whether it does what is asked of it.");
    v.field("jobs", w.jobs, "What happens to whom, at most 1,000.");
    v.field("affected", w.affected, "Jobs that something happens to, in all.");
    v.field("lost_gpu_seconds", w.lost_gpu_seconds, "What it costs in all, in GPU-seconds.");
    v.field("gained_gpus", w.gained_gpus, "Cards it makes usable.");
    v.field("why", w.why, "Why the job would wait.");
    v.field("estimate", w.estimate, "When it would start then.");
    v.field("state", w.state, "The state it was worked out on; the same text is the same state.");
}

}  // namespace crater::engine
