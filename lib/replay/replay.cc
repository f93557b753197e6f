#include "crater/replay/replay.h"

#include <algorithm>

namespace crater::replay {
namespace {

constexpr Instant begin{1'700'000'000'000};
constexpr Millis between{1'000};

}  // namespace

double Decisions::per_second() const {
    return static_cast<double>(placements.size()) * 1e6 /
           static_cast<double>(std::max<std::int64_t>(1, micros));
}

Decisions replay(const Trace& trace, Placer& placer, const Clock& clock, const Progress& progress) {
    Decisions out;
    out.placements.reserve(trace.arrivals.size());
    const auto all = static_cast<std::int64_t>(trace.arrivals.size());
    const auto step = std::max<std::int64_t>(1, all / 1000);
    const auto started = clock.ticks_us();
    for (std::int64_t i = 0; i < all; ++i) {
        out.placements.push_back(
            placer.arrive({i, trace.arrivals[static_cast<std::size_t>(i)], begin + between * i}));
        if (progress && i % step == 0) progress(i, all);
    }
    out.micros = clock.ticks_us() - started;
    if (progress) progress(all, all);
    return out;
}

}  // namespace crater::replay
