// From placements to the published figures.
#include <cmath>

#include "cluster.h"
#include "crater/replay/replay.h"
#include "fragmentation.h"

namespace crater::replay {
namespace {

struct Sum {
    double allocation = 0, fragmentation = 0;
    int events = 0;
};

double percent(double part, double all) { return 100 * part / all; }
// Each event's allocation is published in hundredths of a percent.
double in_hundredths(double percentage) { return std::round(percentage * 100) / 100; }

}  // namespace

Figures measure(const Trace& trace, const std::vector<Placement>& placements) {
    CRATER_CHECK(placements.size() == trace.arrivals.size(), "one placement per arrival");
    Figures out;
    out.gpu = trace.gpu();
    const auto all = static_cast<double>(out.gpu);
    auto servers = empty_cluster(trace);
    Fragmentation fragmentation(typical_pods(trace));
    std::vector<double> wasted;
    for (const auto& server : servers) wasted.push_back(fragmentation.of(server));

    std::array<Sum, loads.size()> sums;
    std::int64_t arrived = 0;
    for (std::size_t i = 0; i < placements.size(); ++i) {
        const auto& request = trace.requests[static_cast<std::size_t>(trace.arrivals[i])];
        arrived += request.gpu();
        ++out.arrived;
        if (const auto& placement = placements[i]) {
            const auto s = static_cast<std::size_t>(placement.server);
            take(servers[s], request, placement.cards);
            wasted[s] = fragmentation.of(servers[s]);
            out.used += request.gpu();
            ++out.placed;
        }
        const auto load = std::lround(percent(static_cast<double>(arrived), all));
        for (std::size_t l = 0; l < loads.size(); ++l) {
            if (loads[l] != load) continue;
            double sum = 0;
            for (const double milli : wasted) sum += milli;
            sums[l].allocation += in_hundredths(percent(static_cast<double>(out.used), all));
            sums[l].fragmentation += percent(sum, all);
            ++sums[l].events;
        }
    }
    for (std::size_t l = 0; l < loads.size(); ++l) {
        if (sums[l].events == 0) continue;
        out.allocation[l] = sums[l].allocation / sums[l].events;
        out.fragmentation[l] = sums[l].fragmentation / sums[l].events;
    }
    return out;
}

}  // namespace crater::replay
