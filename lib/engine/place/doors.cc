#include "place/doors.h"

#include <bit>
#include <utility>

namespace crater::engine {

void Doors::resize(std::size_t nodes) {
    doors_.resize(nodes);
    if (log_.size() >= nodes) return;
    log_.assign(std::bit_ceil(nodes), 0);
    due_.assign(log_.size() + 1, 0);
    written_ += log_.size() + 1;  // nobody has read so far: all look at every node once
}

void Doors::set(int n, const SeatSet& open, bool changed, const SeatSet& among) {
    Door& door = at(n);
    SeatSet concerned = door.open;
    concerned |= open;
    concerned &= among;
    door.open = open;
    if (!changed || !concerned.any()) return;
    door.due |= concerned;
    log_[written_++ & (log_.size() - 1)] = n;
}

void Doors::renew(std::size_t seat) {
    for (Door& door : doors_) {
        if (door.open.has(seat))
            door.due.add(seat);
        else
            door.due.remove(seat);
    }
    read_[seat] = 0;
    if (written_ <= log_.size()) written_ = log_.size() + 1;
}

std::span<const int> Doors::take_due(std::size_t seat) {
    std::size_t count = 0;  // without a branch, for every other answer would be guessed wrong
    const auto look = [&](int n) {
        std::uint64_t& word = at(n).due.words[seat / 64];
        const std::uint64_t bit = std::uint64_t{1} << (seat % 64);
        due_[count] = n;
        count += (word & bit) != 0;
        word &= ~bit;
    };
    const std::uint64_t last = log_.size() - 1;
    constexpr std::uint64_t ahead = 8;  // doors asked of the memory before they are looked at
    if (const auto from = std::exchange(read_[seat], written_); written_ - from > log_.size()) {
        for (int n = 0; n < static_cast<int>(doors_.size()); ++n) look(n);
    } else {
        for (auto i = from; i < written_; ++i) {
            if (i + ahead < written_) fetch(log_[(i + ahead) & last]);
            look(log_[i & last]);
        }
    }
    return std::span(due_).first(count);
}

}  // namespace crater::engine
