// Time, deferred work and chance as parameters. Services take these; production gives them the machine's, the
// simulator its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "crater/base/quantity.h"

namespace crater {

// Read only: whoever reads the clock cannot move it. Callable from any thread.
class Clock {
  public:
    virtual ~Clock() = default;
    virtual Instant now() const = 0;            // wall clock; may jump
    virtual std::int64_t ticks_us() const = 0;  // monotonic microseconds, for measuring and deadlines
};

using Task = std::function<void()>;
using TimerId = std::uint64_t;  // 0 = none

// One loop of deferred work; a service lives on exactly one. `post` may be called from any thread, the rest
// from the loop. Tasks run one at a time, in order of posting; timers in order of (time, creation).
class Loop {
  public:
    virtual ~Loop() = default;
    virtual void post(Task task) = 0;
    virtual TimerId after(Millis delay, Task task) = 0;
    virtual void cancel(TimerId id) = 0;  // unknown and 0 are ignored
};

class Rng {
  public:
    virtual ~Rng() = default;
    virtual std::uint64_t next() = 0;
    // Uniform in [0, bound); bound > 0.
    std::uint64_t below(std::uint64_t bound) { return next() % bound; }
};

// SplitMix64 (Steele, Lea, Flood 2014): small, fast, the same everywhere for a seed.
class SeededRng final : public Rng {
  public:
    explicit SeededRng(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() override;

  private:
    std::uint64_t state_;
};

// The machine's own. SystemRng is backed by the kernel's random source and safe for tokens.
std::unique_ptr<Clock> system_clock();
std::unique_ptr<Rng> system_rng();

// A Loop on the calling thread: `run` returns after `stop`. Used by daemons.
class ThreadLoop final : public Loop {
  public:
    ThreadLoop();
    ~ThreadLoop() override;
    void post(Task task) override;
    TimerId after(Millis delay, Task task) override;
    void cancel(TimerId id) override;
    void run();
    void stop();  // from any thread

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace crater
