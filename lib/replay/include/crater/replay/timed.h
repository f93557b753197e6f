// A workload against a cluster, in simulated time. Jobs come, a decider starts and stops them, they end; a
// clock that jumps from event to event. Deterministic: the same workload, options and decider give the same
// figures.
//
// A job's progress: what it ran is kept when it stops, all of it (`on_stop`) or up to its last checkpoint;
// each resume first pays `resume_cost` on the cards it holds. Figures come of starts, stops and ends alone,
// and every start is booked on the cards once more: a card that would be held twice aborts.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crater/base/clock.h"
#include "crater/model/tenant.h"
#include "crater/replay/replay.h"
#include "crater/replay/workload.h"

namespace crater::replay {

enum class Durations { known, noisy, unknown };  // what a scheduler is told of how long a job runs
inline std::span<const EnumName<Durations>> enum_names(Durations) {
    static constexpr EnumName<Durations> names[] = {
        {Durations::known, "known"}, {Durations::noisy, "noisy"}, {Durations::unknown, "unknown"}};
    return names;
}

// Where the cards of a job may lie: on as few nodes as can hold them; or anywhere.
enum class Locality { strict, relaxed };
inline std::span<const EnumName<Locality>> enum_names(Locality) {
    static constexpr EnumName<Locality> names[] = {{Locality::strict, "strict"},
                                                   {Locality::relaxed, "relaxed"}};
    return names;
}

struct TimedOptions {
    Millis checkpoint{0};  // 0 = saved when it is stopped
    Millis resume_cost{60'000};
    Durations durations = Durations::known;
    double noise = 0.5;  // of a log-normal error, where they are noisy
    std::uint64_t seed = 42;
    Millis until{0};           // ends there, whatever still waits; 0 = when all jobs ended
    Millis sample{3'600'000};  // between points of the curves
    int big = 8;               // cards from which a job counts as big in the figures
};

// What a scheduler may know of a job, and what it decides.
struct TimedStart {
    int job = -1;
    std::vector<int> cards;  // node × cards of a node + position, of all tasks
};
struct TimedPlan {
    std::vector<TimedStart> starts;
    std::vector<int> stops;      // all of the job; `stopped` follows, then another pass
    bool more = false;           // another pass at once
    std::optional<Millis> wake;  // a pass is due then though nothing happens
};
class TimedDecider {
  public:
    virtual ~TimedDecider() = default;
    // `told`: how long the job is said to run; 0 = not known.
    virtual void arrived(int job, Millis told, Millis now) = 0;
    virtual void ended(int job, Millis now) = 0;
    // It holds nothing any more and waits again; `kept`: of its run time, all starts together.
    virtual void stopped(int job, Millis kept, Millis now) = 0;
    virtual void checkpointed(int, Millis) {}
    virtual TimedPlan pass(Millis now) = 0;
};

// One point of the curves.
struct TimedPoint {
    double hour = 0;
    double held = 0, used = 0;  // parts of all cards: held by jobs; computing
    double stranded = 0;        // memory of the cards neither asked for nor of use to any shape
    int waiting = 0, waiting_cards = 0;
};
struct Spread {
    double mean = 0, p50 = 0, p90 = 0, p99 = 0, longest = 0;
};
struct TimedFigures {
    int jobs = 0, ended = 0;
    Spread completion_h, wait_h;  // from submission to end; of that, without cards
    Spread completion_big_h, wait_big_h;
    Spread first_wait_h;  // from submission to the first start
    double preemptions_per_job = 0, lost_card_hours = 0;
    double used = 0, held = 0, stranded = 0;  // means over the time counted, parts of all
    // Of the jobs of several cards that fit a node: the part that ran on several, and that part of their card
    // hours.
    double spread_jobs = 0, spread_card_hours = 0;
    double makespan_h = 0;
    double seconds = 0;  // computing time of the replay
    std::vector<TimedPoint> curve;
    std::vector<double> completion_quantiles, wait_quantiles;  // hours, at 0, 1, ..., 100 %
};
TimedFigures run_timed(const Workload& workload, TimedDecider& decider, const TimedOptions& options,
                       const Clock& clock, const Progress& progress = {});

// Schedulers to compare with, by name; what each is stands in docs/simulate.md.
std::vector<std::string> timed_peer_names();
Result<std::unique_ptr<TimedDecider>> make_timed_peer(const std::string& name, const Workload& workload,
                                                      const TimedOptions& options);

// Crater's own engine, as it schedules real clusters.
struct EngineChoice {
    Order order = Order::fair;
    Policy policy = Policy::price;
    bool preempt = true;
};
std::unique_ptr<TimedDecider> make_timed_engine(const Workload& workload, const EngineChoice& choice,
                                                const TimedOptions& options);

// The same by the name of the run: an order of the engine, "shortest", or without preemption "shortest@keep";
// "peer:easy" on the cluster's nodes or "peer:easy@flat" on a pool of its cards. Errors list what there is.
Result<TimedFigures> run_named(const std::string& run, const Workload& workload, const TimedOptions& options,
                               const EngineChoice& engine, const Clock& clock, const Progress& progress = {});

}  // namespace crater::replay
