// A connection between two processes of a virtual world: whole messages in order, each after a delay, or both
// ends closed. As of TCP, what was sent before a close still arrives.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "crater/scheduler/testing/virtual_loop.h"
#include "crater/wire/link.h"

namespace crater::testing {

class VirtualWire : public std::enable_shared_from_this<VirtualWire> {
  public:
    // `delay` is asked per message; `loses` says whether one is lost, which breaks the connection.
    VirtualWire(VirtualTime& time, std::function<Millis()> delay, std::function<bool()> loses = {})
        : time_(time), delay_(std::move(delay)), loses_(std::move(loses)) {}

    // Side 0 or 1. The returned link is that side's to send with.
    std::shared_ptr<wire::Link> attach(int side, VirtualLoop& loop, wire::LinkCallbacks callbacks,
                                       std::string peer) {
        at(side).loop = &loop;
        at(side).callbacks = std::move(callbacks);
        at(side).open = true;
        return std::make_shared<End>(shared_from_this(), side, std::move(peer));
    }
    // The process on this side died.
    void detach(int side) {
        at(side) = {};
        leave(1 - side, "the peer is gone");
    }
    // The connection itself breaks.
    void break_off(const std::string& why) {
        hang_up(0, why);
        hang_up(1, why);
    }
    // Only this side notices that it breaks.
    void break_side(int side, const std::string& why) { hang_up(side, why); }
    // While stalled nothing arrives at this side; what was sent waits.
    void stall(int side, bool stalled) {
        at(side).stalled = stalled;
        if (stalled) return;
        for (std::string& message : std::exchange(at(side).held, {})) deliver(side, std::move(message));
        if (at(side).gone) hang_up(side, *std::exchange(at(side).gone, {}));
    }
    bool stalled(int side) { return at(side).stalled; }
    bool open() const { return sides_[0].open && sides_[1].open; }

  private:
    struct Side {
        VirtualLoop* loop = nullptr;
        wire::LinkCallbacks callbacks;
        bool open = false;
        std::int64_t last_us = 0;  // when the latest message arrives: later ones come later
        bool stalled = false;
        std::deque<std::string> held;     // while stalled
        std::optional<std::string> gone;  // why the peer left, after what is held
    };
    class End final : public wire::Link {
      public:
        End(std::shared_ptr<VirtualWire> wire, int side, std::string peer)
            : wire_(std::move(wire)), side_(side), peer_(std::move(peer)) {}
        void send(std::string message) override { wire_->send(side_, std::move(message)); }
        void close() override { wire_->close(side_); }
        std::string peer() const override { return peer_; }

      private:
        std::shared_ptr<VirtualWire> wire_;
        int side_;
        std::string peer_;
    };

    Side& at(int side) { return sides_[static_cast<std::size_t>(side)]; }
    Millis arrival(Side& to) {
        const std::int64_t us = std::max(time_.ticks_us() + delay_().count() * 1000, to.last_us);
        to.last_us = us;
        return Millis((us - time_.ticks_us()) / 1000);
    }
    void send(int from, std::string message) {
        if (!at(from).open) return;
        if (loses_ && loses_()) return break_off("a message was lost");
        if (at(1 - from).stalled) return at(1 - from).held.push_back(std::move(message));
        deliver(1 - from, std::move(message));
    }
    void deliver(int side, std::string message) {
        Side& to = at(side);
        if (!to.open) return;
        to.loop->after(arrival(to),
                       [self = shared_from_this(), side, message = std::move(message)]() mutable {
                           Side& s = self->at(side);
                           if (s.open && s.callbacks.on_message) s.callbacks.on_message(std::move(message));
                       });
    }
    void close(int side) {
        if (!at(side).open) return;
        at(side).open = false;
        leave(1 - side, "closed by the peer");
        // The callbacks may be what runs now: they are dropped by their own loop, not under its feet.
        at(side).loop->post([self = shared_from_this(), side] { self->at(side).callbacks = {}; });
    }
    // The other side left: heard after what it had sent.
    void leave(int side, std::string why) {
        if (at(side).stalled)
            at(side).gone = std::move(why);
        else
            hang_up(side, std::move(why));
    }
    void hang_up(int side, std::string why) {
        Side& to = at(side);
        if (!to.open) return;
        to.loop->after(arrival(to), [self = shared_from_this(), side, why = std::move(why)] {
            Side& s = self->at(side);
            if (!s.open) return;
            s.open = false;
            const auto callbacks = std::exchange(s.callbacks, {});
            if (callbacks.on_closed) callbacks.on_closed(why);
        });
    }

    VirtualTime& time_;
    std::function<Millis()> delay_;
    std::function<bool()> loses_;
    std::array<Side, 2> sides_;
};

}  // namespace crater::testing
