// Time under a test's hand: one queue of events for a whole world, ordered by (time, insertion). Each process
// of the world has a loop on it; killing a loop is the death of its process: nothing of it runs any more.
// Used by the scheduler's tests and by the simulator.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "crater/base/clock.h"

namespace crater::testing {

class VirtualTime final : public Clock {
  public:
    explicit VirtualTime(std::int64_t start_ms = 1'700'000'000'000) : now_us_(start_ms * 1000) {}
    Instant now() const override { return {now_us_ / 1000}; }
    std::int64_t ticks_us() const override { return now_us_; }

    using Key = std::pair<std::int64_t, std::uint64_t>;  // microseconds, insertion
    Key at(std::int64_t us, Task task) {
        const Key key{us, ++inserted_};
        events_.emplace(key, std::move(task));
        return key;
    }
    Key after(Millis delay, Task task) { return at(now_us_ + delay.count() * 1000, std::move(task)); }
    void cancel(const Key& key) { events_.erase(key); }

    bool idle() const { return events_.empty(); }
    std::int64_t next_us() const { return events_.begin()->first.first; }
    std::uint64_t ran() const { return ran_; }
    bool run_one() {
        if (events_.empty()) return false;
        auto event = events_.extract(events_.begin());
        now_us_ = std::max(now_us_, event.key().first);
        ++ran_;
        event.mapped()();
        return true;
    }
    void run_for(Millis span) {
        const std::int64_t end = now_us_ + span.count() * 1000;
        while (!events_.empty() && next_us() <= end) run_one();
        now_us_ = end;
    }

  private:
    std::int64_t now_us_;
    std::uint64_t inserted_ = 0, ran_ = 0;
    std::map<Key, Task> events_;
};

class VirtualLoop final : public Loop {
  public:
    explicit VirtualLoop(VirtualTime& time) : time_(time) {}
    ~VirtualLoop() override { kill(); }
    void post(Task task) override { after(Millis(0), std::move(task)); }
    TimerId after(Millis delay, Task task) override {
        if (!*alive_) return 0;
        const TimerId id = ++last_;
        const auto key = time_.after(delay, [this, alive = alive_, id, task = std::move(task)]() mutable {
            if (!*alive) return;
            if (frozen_) return missed_.emplace_back(id, std::move(task)), void();
            timers_.erase(id);
            task();
        });
        timers_.emplace(id, key);
        return id;
    }
    void cancel(TimerId id) override {
        const auto it = timers_.find(id);
        if (it == timers_.end()) return;
        time_.cancel(it->second);
        timers_.erase(it);
        std::erase_if(missed_, [id](const auto& missed) { return missed.first == id; });
    }
    // The process hangs: what is due waits, and happens in its order when it goes on.
    void freeze(bool frozen) {
        frozen_ = frozen;
        if (frozen) return;
        for (auto& [id, task] : std::exchange(missed_, {})) {
            timers_.erase(id);
            post(std::move(task));
        }
    }
    // The process dies: what it had planned does not happen.
    void kill() {
        *alive_ = false;
        for (const auto& [id, key] : timers_) time_.cancel(key);
        timers_.clear();
        missed_.clear();
    }

  private:
    VirtualTime& time_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
    std::map<TimerId, VirtualTime::Key> timers_;
    TimerId last_ = 0;
    bool frozen_ = false;
    std::deque<std::pair<TimerId, Task>> missed_;
};

}  // namespace crater::testing
