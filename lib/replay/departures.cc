#include "crater/replay/departures.h"

#include <algorithm>
#include <cmath>
#include <queue>

#include "cluster.h"

namespace crater::replay {
namespace {

constexpr double begin_ms = 1.7e12;

// Uniform in [0, 1), of 53 random bits.
double uniform(Rng& rng) { return static_cast<double>(rng.next() >> 11) * 0x1p-53; }
double exponential(Rng& rng, double mean) { return -std::log(1 - uniform(rng)) * mean; }
Instant instant(double ms) { return {std::llround(begin_ms + ms)}; }

struct Leaving {
    double at = 0;  // ms
    Arrival arrival;
    Placement placement;
};
// The earliest on top; of equal ones who came first.
struct Later {
    bool operator()(const Leaving& a, const Leaving& b) const {
        return a.at != b.at ? a.at > b.at : a.arrival.number > b.arrival.number;
    }
};

// Sums of GPU-time of the counted arrivals.
struct GpuTime {
    double offered = 0, refused = 0;
    double refused_percent() const { return offered > 0 ? 100 * refused / offered : 0; }
};

double mean_gpu(const Trace& trace) {
    double sum = 0;
    for (const int pod : trace.pods)
        sum += static_cast<double>(trace.requests[static_cast<std::size_t>(pod)].gpu());
    return sum / static_cast<double>(trace.pods.size());
}

}  // namespace

double LossFigures::decisions_per_second() const {
    return static_cast<double>(arrived) * 1e6 / static_cast<double>(std::max<std::int64_t>(1, micros));
}

LossFigures run_departures(const Trace& trace, Placer& placer, const DepartureOptions& options,
                           const Clock& clock, const Progress& progress) {
    LossFigures out;
    SeededRng rng(options.seed);
    auto servers = empty_cluster(trace);  // our own books: what the placer says must fit there
    std::priority_queue<Leaving, std::vector<Leaving>, Later> running;
    GpuTime all, multi_card;
    const auto cluster = static_cast<double>(trace.gpu());
    const auto holding = static_cast<double>(options.holding_mean.count());
    const double between = mean_gpu(trace) * holding / (options.offered * cluster);
    const auto first_counted =
        static_cast<std::int64_t>(static_cast<double>(options.arrivals) * options.uncounted);
    const auto step = std::max<std::int64_t>(1, options.arrivals / 1000);
    double now = 0, used_sum = 0;
    std::int64_t used = 0;
    const auto request_of = [&](const Arrival& arrival) -> const Request& {
        return trace.requests[static_cast<std::size_t>(arrival.request)];
    };

    const auto started = clock.ticks_us();
    for (std::int64_t i = 0; i < options.arrivals; ++i) {
        now += exponential(rng, between);
        for (; !running.empty() && running.top().at <= now; running.pop()) {
            const Leaving& gone = running.top();
            placer.leave(gone.arrival, gone.placement, instant(gone.at));
            give_back(servers[static_cast<std::size_t>(gone.placement.server)], request_of(gone.arrival),
                      gone.placement.cards);
            used -= request_of(gone.arrival).gpu();
        }
        const Arrival arrival{i, trace.pods[rng.below(trace.pods.size())], instant(now)};
        const double holds = exponential(rng, holding);
        const Request& request = request_of(arrival);
        const bool counted = i >= first_counted;
        used_sum += counted ? static_cast<double>(used) : 0;

        const Placement placement = placer.arrive(arrival);
        if (placement) {
            take(servers[static_cast<std::size_t>(placement.server)], request, placement.cards);
            used += request.gpu();
            running.push({now + holds, arrival, placement});
        }
        if (counted) {
            const double gpu_time = static_cast<double>(request.gpu()) * holds;
            const double lost = placement ? 0 : gpu_time;
            all.offered += gpu_time, all.refused += lost;
            if (request.cards > 1) multi_card.offered += gpu_time, multi_card.refused += lost;
            ++out.counted;
            out.refused += !placement;
        }
        if (progress && i % step == 0) progress(i, options.arrivals);
    }
    out.micros = clock.ticks_us() - started;
    out.arrived = options.arrivals;
    out.refused_percent = all.refused_percent();
    out.refused_multi_card_percent = multi_card.refused_percent();
    if (out.counted > 0) out.used_percent = 100 * used_sum / static_cast<double>(out.counted) / cluster;
    return out;
}

}  // namespace crater::replay
