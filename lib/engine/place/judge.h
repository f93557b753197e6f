// What the policy of a shape makes of a node: the first filter that turns it away, or its level.
#pragma once

#include "place/level.h"
#include "place/pricing.h"
#include "place/shapes.h"

namespace crater::engine {

inline constexpr std::uint8_t absent = 255;  // the node is no more: no filter's doing

// A level (place/level.h), or -1 with the filter that turned the node away.
struct Verdict {
    std::int32_t level = -1;
    std::uint8_t filter = 0;
    int card = -1;  // that the policy chose
    bool fits() const { return level >= 0; }
};

class Judge {
  public:
    Judge(const Cluster& cluster, const Shapes& shapes, Pricing& pricing)
        : cluster_(cluster), shapes_(shapes), pricing_(pricing) {}

    const Cluster& cluster() const { return cluster_; }
    const Shape& shape(int position) const { return shapes_.at(position); }

    // The first filter of what the node is that it fails; -1 when it passes them all. The same for the
    // standing ones.
    static int fixed_filter(const Look& look);
    static int standing_filter(const Look& look);
    // The first filter of all, -1 when the node fits. `known_fixed`: the filters of what the node is were
    // passed before.
    static int filter_failed(const Look& look, bool known_fixed = false);
    static bool fits(const Look& look) { return look.node.present && filter_failed(look) < 0; }
    Verdict verdict(int shape, const Look& look, bool known_fixed = false) const;
    // Of a node that fits, from its room alone; the shape is plain, the node's cards are of one type.
    Level level(int shape, int node, const Room& room, const CardRoom* cards) const;
    // No lower than the value of that level, for a shape under `price`.
    std::int32_t bound(int shape, int node, const Room& room, const CardRoom* cards) const {
        return pricing_.bound(shape, this->shape(shape), node, room, cards);
    }
    void fetch_bound(int node) const { pricing_.fetch_bound(node); }

  private:
    const Cluster& cluster_;
    const Shapes& shapes_;
    Pricing& pricing_;
};

}  // namespace crater::engine
