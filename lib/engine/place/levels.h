// The levels of all nodes for one shape, under a tree of maxima. A node that changed is looked at again when
// the shape is next asked about, not before. Where a bound on a level is much cheaper than the level, the bound
// is in its place until it is on top.
#pragma once

#include <cstdint>
#include <vector>

#include "place/level.h"
#include "place/max_tree.h"

namespace crater::engine {

// Where a task goes: the node, and the card when the policy chose it. `node` -1: nowhere.
struct Spot {
    int node = -1;
    std::int32_t level = MaxTree::none;
    int card = -1;
    explicit operator bool() const { return node >= 0; }
};

class Levels {
  public:
    static constexpr int unfound = -2;  // the card of a level that is but a bound

    void reset(const Cluster& cluster);  // no node is known
    void pend(int node);                 // to be looked at again
    // So are all that it fits on, for it is worth something else there now; whether it fits is as it was.
    void pend_fitting() { stale_ = true; }
    void put(std::size_t rank, Level level) {
        tree_.put(rank, level.value), cards_[rank] = static_cast<std::int8_t>(level.card);
    }
    void climb() { tree_.climb(), stale_ = false; }
    // Looks at what pends: `level_of` gives the level of a node, or a bound. Gives how many those were.
    template <class LevelOf>
    int settle(const Cluster& cluster, LevelOf level_of);

    // The best, best first, at most `count`: `found` gives the level of a node of which a bound is known.
    template <class Found>
    void best(const Cluster& cluster, std::size_t count, Found found, std::vector<Spot>& out);
    template <class Found>
    Spot best(const Cluster& cluster, Found found);

  private:
    // The highest of all; true if it is found and not but a bound.
    template <class Found>
    bool find_top(const Cluster& cluster, Found found, Spot& out);
    bool is_pending(int n) const { return is_pending_[static_cast<std::size_t>(n) / 64] >> (n % 64) & 1; }

    MaxTree tree_;                           // by rank
    std::vector<std::int8_t> cards_;         // by rank, the card the policy chose, or -1
    std::vector<std::uint64_t> is_pending_;  // by node
    std::vector<int> pending_;
    bool stale_ = false;
};

template <class LevelOf>
int Levels::settle(const Cluster& cluster, LevelOf level_of) {
    int looked = 0;
    const auto look = [&](int n, std::size_t rank) {
        ++looked;
        const Level level = level_of(n);
        cards_[rank] = static_cast<std::int8_t>(level.card);
        return level.value;
    };
    if (stale_) {
        for (std::size_t rank = 0; rank < cards_.size(); ++rank)
            if (tree_.at(rank) >= 0 && !is_pending(cluster.by_name()[rank]))
                tree_.put(rank, look(cluster.by_name()[rank], rank));
        tree_.climb();
    }
    for (const int n : pending_) {
        const auto rank = static_cast<std::size_t>(cluster.rank(n));
        tree_.set(rank, look(n, rank));
        is_pending_[static_cast<std::size_t>(n) / 64] &= ~(std::uint64_t{1} << (n % 64));
    }
    pending_.clear();
    stale_ = false;
    return looked;
}

template <class Found>
bool Levels::find_top(const Cluster& cluster, Found found, Spot& out) {
    while (!tree_.empty()) {
        const auto rank = tree_.top();
        const int n = cluster.by_name()[rank];
        if (cards_[rank] != unfound) {
            out = {n, tree_.top_value(), cards_[rank]};
            return true;
        }
        const Level level = found(n);
        cards_[rank] = static_cast<std::int8_t>(level.card);
        tree_.set(rank, level.value);
    }
    return false;
}

template <class Found>
Spot Levels::best(const Cluster& cluster, Found found) {
    Spot out;
    find_top(cluster, found, out);
    return out;
}

// Taken out one by one and put back.
template <class Found>
void Levels::best(const Cluster& cluster, std::size_t count, Found found, std::vector<Spot>& out) {
    out.clear();
    for (Spot spot; out.size() < count && find_top(cluster, found, spot); out.push_back(spot))
        tree_.set(static_cast<std::size_t>(cluster.rank(spot.node)), MaxTree::none);
    for (const Spot& spot : out) tree_.set(static_cast<std::size_t>(cluster.rank(spot.node)), spot.level);
}

}  // namespace crater::engine
