// Keeping something by node up to date.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "state/cluster.h"

namespace crater::engine {

// Calls f(node, rank) for every node whose version is another since `synced`, or for all, the ones after it told to `soon` some nodes
// before: nodes lie anywhere. Versions come back with the state, so that what is in the list of changes may be as it was.
template <class Soon, class F>
void each_change(const Cluster& cluster, bool all, std::uint64_t& synced, std::vector<std::uint64_t>& versions, Soon soon, F f) {
    constexpr std::size_t ahead = 8;
    std::vector<int> changed;
    const auto see = [&](int n) {
        auto& seen = versions[static_cast<std::size_t>(cluster.rank(n))];
        if (std::exchange(seen, cluster.version(n)) != cluster.version(n) || all) changed.push_back(n);
    };
    const auto end = cluster.changes_end();
    if (all || synced < cluster.changes_begin() || end - synced > static_cast<std::size_t>(cluster.size())) {
        for (const int n : cluster.by_name()) see(n);
    } else {
        for (auto at = synced; at < end; ++at) see(cluster.change(at));
    }
    synced = end;
    for (std::size_t i = 0; i < changed.size(); ++i) {
        if (i + ahead < changed.size()) soon(changed[i + ahead], static_cast<std::size_t>(cluster.rank(changed[i + ahead])));
        f(changed[i], static_cast<std::size_t>(cluster.rank(changed[i])));
    }
}

}  // namespace crater::engine
