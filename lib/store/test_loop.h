// A Loop under the test's hand: posted tasks wait until the test runs them, timers until it moves the time.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>

#include "crater/base/clock.h"

namespace crater::store {

class TestLoop final : public Loop {
  public:
    void post(Task task) override {
        {
            const std::scoped_lock lock(mutex_);
            tasks_.push_back(std::move(task));
        }
        wake_.notify_one();
    }
    TimerId after(Millis delay, Task task) override {
        timers_.emplace(std::pair(now_ + delay.count(), ++last_), std::move(task));
        return last_;
    }
    void cancel(TimerId id) override {
        std::erase_if(timers_, [&](const auto& item) { return item.first.second == id; });
    }

    void advance(Millis span) {
        const std::int64_t end = now_ + span.count();
        while (!timers_.empty() && timers_.begin()->first.first <= end) {
            auto node = timers_.extract(timers_.begin());
            now_ = node.key().first;
            node.mapped()();
        }
        now_ = end;
    }
    // Runs due timers and posted tasks, waiting for these, until `done()`.
    template <class Done>
    void run_until(Done done) {
        advance(Millis(0));
        while (!done()) {
            Task task;
            {
                std::unique_lock lock(mutex_);
                wake_.wait(lock, [&] { return !tasks_.empty(); });
                task = std::move(tasks_.front());
                tasks_.pop_front();
            }
            task();
        }
    }

  private:
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<Task> tasks_;
    std::map<std::pair<std::int64_t, TimerId>, Task> timers_;
    std::int64_t now_ = 0;
    TimerId last_ = 0;
};

}  // namespace crater::store
