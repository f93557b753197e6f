#include "place/levels.h"

namespace crater::engine {

void Levels::reset(const Cluster& cluster) {
    const auto nodes = static_cast<std::size_t>(cluster.size());
    tree_.reset(nodes);
    cards_.assign(nodes, -1);
    stale_ = false;
}

}  // namespace crater::engine
