// What is known of every node for one shape: the filter it fails, or its score. Kept current from the
// cluster's list of changed nodes, with the best node on top of a tree, so that placing the next equal task
// costs one node looked at, not all of them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "place/look.h"

namespace crater::engine {

// A level (place/level.h), or -1 with the filter that turned the node away.
inline constexpr std::uint8_t absent = 255;  // the node is no more: no filter's doing
struct Verdict {
    std::int32_t score = -1;
    std::uint8_t filter = 0;
    bool fits() const { return score >= 0; }
};
// Looks at one node. `known_fixed`: the filters of what the node is were passed before.
Verdict evaluate(const Look& look, bool known_fixed = false);
// The first filter of what the node is that it fails; -1 when it passes them all.
int fixed_filter(const Look& look);
// The first standing filter that it fails; -1 when it passes them all.
int standing_filter(const Look& look);
std::int32_t score_of(const Look& look);  // of a weighted policy, in millionths

class Column {
  public:
    // Brings it up to date; gives the number of nodes looked at. `own_tasks`: as in Look, by node, may be
    // null.
    int refresh(const Shape& shape, const Cluster& cluster,
                const std::vector<std::int64_t>* own_tasks = nullptr);

    int best() const;                                                  // node, -1 when none fits
    std::vector<int> best(const Cluster& cluster, std::size_t count);  // nodes, best first
    Verdict at(int rank) const { return entries_[static_cast<std::size_t>(rank)].verdict; }
    bool right_kind(int rank) const {
        return entries_[static_cast<std::size_t>(rank)].fixed < 0;
    }  // passes what the node is
    int rejected(std::size_t filter) const { return rejected_[filter]; }
    std::size_t size() const { return entries_.size(); }

  private:
    struct Entry {
        std::uint64_t version = 0;  // of the node when it was looked at
        std::uint32_t hardware = 0;
        std::int16_t fixed = -1;  // fixed filter it fails, while `hardware` holds
        Verdict verdict;
        bool counted = false;
    };

    void look_at(int n, const Shape& shape, const Cluster& cluster,
                 const std::vector<std::int64_t>* own_tasks);
    void set_leaf(std::size_t rank, std::int32_t score);
    std::size_t top() const;

    std::uint64_t layout_ = 0, synced_ = 0;
    bool filled_ = false;
    std::vector<Entry> entries_;      // by rank of the node
    std::vector<std::int32_t> tree_;  // maxima; the leaves are scores by rank
    std::vector<int> node_of_;
    std::size_t leaves_ = 0;
    std::array<int, 64> rejected_{};
};

}  // namespace crater::engine
