// The jobs that wait, as classes of equals: jobs of one queue, priority, tenant, shape, profile, number of
// tasks and whether they may be preempted stand and fall together, so that what blocks the first blocks all,
// and ten thousand of them cost one look. Within a queue: priority, then who waited too long, then the
// queue's order (the tenant's share of use, or the job's own key), then submit time, then id.
#pragma once

#include <climits>
#include <map>
#include <memory>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "crater/model/tenant.h"
#include "order/ranked_set.h"

namespace crater::engine {

// Why the head of a class could not start, and what has to happen before it is worth another look.
struct Blocked {
    enum Why : std::uint8_t { no, room, quota, reserved } why = no;
    std::uint64_t gains_seen = 0;    // room: how much was freed anywhere until then
    std::uint64_t victims_seen = 0;  // and how many jobs came that might be pushed aside
    Instant retry_at;                // and when one of them will have run for long enough; 0 = never
    int tenant = -1;                 // quota: whose
    std::uint64_t eased_seen = 0;
    // of the job that was blocked: one with a lower key may push others aside
    std::int64_t key_seen = INT64_MAX;
    Instant pushed_at;              // when it was last looked for others to give way
    std::uint64_t places_seen = 0;  // reserved: it would have delayed one that comes before it
};

// The place of a job in its class. What it is made of does not change while the job waits, but for growing
// old.
struct Waiting {
    static constexpr std::int64_t aged_key = INT64_MIN;

    std::int64_t key = 0;  // of the queue's order (order/keys.cc); lower goes first
    Instant submitted;
    std::string_view id;  // of the job, which owns the text
    int job = -1;
    bool aged() const { return key == aged_key; }  // goes before all of its priority
    bool operator<(const Waiting& o) const {
        if (key != o.key) return key < o.key;
        return submitted != o.submitted ? submitted < o.submitted : id < o.id;
    }
};
// A set that also says how many come before one.
using WaitingSet = RankedSet<Waiting>;

struct WaitClass;
using WaitClasses =
    std::map<std::tuple<int, int, int, int, std::uint64_t, int, bool, int>, std::unique_ptr<WaitClass>>;

struct WaitClass {
    int priority = 0, tenant = -1, shape = -1, tasks = 0;
    std::uint64_t profile = 0;  // of what it would use; 0: nothing is known
    // of the run time that is said, by octaves: a shorter one may go ahead where a longer one may not
    int length = 0;
    bool preemptible = false;  // what queues lend of their reserves is no room for others
    // job that is unlike any other: it holds a pledge or part of its gang; -2: those that were stopped for
    // others a while ago
    int only = -1;
    std::int64_t share = 0;  // fair: what its tenant used, by the last pass; 0 in other orders
    WaitingSet jobs;
    Blocked blocked;
    WaitClasses::iterator place;  // its own among those of the queue
    bool look = true;             // in this pass; else it is passed over, and only its place is kept
    int kept_for = -1;            // job for which a place is kept
    const Waiting& head() const { return *jobs.begin(); }
    bool asleep = false;
    std::size_t at = 0;  // among the sleepers of its shape, or among those awake
    auto key() const {
        return std::tuple(-priority, tenant, shape, tasks, profile, length, preemptible, only);
    }
};

// Classes of one shape that found no room: until there is some for the shape nobody has to ask each of them.
struct Sleepers {
    std::vector<WaitClass*> classes;  // unordered
    // The least of theirs, the highest priority.
    std::uint64_t gains_seen = UINT64_MAX, victims_seen = UINT64_MAX;
    Instant retry_at, pushed_at;
    int top_priority = INT_MIN;
};

struct WaitQueue {
    QueueSpec spec;
    bool declared = false;
    WaitClasses classes;                       // of a priority together, the highest first
    std::map<int, std::int64_t> waiting;       // jobs, by priority
    std::vector<WaitClass*> awake;             // of them, those that are asked in each pass; unordered
    std::map<int, Sleepers> asleep;            // the others, by shape
    std::set<std::pair<Instant, int>> ageing;  // when a waiting job will have waited too long, and which
};

// What decides when a job of a queue is considered: its priority, whether it has waited too long, the share
// of its class, its place there.
inline bool goes_before(int priority, std::int64_t share, const Waiting& place, int other_priority,
                        std::int64_t other_share, const Waiting& other) {
    if (priority != other_priority) return priority > other_priority;
    if (place.aged() != other.aged()) return place.aged();
    if (!place.aged() && share != other_share) return share < other_share;
    return place < other;
}
inline bool goes_before(const WaitClass& a, const WaitClass& b) {
    return goes_before(a.priority, a.share, a.head(), b.priority, b.share, b.head());
}
struct Turn {
    int priority = 0;
    std::int64_t share = 0;  // as its class has it
    Waiting place;
    bool operator<(const Turn& o) const {
        return goes_before(priority, share, place, o.priority, o.share, o.place);
    }
};
inline Turn turn_of(const WaitClass& members, const Waiting& place) {
    return {members.priority, members.share, place};
}

class Backlog {
  public:
    int intern(const std::string& name);  // an unknown queue springs into being with the defaults
    int find(const std::string& name) const;
    WaitQueue& queue(int q) { return *queues_[static_cast<std::size_t>(q)]; }
    const WaitQueue& queue(int q) const { return *queues_[static_cast<std::size_t>(q)]; }
    int queue_count() const { return static_cast<int>(queues_.size()); }
    std::vector<int> in_order() const;  // by priority, then name

    WaitClass& add(int queue, WaitClass like, Waiting job);
    void remove(int queue, WaitClass& from, const Waiting& job);
    void rouse(int queue, WaitClass& members);
    void rouse_all(int queue);
    // Who found no room in this pass sleeps until there is some.
    void lull(int queue);
    std::size_t size() const { return size_; }

    // The classes of one priority.
    auto of_priority(int q, int priority) const {
        const auto from = [&](int p) {
            return queue(q).classes.lower_bound({-p, INT_MIN, INT_MIN, INT_MIN, 0, INT_MIN, false, INT_MIN});
        };
        return std::ranges::subrange(from(priority), from(priority - 1));
    }

    // Place of a waiting job in its queue, from 1, and the length of the queue.
    std::pair<std::int64_t, std::int64_t> rank(int queue, const Turn& turn) const;
    // Every waiting job of a queue in the order in which they are considered.
    std::vector<std::pair<int, Waiting>> ordered(int queue) const;  // (priority, job)

  private:
    std::vector<std::unique_ptr<WaitQueue>> queues_;
    std::map<std::string, int, std::less<>> positions_;
    std::size_t size_ = 0;
};

}  // namespace crater::engine
