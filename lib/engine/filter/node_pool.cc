#include <algorithm>

#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

bool node_pool_asked(const Shape& shape) { return !shape.node.pool.empty(); }

bool node_pool_passes(const Look& look) {
    const auto& pools = look.node.inventory->pools;
    return std::find(pools.begin(), pools.end(), look.shape.node.pool) != pools.end();
}

std::string node_pool_says(const Look& look) { return "is not in the pool " + look.shape.node.pool; }

}  // namespace

extern const Filter node_pool;
const Filter node_pool{22,
                       Kind::fixed,
                       "node_pool",
                       "node.pool",
                       "Named pool the node must belong to.",
                       node_pool_asked,
                       node_pool_passes,
                       node_pool_says};

}  // namespace crater::engine::filter
