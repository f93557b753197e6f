#include "crater/base/clock.h"

#include <sys/random.h>

#include <cerrno>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "crater/base/error.h"

namespace crater {
namespace {

std::int64_t monotonic_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

class SystemClock final : public Clock {
  public:
    Instant now() const override {
        return {
            std::chrono::duration_cast<Millis>(std::chrono::system_clock::now().time_since_epoch()).count()};
    }
    std::int64_t ticks_us() const override { return monotonic_ns() / 1000; }
};

class SystemRng final : public Rng {
  public:
    std::uint64_t next() override {
        std::uint64_t out = 0;
        for (;;) {
            const ssize_t got = getrandom(&out, sizeof out, 0);
            if (got == sizeof out) return out;
            CRATER_CHECK(got >= 0 ? got == 0 : errno == EINTR, "the kernel gives no random bytes");
        }
    }
};

}  // namespace

std::uint64_t SeededRng::next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

std::unique_ptr<Clock> system_clock() { return std::make_unique<SystemClock>(); }
std::unique_ptr<Rng> system_rng() { return std::make_unique<SystemRng>(); }

struct ThreadLoop::State {
    using Key = std::pair<std::int64_t, TimerId>;  // deadline in ns, then creation

    std::mutex mutex;
    std::condition_variable wake;
    std::deque<Task> posted;
    std::map<Key, Task> timers;
    std::map<TimerId, std::int64_t> deadlines;
    TimerId last_timer = 0;
    bool stopped = false;

    // Takes the first timer that was due at `now` and existed at `newest`.
    bool take_due(std::int64_t now, TimerId newest, Task& out) {
        const std::scoped_lock lock(mutex);
        if (stopped) return false;
        for (auto it = timers.begin(); it != timers.end() && it->first.first <= now; ++it) {
            if (it->first.second > newest) continue;
            out = std::move(it->second);
            deadlines.erase(it->first.second);
            timers.erase(it);
            return true;
        }
        return false;
    }

    bool take_posted(Task& out) {
        const std::scoped_lock lock(mutex);
        if (stopped || posted.empty()) return false;
        out = std::move(posted.front());
        posted.pop_front();
        return true;
    }
};

ThreadLoop::ThreadLoop() : state_(std::make_unique<State>()) {}
ThreadLoop::~ThreadLoop() = default;

void ThreadLoop::post(Task task) {
    {
        const std::scoped_lock lock(state_->mutex);
        state_->posted.push_back(std::move(task));
    }
    state_->wake.notify_one();
}

TimerId ThreadLoop::after(Millis delay, Task task) {
    // Far beyond any real wait, and no overflow.
    constexpr Millis longest = std::chrono::hours(24 * 36500);
    const std::int64_t deadline = monotonic_ns() + std::clamp(delay, Millis(0), longest).count() * 1'000'000;
    TimerId id = 0;
    {
        const std::scoped_lock lock(state_->mutex);
        id = ++state_->last_timer;
        state_->timers.emplace(State::Key(deadline, id), std::move(task));
        state_->deadlines.emplace(id, deadline);
    }
    state_->wake.notify_one();
    return id;
}

void ThreadLoop::cancel(TimerId id) {
    Task doomed;  // destroyed outside the lock: it may own something that calls us
    const std::scoped_lock lock(state_->mutex);
    const auto it = state_->deadlines.find(id);
    if (it == state_->deadlines.end()) return;
    const auto timer = state_->timers.find(State::Key(it->second, id));
    doomed = std::move(timer->second);
    state_->timers.erase(timer);
    state_->deadlines.erase(it);
}

void ThreadLoop::run() {
    State& s = *state_;
    for (;;) {
        std::size_t batch = 0;
        std::int64_t now = 0;
        TimerId newest = 0;
        {
            std::unique_lock lock(s.mutex);
            while (!s.stopped && s.posted.empty()) {
                now = monotonic_ns();
                if (s.timers.empty()) {
                    s.wake.wait(lock);
                } else if (const auto due = s.timers.begin()->first.first; due > now) {
                    s.wake.wait_for(lock, std::chrono::nanoseconds(due - now));
                } else {
                    break;
                }
            }
            if (s.stopped) return;
            now = monotonic_ns();
            batch = s.posted.size();
            newest = s.last_timer;
        }
        // One round: what was due, then what was posted, at its beginning. Neither can starve the other.
        Task task;
        while (s.take_due(now, newest, task)) {
            task();
            task = nullptr;
        }
        for (; batch > 0 && s.take_posted(task); --batch) {
            task();
            task = nullptr;
        }
    }
}

void ThreadLoop::stop() {
    {
        const std::scoped_lock lock(state_->mutex);
        state_->stopped = true;
    }
    state_->wake.notify_all();
}

}  // namespace crater
