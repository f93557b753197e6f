// The scheduler's disk: slow, full, failing or torn when it is told to be, and the places at which a commit
// can be cut off. Whoever watches sees each group at the moment it is durable.
#pragma once

#include <functional>
#include <memory>

#include "crater/store/store.h"
#include "process.h"

namespace crater::sim {

class Disk {
  public:
    // Where in its next commit the process dies.
    enum class Cut { none, before_write, before_reply, after_reply, torn };
    struct Hooks {
        // A group is about to be written; what it returns is called when the group is durable.
        std::function<std::function<void()>(const store::Batch&)> handed_in;
    };
    Disk(testing::VirtualTime& time, Rng& rng, Hooks hooks)
        : time_(time), rng_(rng), hooks_(std::move(hooks)) {}

    // What the next process sees. The one before must be gone, or is shut out from now on.
    std::unique_ptr<store::Store> open(Loop& loop, LifePtr life);

    void cut_next(Cut cut) { cut_ = cut; }
    Cut next_cut() const { return cut_; }
    void fill() { disk_.fail_next_commits = true; }
    void make_room() { disk_.fail_next_commits = false; }
    bool full() const { return disk_.fail_next_commits; }

    Millis latency_max{0};
    std::int64_t slow_until_us = 0, failing_until_us = 0;
    std::uint64_t commits = 0;  // that became durable

  private:
    class Opened;
    bool slow() const { return time_.ticks_us() < slow_until_us; }
    bool failing() const { return time_.ticks_us() < failing_until_us; }

    testing::VirtualTime& time_;
    Rng& rng_;
    Hooks hooks_;
    store::MemoryDisk disk_;
    Cut cut_ = Cut::none;
};

}  // namespace crater::sim
