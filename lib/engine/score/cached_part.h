// How much of what a job names lies in a node's cache, by count: sizes are not always known.
#pragma once

#include <algorithm>

#include "state/node.h"

namespace crater::engine::score {

inline double cached_part(const DataKeys& wanted, const Node& node) {
    const auto there = std::count_if(wanted.begin(), wanted.end(),
                                     [&](std::uint64_t key) { return has_key(node.data, key); });
    return static_cast<double>(there) / static_cast<double>(wanted.size());
}

}  // namespace crater::engine::score
