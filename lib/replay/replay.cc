#include "crater/replay/replay.h"

#include <algorithm>

namespace crater::replay {
namespace {

constexpr Instant begin{1'700'000'000'000};
constexpr Millis between{1'000};

}  // namespace

static double rate(std::int64_t decisions, std::int64_t micros) {
    return static_cast<double>(decisions) * 1e6 / static_cast<double>(std::max<std::int64_t>(1, micros));
}

double Decisions::per_second() const { return rate(static_cast<std::int64_t>(placements.size()), micros); }
double Decisions::per_second_learning_aside() const {
    return rate(static_cast<std::int64_t>(placements.size()) - learning, micros - learning_micros);
}

Decisions replay(const Trace& trace, Placer& placer, const Clock& clock, const Progress& progress) {
    Decisions out;
    out.placements.reserve(trace.arrivals.size());
    const auto all = static_cast<std::int64_t>(trace.arrivals.size());
    const auto step = std::max<std::int64_t>(1, all / 1000);
    const auto started = clock.ticks_us();
    auto before = started;
    for (std::int64_t i = 0; i < all; ++i) {
        out.placements.push_back(
            placer.arrive({i, trace.arrivals[static_cast<std::size_t>(i)], begin + between * i}));
        if (progress && i % step == 0) progress(i, all);
        const auto now = clock.ticks_us();
        if (placer.learned()) ++out.learning, out.learning_micros += now - before;
        before = now;
    }
    out.micros = before - started;
    if (progress) progress(all, all);
    return out;
}

}  // namespace crater::replay
