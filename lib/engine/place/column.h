// What is known of every node for one shape: the filter it fails, or its score. Kept current from the
// cluster's list of changed nodes, with the best node on top of a tree, so that placing the next equal task
// costs one node looked at, not all of them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "place/judge.h"

namespace crater::engine {

class Column {
  public:
    // Brings it up to date; gives the number of nodes looked at. `own_tasks`: as in Look, by node, may be
    // null.
    int refresh(int shape, const Judge& judge, const std::vector<std::int64_t>* own_tasks = nullptr);

    int best() const;                                                  // node, -1 when none fits
    std::vector<int> best(std::size_t count);  // nodes, best first
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

    void look_at(int n, int shape, const Judge& judge, const std::vector<std::int64_t>* own_tasks);
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
