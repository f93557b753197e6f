// The engine's parts held together. Each of the files named below is one concern of it.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "crater/engine/engine.h"
#include "crater/engine/hooks.h"
#include "explain/running.h"
#include "explain/survey.h"
#include "filter/filter.h"
#include "forecast/estimates.h"
#include "forecast/reservations.h"
#include "forecast/run_times.h"
#include "order/backlog.h"
#include "place/column.h"
#include "place/seats.h"
#include "place/shapes.h"
#include "place/topology.h"
#include "preempt/cover.h"
#include "preempt/gang_victims.h"
#include "quota/tenants.h"
#include "state/cluster.h"
#include "state/hash_table.h"
#include "state/job.h"
#include "state/pool.h"

namespace crater::engine {

class Engine::Impl {
  public:
    explicit Impl(Settings settings);
    ~Impl();

    // engine.cc: facts
    void on(const NodeSet& fact);
    void on(const NodeFlags& fact);
    void on(const NodeTaints& fact);
    void on(const NodeMaintenance& fact);
    void on(const NodeRemoved& fact);
    void on(const QueueSet& fact);
    void on(const TenantSet& fact);
    void on(const SettingsSet& fact);
    void on(const JobAdded& fact);
    void on(const JobUnblocked& fact);
    void on(const JobRemoved& fact);
    void on(const TaskPlaced& fact);
    void on(const TaskFreed& fact);
    void on(const JobRequeued& fact);
    void on(const TaskRequeued& fact);
    void on(const Remembered& fact);
    void on(const LoadSampled& fact);
    void on(const Checkpointed& fact);
    void on(const PreemptionStarted& fact);

    // order/pass.cc
    Plan pass(Instant now, const PassLimits& limits);
    std::vector<std::pair<std::int64_t, Allocation>> allocations(const Placement& placement) const;
    bool wants_pass() const { return dirty_ && backlog_.size() > 0; }
    std::optional<Instant> wake_at() const { return wake_at_; }
    // explain/
    Result<Why> why(const std::string& id, Instant now, const WhyQuestion& question);
    DecisionTrace would_place(const EngineJob& job, Instant now);
    DecisionTrace words(const Trace& trace) const;
    std::vector<Preemption> would_preempt(const std::string& id, Instant now);
    // plan/
    Result<WhatIf> what_if(const Supposed& supposed, Instant now);
    std::vector<Preemption> start_defrag(const DefragOptions& options, Instant now);
    std::vector<Preemption> relieve_cards(Instant now);
    std::vector<std::string> waiting(const std::string& queue) const;
    std::vector<NodeBook> books() const;
    Result<NodeBook> book(const std::string& node) const;
    std::vector<FreeSlice> largest_free() const;
    Usage usage(const std::string& tenant) const;
    // admit/admit.cc
    Result<Admitted> admit(EngineJob job);

    void set_hooks(HookSource* hooks) { hooks_ = hooks; }
    // forecast/
    std::string learned() const;
    Result<StartEstimate> estimate(const std::string& id, Instant now);
    void add_estimate(const std::string& id, Instant now, Why& out);
    std::vector<std::pair<std::string, StartEstimate>> estimates(Instant now);
    std::optional<RunTime> expected_run_time(const EngineJob& job) const;
    Received received(const std::string& job) const;

    std::uint64_t state_hash() const { return facts_; }

  private:
    enum class Booked { no, yes };  // whether the books have it already
    // What came of trying to place the waiting tasks of a job.
    struct Outcome {
        enum Kind { placed, no_room, predicted, over_quota } kind = no_room;
        std::vector<Slices> slices;  // one per waiting task
        Ceiling ceiling;
        Trace trace;  // of its first task
    };
    // A set of jobs that make room, in the order in which sets are compared.
    struct VictimSet {
        std::vector<int> jobs;     // by position of id
        int priority = 0;          // the highest of theirs
        std::int64_t cost = 0;     // milli-GPU-seconds lost
        Instant started;           // the earliest
        std::vector<Slices> plan;  // where the preemptor goes then
    };
    struct Held {
        int job, task;
        bool operator==(const Held&) const = default;
    };

