// The levels of all nodes for one shape, under a tree of maxima. A node that changed is looked at again when
// the shape is next asked about, not before. Where a bound on a level is much cheaper than the level, the
// bound is in its place until it is on top.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
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

    void reset(const Cluster& cluster) {  // no node is known
        const auto nodes = static_cast<std::size_t>(cluster.size());
        tree_.reset(nodes);
        cards_.assign(nodes, -1);
        stale_ = false;
    }
    // All that it fits on is to be looked at again, for it is worth something else there now; whether it fits
    // is as it was.
    void outdate() { stale_ = true; }
    void put(std::size_t rank, Level level) {
        tree_.put(rank, level.value), cards_[rank] = static_cast<std::int8_t>(level.card);
    }
    void climb() { tree_.climb(), stale_ = false; }
    // Looks at these nodes again, and at what is out of date: `level_of` gives the level of a node, or a
    // bound. Gives how many those were. `fetch_node` asks what that reads of the memory, some nodes ahead.
    template <class LevelOf, class FetchNode>
    int settle(const Cluster& cluster, std::span<const int> due, LevelOf level_of, FetchNode fetch_node);

    // The best, best first, at most `count`: `found` gives the level of a node of which a bound is known.
    template <class Found>
    void best(const Cluster& cluster, std::size_t count, Found found, std::vector<Spot>& out);
    template <class Found>
    Spot best(const Cluster& cluster, Found found);

  private:
    // The highest of all; true if it is found and not but a bound.
    template <class Found>
    bool find_top(const Cluster& cluster, Found found, Spot& out);

    MaxTree tree_;                    // by rank
    std::vector<std::int8_t> cards_;  // by rank, the card the policy chose, or -1, or `unfound`
    bool stale_ = false;
};

template <class LevelOf, class FetchNode>
int Levels::settle(const Cluster& cluster, std::span<const int> due, LevelOf level_of, FetchNode fetch_node) {
    int looked = 0;
    const auto look = [&](int n, std::size_t rank) {
        ++looked;
        const Level level = level_of(n);
        cards_[rank] = static_cast<std::int8_t>(level.card);
        return level.value;
    };
    if (std::exchange(stale_, false)) {
        for (std::size_t rank = 0; rank < cards_.size(); ++rank)
            if (tree_.at(rank) >= 0) tree_.put(rank, look(cluster.by_name()[rank], rank));
        tree_.climb();
    }
    // the whole tree anew is sooner done than so many paths
    const bool many = due.size() > cards_.size() / 32;
    constexpr std::size_t ahead = 8;
    const auto rank_of = [&](std::size_t i) { return static_cast<std::size_t>(cluster.rank(due[i])); };
    for (std::size_t i = 0; i < due.size(); ++i) {
        if (i + ahead < due.size()) tree_.fetch(rank_of(i + ahead)), fetch_node(due[i + ahead]);
        const auto rank = rank_of(i);
        const auto value = look(due[i], rank);
        many ? tree_.put(rank, value) : tree_.set(rank, value);
    }
    if (many) tree_.climb();
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
