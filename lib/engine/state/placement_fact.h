// The hash of "this task holds these slices of this node": the same from the slices that were chosen and from
// the allocation that was stored, so that an engine rebuilt from the store has the hash of the one that
// decided. Cards go by their index on the node, cores by the CPUs they consist of; card UUIDs are not part of
// it.
#pragma once

#include <cstdint>

#include "crater/model/allocation.h"
#include "state/ledger.h"

namespace crater::engine {

// A number of a set: sets go into a fact as sums of these, so that their order does not matter.
inline std::uint64_t mixed(std::int64_t value) {
    auto x = static_cast<std::uint64_t>(value) + 0x9e3779b97f4a7c15;  // SplitMix64
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

// `job`: a hash of the job's id.
std::uint64_t placement_fact(std::uint64_t job, std::int64_t task, const Allocation& allocation);
std::uint64_t placement_fact(std::uint64_t job, std::int64_t task, const Node& node, const Slices& slices);

}  // namespace crater::engine
