#include "draw.h"

#include <cmath>
#include <numbers>
#include <numeric>

namespace crater::replay {

double draw_uniform(Rng& rng) { return static_cast<double>(rng.next() >> 11) * 0x1p-53; }
double draw_exponential(Rng& rng, double mean) { return -std::log(1 - draw_uniform(rng)) * mean; }
double draw_normal(Rng& rng) {
    const double radius = std::sqrt(-2 * std::log(1 - draw_uniform(rng)));
    return radius * std::cos(2 * std::numbers::pi * draw_uniform(rng));
}

std::size_t draw_weighted(Rng& rng, const std::vector<double>& weights) {
    double left = draw_uniform(rng) * std::accumulate(weights.begin(), weights.end(), 0.0);
    for (std::size_t i = 0; i + 1 < weights.size(); ++i)
        if ((left -= weights[i]) < 0) return i;
    return weights.size() - 1;
}

std::vector<Millis> told_durations(const Workload& workload, const TimedOptions& options) {
    std::vector<Millis> out(workload.jobs.size());
    if (options.durations == Durations::unknown) return out;
    SeededRng rng(options.seed);
    for (std::size_t j = 0; j < out.size(); ++j) {
        const double factor =
            options.durations == Durations::noisy ? std::exp(options.noise * draw_normal(rng)) : 1;
        const auto told = static_cast<double>(workload.jobs[j].run_time.count()) * factor;
        out[j] = Millis(std::max<std::int64_t>(1, std::llround(told)));
    }
    return out;
}

}  // namespace crater::replay