    JobSlot& job(int position) { return *jobs_[static_cast<std::size_t>(position)]; }
    const JobSlot& job(int position) const { return *jobs_[static_cast<std::size_t>(position)]; }
    int position_of(std::string_view id) const;  // -1 when there is no such job
    JobSlot& job_named(const std::string& id);
    int node_named(const std::string& name) const;
    int next_task(const JobSlot& job, int from) const;

    void limits_changed();
    std::int64_t queue_overcommit(int queue) const;  // thousandths; 0: as all
    // Shapes of jobs, with what they take over from those around them (engine.cc)
    Shape shape_of(const JobSpec& spec, const std::string& queue, int crowd) const;
    Shape shape_of(const JobSlot& slot) const;
    void reshape(JobSlot& slot);
    void advance(Instant now);
    void tell_time(Instant now) { clock_ = std::max(clock_, now), tenants_.advance(now); }
    void account(JobSlot& job, TaskSlot& task, Instant at);

    // The backlog (engine.cc)
    void enlist(JobSlot& job);
    void delist(JobSlot& job);
    void relist(JobSlot& job) { delist(job), enlist(job); }

    // Holding (place/hold.cc)
    void hold(JobSlot& job, int task, Slices&& slices, std::uint64_t fact, Instant started,
              Booked booked = Booked::no, std::uint64_t decision = 0);
    void release(JobSlot& job, int task, TaskSlot::Life then);
    void fetch_node(int n) const {
        if (n < 0) return;
        fetch(&held_on_[static_cast<std::size_t>(n)]);
        cluster_.fetch_rows(n);
    }
    void gained(int node);
    void drop_pledge(JobSlot& job);
    void victim_done(JobSlot& victim);
    void count_victim(const JobSlot& job, int sign);

    // Placing (place/attempt.cc)
    // Books tentatively: the caller undoes to the mark it took before, or keeps it.
    Outcome attempt(JobSlot& job);
    enum class Foresight { none, predict };
    Outcome fill(JobSlot& job, Foresight foresight = Foresight::predict);
    Ceiling least_ceiling(const JobSlot& job);
    Amounts least_amounts(const Shape& shape) const;
    bool has_plugins(const JobSlot& job) const;
    Spot ask_plugins(const JobSlot& job, std::span<const Slices> before,
                     const std::function<std::vector<Spot>(std::size_t)>& top, Trace& trace);
    Spot ask_about(const JobSlot& job, std::span<const Slices> before, std::span<const Spot> spots,
                   std::span<const HookUse> uses, Trace& trace);
    NodeBook book_now(int node) const;
    void count_own_tasks(const JobSlot& job);
    // Near each other (place/gang.cc)
    bool fill_near(const JobSlot& job, std::vector<Slices>& slices, Trace& trace);
    void refresh_bounds(int shape);
    std::int64_t bound(const std::vector<int>& nodes) const;
    std::vector<int> areas_for(const JobSlot& job, TopologyLevel level, bool all);
    bool fill_area(const JobSlot& job, TopologyLevel level, int area, std::vector<Slices>& slices,
                   Trace* trace);
    bool fill_nodes(const JobSlot& job, const std::vector<int>& nodes, std::vector<Slices>& slices,
                    Trace* trace);
    void give_back(const JobSlot& job, std::vector<Slices>& slices, std::size_t mark);
    bool explain_topology(const JobSlot& job, Why& out);
    Result<void> check_topology(const JobSpec& spec, const Shape& shape);
    Trace take_down(int shape, Column& view) const;
    Candidate candidate(const Shape& shape, int node, std::int32_t level) const;
    std::vector<Rejection> rejections(const Shape& shape, const Trace& trace) const;

