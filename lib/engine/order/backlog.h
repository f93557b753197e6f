// The jobs that wait, as classes of equals: jobs of one queue, priority, tenant, shape, profile and number of
// tasks stand and fall together, so that what blocks the first blocks all, and ten thousand of them cost one look.
// Within a queue: priority, then submit time, then id.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "crater/model/tenant.h"

namespace crater::engine {

// Why the head of a class could not start, and what has to happen before it is worth another look.
struct Blocked {
    enum Why : std::uint8_t { no, room, quota } why = no;
    std::uint64_t gains_seen = 0;    // room: how much was freed anywhere until then
    std::uint64_t victims_seen = 0;  // and how many jobs came that might be pushed aside
    Instant retry_at;                // and when one of them will have run for long enough; 0 = never
    int tenant = -1;                 // quota: whose
    std::uint64_t eased_seen = 0;
};

struct Waiting {
    Instant submitted;
    std::string_view id;  // of the job, which owns the text
    int job = -1;
    bool operator<(const Waiting& o) const {
        return submitted != o.submitted ? submitted < o.submitted : id < o.id;
    }
};

struct WaitClass;
using WaitClasses = std::map<std::tuple<int, int, int, int, std::uint64_t, int>, std::unique_ptr<WaitClass>>;

struct WaitClass {
    int priority = 0, tenant = -1, shape = -1, tasks = 0;
    std::uint64_t profile = 0;  // of what it would use; 0: nothing is known
    int only = -1;  // job that is unlike any other: it holds a pledge or part of its gang
    std::set<Waiting> jobs;
    Blocked blocked;
    WaitClasses::iterator place;  // its own among those of the queue
    auto key() const { return std::tuple(-priority, tenant, shape, tasks, profile, only); }
};

struct WaitQueue {
    QueueSpec spec;
    bool declared = false;
    WaitClasses classes;
};

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
    std::size_t size() const { return size_; }

    // Place of a waiting job in its queue, from 1, and the length of the queue.
    std::pair<std::int64_t, std::int64_t> rank(int queue, int priority, const Waiting& job) const;
    // Every waiting job of a queue in the order in which they are considered.
    std::vector<std::pair<int, Waiting>> ordered(int queue) const;  // (priority, job)

  private:
    std::vector<std::unique_ptr<WaitQueue>> queues_;
    std::map<std::string, int, std::less<>> positions_;
    std::size_t size_ = 0;
};

}  // namespace crater::engine
