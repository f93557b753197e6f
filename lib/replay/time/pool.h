// Free whole cards of a cluster, for the schedulers that are compared with: they give whole cards, also to
// work that asks for a part of one.
#pragma once

#include <vector>

#include "crater/replay/workload.h"

namespace crater::replay {

enum class Fit { first, tightest };

class Pool {
  public:
    explicit Pool(const Fleet& fleet);
    // All tasks of the job, or an empty answer. Takes nothing.
    std::vector<int> find(const TimedJob& job, Fit fit) const;
    void take(const std::vector<int>& cards);
    void give_back(const std::vector<int>& cards);

    int nodes() const { return static_cast<int>(free_.size()); }
    int free() const { return total_; }
    int free_on(int node) const { return free_[static_cast<std::size_t>(node)]; }
    int node_of(int card) const { return card / fleet_.cards; }
    // The lowest free cards of a node.
    void append(int node, int wanted, std::vector<int>& out) const;

  private:
    Fleet fleet_;
    std::vector<int> free_;
    std::vector<char> taken_;
    int total_ = 0;
};

// Whether the tasks would fit so many free cards on each node.
bool would_fit(const TimedJob& job, const std::vector<int>& free);

}  // namespace crater::replay