    // Predicting (predict/)
    bool predicts() const {
        return (profiles_ > 0 || cluster_.overcommits()) && cluster_.settings().enable_prediction;
    }
    // A task that looks for a place: the job it is of, -1 when it is only a question, and what its gang has
    // booked so far.
    struct Newcomer {
        int job;
        const Profile* profile;
        const std::vector<Slices>* booked;
        bool only_these = false;  // the candidates of the trace, because plugins turned the others away
    };
    // Cards of the node that stay below the watermark with the newcomer; none when the node as a whole would
    // not. `words`: of the first thing that would pass it.
    std::optional<Mask> screen(const Look& look, const Newcomer& who, std::string& words) const;
    // The best of the trace's candidates that stays below, else the best of all nodes; what is better than it
    // leaves the trace's list.
    std::optional<Slices> screened(int shape, const Newcomer& who, Trace& trace, int card, int& looked) const;
    std::optional<Slices> slices_below(int shape, int node, const Newcomer& who, std::string& words,
                                       int card) const;

    // Order within a queue (order/keys.cc)
    Order order_of(int queue) const;
    Millis expected_run(const JobSlot& job) const;
    Instant last_start(const JobSlot& job) const;
    std::int64_t order_key(const JobSlot& job, Instant now) const;
    static std::int64_t received(const TaskSlot& task, Instant now);
    Instant waits_since(const JobSlot& job) const;
    Instant ages_at(const JobSlot& job) const;
    Waiting place_of(const JobSlot& job) const;
    Turn turn_of(const JobSlot& job) const;  // that it has, or would have if it waited
    void promote_aged();
    void refresh_share(WaitClass& members, int queue) const;
    void refresh_shares(int queue) const;
    void refresh_shares(int queue, int priority) const;
    bool order_preempts(int queue) const;
    std::int64_t yields_above(int queue, std::int64_t key) const;
    Instant yields_for_order_at(const JobSlot& victim) const;
    void refresh_elders(Instant now);
    bool order_lets_push(int queue, int priority, std::int64_t key) const;

    // Passing (order/pass.cc)
    bool somebody_yields(int priority) const;
    bool worth_rousing(int queue, int shape, Sleepers& group, Instant now);
    void rouse(int queue, Instant now);
    void rouse_for_places(int queue);
    bool gains_for(int shape, std::uint64_t since);
    bool worth_a_look(int queue, WaitClass& members, Instant now);
    void set_wake(Instant now);
    void commit(JobSlot& job, Outcome& outcome, Booked booked, Instant now, Plan& plan);
    bool consider(JobSlot& job, WaitClass& members, Instant now, Plan& plan);

    // Forecasting: how long jobs run (forecast/learn.cc)
    void learn_run_time(const JobSlot& slot, Instant at);
    static int length_class(const EngineJob& job);
    static bool says_length(const EngineJob& job) {
        return length_class(job) > 0 || job.spec->time_limit.count() > 0;
    }
    Instant started(const JobSlot& slot) const;  // 0: holds nothing
    Instant busy_until(const JobSlot& slot, Instant now);
    // by when nine in ten like it are over, if it starts now; the longest: not known
    Millis left_of(const JobSlot& slot) const;
    // Keeping places (forecast/backfill.cc)
    bool keeps_place(const WaitClass& members) const;
    std::uint64_t domain_of(const Shape& shape) const;
    void keep_place(JobSlot& slot, Instant now);
    void leave_place(const JobSlot& slot);
    bool still_good(const Reservation& place, const JobSlot& slot, Instant now);
    std::optional<Reservation> better_place(const Reservation& place, const JobSlot& slot, Instant now);
    bool delays(const JobSlot& slot, const std::vector<Slices>& slices, Instant now);
    Outcome place_beside(JobSlot& slot, Instant now);
    // One node at a later time (forecast/later.cc)
    void find_ends(int node, const JobSlot* waiting, Instant now, std::vector<End>& out);
    bool yields_to(const JobSlot& waiting) const;  // whether anybody may
    const std::vector<End>& ends_on(int node, const JobSlot& waiting, Instant now);
    bool may_fit_later(int node, const JobSlot& slot, Instant at, Instant until,
                       const std::vector<End>& ends) const;
    void book_later(int node, Instant at, Instant until, const std::vector<End>& ends,
                    const JobSlot& waiting);
    bool over_full(int node, const std::vector<Slices>& slices) const;
    bool crowds_out(int node, const JobSlot& slot, const std::vector<Slices>& slices, Instant end,
                    Instant now);
    std::optional<Slices> beside_on(int node, const JobSlot& slot, Instant end, Instant now,
                                    std::int64_t own);
    int fill_later(int node, const JobSlot& slot, Instant at, Instant until, const std::vector<End>& ends,
                   int wanted, std::vector<Slices>& out);
    // When at the earliest, and where (forecast/earliest.cc)
    const Timeline& timeline(int node, Instant now);
    std::optional<Reservation> earliest(const JobSlot& slot, Instant now);
    std::optional<Reservation> earliest_on(int node, const JobSlot& slot, Instant now, Instant before);
    std::optional<Reservation> earliest_of_gang(const JobSlot& slot, const std::vector<int>& nodes,
                                                Instant now, Instant before);
    // Estimating (forecast/estimate.cc)
    struct Ahead;
    Ahead look_ahead();
    void draw_times(Ahead& ahead);
    void play_round(Instant now);
    const Estimates::Wait* answer_for(const JobSlot& slot) const;

