// How whole numbers spread: counts in buckets whose width grows with the number, sixteen an octave. Old
// counts fade: when there are many, all are halved. Bounded, and the same on every machine.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace crater::engine {

class Spread {
  public:
    static constexpr std::uint32_t one = 1 << 16;  // the unit of parts

    void add(std::int64_t value);
    std::uint32_t count() const { return count_; }
    // The value below which `part` of those above `floor` lie. Where none lies above, a tail that falls with
    // the square is taken: half are gone at 1.4 times the floor, nine in ten at 3.2 times.
    std::int64_t at(std::uint32_t part, std::int64_t floor = 0) const;

    // As it is kept, and back; false when the counts make no sense.
    using Counts = std::vector<std::pair<std::uint16_t, std::uint16_t>>;  // (bucket, how many), by bucket
    const Counts& counts() const { return counts_; }
    bool restore(Counts counts);

  private:
    Counts counts_;
    std::uint32_t count_ = 0;
};

}  // namespace crater::engine
