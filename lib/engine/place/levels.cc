#include "place/levels.h"

namespace crater::engine {

void Levels::reset(const Cluster& cluster) {
    const auto nodes = static_cast<std::size_t>(cluster.size());
    tree_.reset(nodes);
    cards_.assign(nodes, -1);
    is_pending_.assign((nodes + 63) / 64, 0);
    pending_.clear();
    stale_ = false;
}

void Levels::pend(int n) {
    std::uint64_t& word = is_pending_[static_cast<std::size_t>(n) / 64];
    const std::uint64_t bit = std::uint64_t{1} << (n % 64);
    if (word & bit) return;
    word |= bit;
    pending_.push_back(n);
}

}  // namespace crater::engine
