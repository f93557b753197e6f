// What is known of every node for one shape: the filter it fails, or its level. For questions, which want to
// know why a node does not serve, and for jobs to which their own tasks matter; decisions about all others
// ask the index (place/seats.h). Kept current from the cluster's list of changed nodes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "place/judge.h"
#include "place/max_tree.h"

namespace crater::engine {

class Column {
  public:
    // Brings it up to date; gives the number of nodes looked at. `own_tasks`: as in Look, by node, may be
    // null.
    int refresh(int shape, const Judge& judge, const std::vector<std::int64_t>* own_tasks = nullptr);

    int best() const;                          // node, -1 when none fits
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

    std::uint64_t layout_ = 0, synced_ = 0;
    bool filled_ = false;
    std::vector<Entry> entries_;  // by rank of the node
    MaxTree tree_;                // levels by rank
    std::vector<int> node_of_;
    std::array<int, 64> rejected_{};
};

}  // namespace crater::engine
