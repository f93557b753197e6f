// For tests: jobs that run exactly as long as they say.
#pragma once

#include "testing.h"

namespace crater::engine::testing {

inline constexpr Millis minute{60'000};
inline Instant at_minute(std::int64_t m) { return noon + m * minute; }

// `minutes` 0: nobody knows how long.
inline JobMaker timed(const std::string& id, std::int64_t gpus, std::int64_t minutes,
                      std::int64_t second = 0) {
    JobMaker out = a_job(id).gpus(gpus * 1000).at(second);
    if (minutes > 0) out.job.run_time = RunTime{minutes * minute, minutes * minute};
    return out;
}

}  // namespace crater::engine::testing
