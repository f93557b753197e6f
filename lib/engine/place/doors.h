// Which seats each node is open to, and which of them have to look at it again. A change of a node costs one
// cache line and one entry in a log, however many seats it concerns; a seat reads on in the log when it is
// asked next.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "place/thresholds.h"

namespace crater::engine {

class Doors {
  public:
    void resize(std::size_t nodes);

    bool is_open(int n, std::size_t seat) const { return at(n).open.has(seat); }
    const SeatSet& open(int n) const { return at(n).open; }
    // `changed`: the seats among these that it is open to, or was, look at it again.
    void set(int n, const SeatSet& open, bool changed, const SeatSet& among);
    // The seat is new: it looks at all that is open to it.
    void renew(std::size_t seat);
    // The nodes that the seat has to look at, which it then has. Good until it is called again.
    std::span<const int> take_due(std::size_t seat);

    void fetch(int n) const { __builtin_prefetch(&at(n)); }

  private:
    struct alignas(64) Door {
        SeatSet open, due;
    };
    const Door& at(int n) const { return doors_[static_cast<std::size_t>(n)]; }
    Door& at(int n) { return doors_[static_cast<std::size_t>(n)]; }

    std::vector<Door> doors_;  // by node
    std::vector<int> log_;     // a ring of as many nodes as there are, to a power of two
    std::vector<int> due_;
    std::uint64_t written_ = 0;
    std::array<std::uint64_t, seats_max> read_{};  // by seat, how far
};

}  // namespace crater::engine
