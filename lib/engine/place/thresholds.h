// Which of up to 256 requests a given amount is enough for, as one lookup: the distinct needs in order, and
// for each the set of requests that need no more. Beside it, how many nodes have how much, so that the number
// of nodes that lack it is a sum.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace crater::engine {

inline constexpr std::size_t seats_max = 256;

// A set of seats.
struct SeatSet {
    std::array<std::uint64_t, seats_max / 64> words{};

    bool has(std::size_t seat) const { return words[seat / 64] >> (seat % 64) & 1; }
    void add(std::size_t seat) { words[seat / 64] |= std::uint64_t{1} << (seat % 64); }
    void remove(std::size_t seat) { words[seat / 64] &= ~(std::uint64_t{1} << (seat % 64)); }
    bool any() const { return (words[0] | words[1] | words[2] | words[3]) != 0; }
    SeatSet& operator&=(const SeatSet& o) {
        for (std::size_t w = 0; w < words.size(); ++w) words[w] &= o.words[w];
        return *this;
    }
    SeatSet& operator|=(const SeatSet& o) {
        for (std::size_t w = 0; w < words.size(); ++w) words[w] |= o.words[w];
        return *this;
    }
    template <class F>
    void each(F f) const;  // in ascending order
    static SeatSet all();
};

class Thresholds {
  public:
    // `needs` by seat; a seat that needs nothing of it has 0 or less.
    void build(std::span<const std::int64_t> needs);
    // How many distinct needs the amount covers: the index for `met`.
    std::uint16_t index(std::int64_t amount) const {
        if (amount >= most_) return static_cast<std::uint16_t>(needs_.size());
        std::size_t i = first_[static_cast<std::size_t>(std::max<std::int64_t>(0, amount) >> shift_)];
        while (needs_[i] <= amount) ++i;
        return static_cast<std::uint16_t>(i);
    }
    const SeatSet& met(std::uint16_t index) const { return met_[index]; }

    // The census of the nodes by index.
    void count(std::uint16_t index, int by) {
        nodes_[index] += by;
        blocks_[index / block] += by;
    }
    int nodes_short(std::size_t seat) const;

  private:
    static constexpr std::size_t steps = 512;
    std::vector<std::int64_t> needs_;           // distinct, ascending
    std::int64_t most_ = INT64_MIN;             // the last of them
    int shift_ = 0;                             // amounts below it fall into steps of this many bits
    std::array<std::uint16_t, steps> first_{};  // by step: needs at or below its begin
    std::vector<SeatSet> met_;                  // by index: who is served
    std::vector<std::uint16_t> at_;             // by seat: the least index that serves it
    static constexpr std::size_t block = 16;
    std::vector<int> nodes_;   // by index
    std::vector<int> blocks_;  // sums of so many of them
};

template <class F>
void SeatSet::each(F f) const {
    for (std::size_t w = 0; w < words.size(); ++w)
        for (auto left = words[w]; left; left &= left - 1)
            f(w * 64 + static_cast<std::size_t>(__builtin_ctzll(left)));
}

}  // namespace crater::engine
