// Status changes that must reach AllData: per task in order and without gaps, each until it was taken. This
// is the book-keeping; what is in it is durable (outbox/<task>/<sequence>), sending is callbacks.cc.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "crater/base/clock.h"
#include "records.h"

namespace crater::scheduler {

class Outbox {
  public:
    struct Item {
        std::int64_t sequence = 0;
        StoredCallback callback;
    };

    void add(const std::string& task_id, Item item, Instant now);
    // The task whose first item is due and not under way; marks it as under way.
    std::optional<std::string> take(Instant now);
    const Item& front(const std::string& task_id) const { return lines_.at(task_id).items.front(); }
    // The first item of the line was delivered or given up.
    void done(const std::string& task_id, Instant now);
    // The attempt failed: doubles the pause, from 1 s to 5 min, with jitter.
    void failed(const std::string& task_id, const std::string& why, Instant now, Rng& rng);
    Instant next_due() const;  // 0 = nothing waits for a time

    std::size_t waiting() const { return waiting_; }
    int under_way() const { return under_way_; }
    struct Failing {
        std::int64_t tasks = 0;
        std::string task_id, why;  // of the one that fails longest
        Instant since;
    };
    Failing failing() const;

    std::int64_t dead = 0;  // given up

  private:
    struct Line {
        std::deque<Item> items;
        Instant due, failing_since;
        int attempts = 0;
        bool under_way = false;
        std::string why;
    };
    std::map<std::string, Line> lines_;
    std::set<std::pair<std::int64_t, std::string>> due_;  // lines not under way
    std::size_t waiting_ = 0;
    int under_way_ = 0;
    std::set<std::pair<std::int64_t, std::string>> failing_;  // (since, task)
};

}  // namespace crater::scheduler
