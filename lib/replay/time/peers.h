// The schedulers that Crater is compared with, as rules over one machinery: whose turn it is, what may pass a
// job that does not fit, and who gives way. Written from their descriptions; docs/simulate.md says which.
#pragma once

#include <map>
#include <set>

#include "crater/replay/timed.h"
#include "pool.h"

namespace crater::replay {

enum class PeerOrder { arrival, shortest, remaining, two_queues };
enum class Passing { nobody, easy, anybody };  // who may pass one that does not fit

struct PeerRules {
    PeerOrder order = PeerOrder::arrival;
    Passing passing = Passing::nobody;
    bool preempts = false;
    Fit fit = Fit::tightest;
    // who has waited longer for its first start comes before all others, oldest first; 0: nobody
    Millis patience{0};
};

class TimedPeer final : public TimedDecider {
  public:
    TimedPeer(const Workload& workload, const PeerRules& rules, Millis resume_cost);
    void arrived(int job, Millis told, Millis now) override;
    void ended(int job, Millis now) override;
    void stopped(int job, Millis kept, Millis now) override;
    TimedPlan pass(Millis now) override;

  private:
    // Who comes first: by queue, then key, then arrival.
    struct Turn {
        int queue = 0;
        std::int64_t key = 0;
        int job = -1;
        auto operator<=>(const Turn&) const = default;
    };
    struct Job {
        Millis told{0}, left{0};  // of the told run time
        Millis began{0}, ends{0};
        std::int64_t served = 0;  // card-milliseconds
        std::vector<int> cards;
        int stops = 0;
        Turn turn;
    };
    // Jobs that stand and fall together: as many tasks of as many cards.
    using Size = std::pair<int, int>;

    const TimedJob& spec(int j) const { return workload_.jobs[static_cast<std::size_t>(j)]; }
    Job& job(int j) { return jobs_[static_cast<std::size_t>(j)]; }
    static Size size_of(const TimedJob& job) { return {job.tasks, job.cards}; }
    void enqueue(int j);
    void age(Millis now);
    bool try_start(int j, Millis now, TimedPlan& plan);
    void start(int j, std::vector<int> cards, Millis now, TimedPlan& plan);
    void free_cards(int j);
    bool yields(int running, const Job& to, Millis now);
    Turn turn_now(int running, Millis now);
    bool make_way(int j, Millis now, TimedPlan& plan);
    void pass_the_head(int head, Millis now, TimedPlan& plan);
    std::int64_t left_at(const Job& job, Millis now) const;

    const Workload& workload_;
    PeerRules rules_;
    Millis resume_cost_;
    Pool pool_;
    std::vector<Job> jobs_;
    std::map<Size, std::set<Turn>> waiting_;
    // by arrival, those that wait for a first start in their own turn
    std::set<std::pair<Millis, int>> patient_;
    std::set<std::pair<Millis, int>> running_;  // by told end
};

}  // namespace crater::replay