    // Admitting (admit/admit.cc)
    std::int64_t empty_nodes_hold(const Shape& shape, const std::vector<int>& nodes, std::int64_t wanted);

    // Preempting (preempt/)
    std::optional<VictimSet> choose_victims(JobSlot& preemptor, Instant now, Instant* retry_at);
    std::optional<VictimSet> victims_on_one_node(const JobSlot& preemptor);
    std::optional<VictimSet> victims_of_gang(JobSlot& preemptor);
    std::optional<VictimSet> what_stops_already(const Shape& shape);
    std::optional<VictimSet> least_of_node(int node, const std::vector<int>& here, const Shape& shape);
    std::optional<std::vector<int>> cards_of_node(int node, const std::vector<int>& here, const Shape& shape,
                                                  bool& impossible);
    Leaver leaver(int victim, int node) const;
    std::int64_t cards_lacking(const JobSlot& preemptor) const;
    std::optional<std::vector<int>> least_by_cards(const std::vector<int>& able, std::int64_t lacking) const;
    std::int64_t idle_cards(int node) const;
    std::optional<std::vector<int>> least_for_gang(JobSlot& preemptor, const std::vector<int>& able);
    GangVictims::Victim victim_figures(int victim) const;
    std::int64_t room_for(const Shape& shape, int crowd, int node, std::int64_t most);
    void without(const JobSlot& victim);
    void without(const JobSlot& victim, int node);
    void without_stopping(int node);
    bool lower_pledges(const JobSlot& than) const {
        return !pledged_priorities_.empty() && pledged_priorities_.begin()->first < than.info.priority;
    }
    bool may_yield(const JobSlot& victim, const JobSlot& preemptor, bool takes_back);
    bool gives_way(int victim) const {
        return !job(victim).stopping && able_.key[static_cast<std::size_t>(victim)] > yields_above_;
    }
    void find_candidates(const JobSlot& preemptor, Instant now);
    void renew_pledge(JobSlot& preemptor);
    void wait_for(JobSlot& preemptor, std::vector<int> victims, std::vector<Slices> pledge);
    std::int64_t cost_of(const JobSlot& victim, Instant now) const;
    bool better(const VictimSet& a, const VictimSet& b) const;
    void set_figures(VictimSet& set) const;
    std::string reason_for(const JobSlot& preemptor, const VictimSet& set, const JobSlot& victim) const;
    std::string order_words(const JobSlot& preemptor, const JobSlot& victim) const;
    std::vector<std::string> reasons_for(const JobSlot& preemptor, const VictimSet& set) const;
    bool preempt(JobSlot& preemptor, VictimSet set, const std::vector<std::string>& reasons, Plan& plan);
    std::vector<int> partly_held() const;
    void break_deadlock(Instant now, Plan& plan);
    // What queues keep for themselves (order/reserve.cc)
    void refresh_reserves();
    bool reserve_allows(const JobSlot& job, const std::vector<Slices>& slices);
    bool within_reserve(const JobSlot& job);
    bool in_own_reserve(const JobSlot& victim);

