// Fragmentation gradient descent (Weng et al., ATC'23): put a task where the free card capacity that a
// typical task cannot use grows least. The published integer formula, its order of additions included, so
// that published results can be replayed to the last digit.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "price/demand.h"

namespace crater::engine::price {

struct Target {
    Demand kind;
    double share = 0;  // of the typical tasks; all shares add up to one
    bool operator==(const Target&) const = default;
};

struct Arrived {
    Demand kind;
    double count = 0;
};
// The most frequent kinds that make up at least 95 % of what arrived. Kinds that differ only in what the
// formula does not look at (all but cards and cores) are one.
std::vector<Target> typical(std::span<const Arrived> arrived);

class Fragmentation {
  public:
    void set_targets(std::vector<Target> targets);

    // Milli of cards on the node that typical tasks cannot use, expected.
    double unusable(const Free& free);
    // Level 0..99, 50 when nothing changes. `id`: equal for equal kinds.
    Rating choose(const Free& free, const Demand& kind, int id);

  private:
    double measure(int type, std::int64_t cpu_free, std::span<const std::int16_t> cards) const;
    double remembered(int type, std::int64_t cpu_free, std::span<const std::int16_t> cards);
    Rating decide(const Free& free, const Demand& kind);

    std::vector<Target> targets_;
    // Both are functions of the key and the targets alone: forgetting them changes nothing but the time.
    std::unordered_map<std::u16string, double> unusable_;
    std::unordered_map<std::u16string, Rating> choices_;
    std::u16string key_, choice_key_;
};

}  // namespace crater::engine::price
