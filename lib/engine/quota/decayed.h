// An amount of use that counts half after each half-life. Whole numbers only: how far it has decayed depends
// on which steps of the clock passed, each the 256th part of a half-life.
#pragma once

#include <cstdint>

#include "crater/base/quantity.h"

namespace crater::engine {

std::int64_t decayed(std::int64_t amount, std::int64_t steps);

struct Decayed {
    std::int64_t amount = 0;  // milli-GPU-milliseconds, as of `since`
    Instant since;

    // Brings it up to `now`; `rate` (milli-GPU) was used all the time since. Going back in time changes
    // nothing.
    void settle(Instant now, std::int64_t rate, Millis half_life);
};

}  // namespace crater::engine
