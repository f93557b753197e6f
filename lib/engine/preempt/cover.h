// The cheapest jobs whose cards, wherever they lie, are enough together: for gangs of one-card tasks that may
// go anywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "crater/base/quantity.h"

namespace crater::engine {

struct Leaver {
    int job = -1, priority = 0;
    std::int64_t cost = 0;
    Instant started;
    std::int64_t cards = 0;
};

// Of all sets that hold `wanted` cards or more the one with the lowest highest priority, then the least cost,
// the fewest jobs, the latest start; of equal ones those that come first. Nothing when all together hold too
// few. Costs are above zero or jobs count: no member can be left out.
std::optional<std::vector<int>> cheapest_cover(std::vector<Leaver> leavers, std::int64_t wanted);

}  // namespace crater::engine