    // Supposing (plan/)
    class Plans;
    class Mover;
    struct Rearrangement;
    std::optional<Rearrangement> rearrange(const DefragOptions& options, Instant now);
    void start_move(JobSlot& job, std::vector<Slices> to);
    void start_stop(JobSlot& job);
    // Cards above the watermark (plan/relief.cc)
    JobSlot* who_makes_room(int node, std::size_t card, Instant now);
    Millis left_alone(const JobSlot& job) const;
    std::vector<Slices> place_elsewhere(const JobSlot& job);
    // (node, card): since which call it has been, or made room last
    std::map<std::pair<int, std::size_t>, Instant> above_since_;
    struct Supposition {
        Supposition(Impl& engine, const EngineJob& request);
        ~Supposition();
        Supposition(const Supposition&) = delete;
        Supposition& operator=(const Supposition&) = delete;
        JobSlot slot;

      private:
        Impl& e_;
    };

    // Explaining (explain/)
    class Changes;
    struct Found;  // what the survey of a job's shape came to
    Why explain(JobSlot& job, Instant now, const WhyQuestion& question);
    void explain_dependency(const JobSlot& job, Why& out) const;
    void explain_quota(const JobSlot& job, const Ceiling& ceiling, Why& out);
    const std::vector<std::pair<std::int64_t, int>>& quota_holders(int tenant, std::size_t kind);
    void explain_prediction(const JobSlot& job, const Trace& trace, const Found& found, Why& out) const;
    void explain_plugins(const Trace& trace, Why& out) const;
    const Survey& survey_of(const JobSlot& job, std::optional<Survey>& own);
    // The job's own slices kept for it, and those kept for jobs of lower priority, are taken off the books.
    void lift_pledges(const JobSlot& job) { book_pledges(job, -1); }
    void book_pledges(const JobSlot& job, int sign);  // 1: puts back what was lifted
    // As many tasks of a shape, up to `wanted`, as these nodes (by rank) have room for; booked tentatively,
    // in `slices`. -1 when that takes more than `looks` (null: any number), from which what it took is taken
    // off.
    std::int64_t fill_up(const JobSlot& job, const Shape& shape, std::span<const int> ranks,
                         std::int64_t wanted, std::deque<Slices>& slices, std::int64_t* looks = nullptr);
    Found explain_nodes(const JobSlot& job, const Survey& survey, std::int64_t room,
                        const WhyQuestion& question, Why& out);
    void list_nodes(const JobSlot& job, const Survey& survey, Why& out) const;
    std::string data_sentence(const Shape& shape) const;
    bool data_is_nowhere(int shape) const;
    std::string sentence(const Shape& shape, const filter::Filter& row, std::int64_t right_kind,
                         const Why& facts) const;
    void add_requirements(const Shape& shape, const Survey& survey, Why& out) const;
    void add_holders(const JobSlot& job, std::string_view binding, const std::vector<int>& nearest,
                     Why& out) const;
    NodeBook totals_of(const Node& node) const;
    NodeBook book_of(const Node& node, int n) const;

    void set_fact(std::uint64_t& slot, std::uint64_t fact) { facts_ += fact - slot, slot = fact; }
    std::uint64_t job_fact(const JobSlot& job) const;

    Cluster cluster_;
    Shapes shapes_;
    Pricing pricing_{cluster_};
    Judge judge_{cluster_, shapes_, pricing_};
    Seats seats_{judge_};
    Areas areas_;
    // By node: how many tasks of the gang placed last it has room for, at most, while its version stands.
    struct Bound {
        std::uint64_t version = 0;
        std::int64_t tasks = 0;
    };
    std::vector<Bound> bounds_;
    int bounds_shape_ = -1;
    Tenants tenants_;
    Backlog backlog_;
    HookSource* hooks_ = nullptr;
    JobSlot& new_job();
    Pool<JobSlot> job_slots_;
    std::vector<JobSlot*> jobs_;  // by position; null: there is none
    std::vector<int> free_jobs_;
    HashTable job_positions_;                 // by the hash of the id
    std::vector<std::vector<Held>> held_on_;  // by node, unordered
    std::vector<int> preemptors_;  // jobs that wait for victims or hold a pledge, by the time they began to
    std::map<int, int> pledged_priorities_;  // of these
    std::vector<int> stopping_;              // jobs told to make room that still hold something
    std::uint64_t holdings_ = 0;             // counts changes of who holds what, and of the nodes

