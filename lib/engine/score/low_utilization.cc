#include <algorithm>
#include <numeric>

#include "score/score.h"

namespace crater::engine::score {
namespace {

// In steps of 5 %, as samples are looked at: smaller moves are not noticed.
double low_utilization_value(const Look& look, const Choice& choice) {
    (void)choice;
    const auto& live = look.node.live;
    constexpr int step = 50;
    if (look.node.cards.empty()) return 1 - std::min(1000, live.cpu / step * step) / 1000.0;
    const auto sum = std::accumulate(live.gpus.begin(), live.gpus.end(), 0,
                                     [](int all, int use) { return all + use / step * step; });
    return 1 - std::min(1.0, sum / (1000.0 * static_cast<double>(look.node.cards.size())));
}

bool low_utilization_asked(const Shape& shape) { return shape.low_utilization; }

}  // namespace

extern const Score low_utilization;
const Score low_utilization{
    "low_utilization",
    "For jobs with prefer_low_utilization: how little the node's cards, else its cores, are really used.",
    low_utilization_value, low_utilization_asked};

}  // namespace crater::engine::score
