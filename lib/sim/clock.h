// A machine's clock. Its wall time may be off and jump; its ticks are true, as those of hardware are.
#pragma once

#include "crater/scheduler/testing/virtual_loop.h"

namespace crater::sim {

class MachineClock final : public Clock {
  public:
    explicit MachineClock(const testing::VirtualTime& time) : time_(time) {}
    Instant now() const override { return time_.now() + off_; }
    std::int64_t ticks_us() const override { return time_.ticks_us(); }
    Millis off() const { return off_; }
    // How often it was set; durations across a setting mean nothing.
    std::uint64_t jumps() const { return jumps_; }
    void set(Millis off) {
        if (off == off_) return;
        off_ = off;
        ++jumps_;
    }

  private:
    const testing::VirtualTime& time_;
    Millis off_{0};
    std::uint64_t jumps_ = 0;
};

}  // namespace crater::sim