    // Running jobs that might give way for their queue's order, by queue and priority; as they were a while
    // ago.
    static constexpr Millis elders_kept{1000};
    struct Elders {
        bool known = false;
        Instant at;
        std::uint64_t holdings = 0;
        struct Level {
            std::int64_t most = -1;  // the highest key of those that have run for long enough
            Instant next;            // when another will have; 0 = none
            bool grows = false;
        };
        std::map<std::pair<int, int>, Level> levels;
    } elders_;

    // What queues keep and hold, in thousandths of a card.
    struct Reserves {
        bool known = false;
        std::uint64_t holdings = 0;
        std::int64_t cards = 0;
        struct Queue {
            std::int64_t kept = 0, held = 0, for_good = 0;
        };
        std::vector<Queue> queues;
    } reserves_;
    bool reserving_ = false;  // some queue keeps any
    static constexpr Millis deadlock_looked_for{30'000};
    Instant deadlock_looked_;

    // Who might give way for a shape at a priority, kept while nothing but `stopping` changes.
    struct CandidateCache {
        // of whose order it is; -1: none that makes anybody give way
        int shape = -1, priority = 0, queue = -1;
        bool training = false, takes_back = false;
        Instant now, retry_at;
        std::uint64_t holdings = 0;
        std::vector<int> nodes;                 // that serve the shape
        std::vector<int> jobs;                  // by priority, then cost, then the latest start
        std::vector<std::vector<int>> on_node;  // the same by node
        std::vector<std::int64_t> cost;         // by position of the job
        std::vector<std::int64_t> key;          // likewise, in the order; highest where the priority is lower
        std::vector<std::uint64_t> asked;       // by position of the job: the round in which it was
        std::uint64_t round = 0;
        std::vector<std::uint64_t> in_vain;  // by node: its version when what stops there was not enough
        struct NodeBest {
            // version, key, own tasks: it holds while these stand
            std::optional<std::tuple<std::uint64_t, std::int64_t, std::int64_t>> of;
            std::optional<VictimSet> set;  // without plan
        };
        std::vector<NodeBest> best_on;  // by node
    } able_;

    std::vector<Slices> spare_slices_;  // memory of a decision that is over, for the next
    std::uint64_t decisions_ = 0;

    Surveys surveys_;
    Rooms rooms_{cluster_, seats_};
    Running running_;
    struct {
        int tenant = -1;
        std::size_t kind = 0;
        std::uint64_t holdings = 0;
        std::vector<std::pair<std::int64_t, int>> jobs;  // amount and position, the largest first
    } quota_holders_;                                    // of the last question
    Instant places_given_;                               // when places were offered to those that sleep
    RunTimes run_times_;
    int timed_ = 0;  // jobs that say how long they run
    Reservations reservations_;
    std::vector<End> ends_;  // of the last question about one node
    Estimates estimates_;
    std::shared_ptr<Ahead> ahead_;  // a simulation of which some rounds are played

    std::uint64_t facts_ = 0;
    std::unordered_map<std::string, std::uint64_t> node_facts_, flag_facts_, taint_facts_, maintenance_facts_,
        queue_facts_, tenant_facts_;
    std::uint64_t settings_fact_ = 0;

    int profiles_ = 0;  // jobs that have one
    Instant now_;       // of the last question
    Instant clock_;     // of the latest fact or pass
    Instant use_told_;  // when the caller was last told to store what tenants used
    // key of the order above which jobs give way to the preemptor in question
    std::int64_t yields_above_ = 0;
    bool dirty_ = false;
    std::optional<Instant> wake_at_;
    std::uint64_t gains_ = 0;        // how often anything became free
    std::vector<int> gained_nodes_;  // where, the latest last
    std::uint64_t gained_base_ = 0;
    std::uint64_t victims_seen_ = 0;       // how often a job that may be pushed aside was placed
    std::map<int, int> yielding_;          // priority -> jobs that hold something and may be pushed aside
    std::vector<std::int64_t> own_tasks_;  // by node, of the job being placed, when it wants nodes for itself
    int looked_ = 0;                       // nodes looked at in this pass
};

}  // namespace crater::engine
