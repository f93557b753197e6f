#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

std::int64_t fastest(const Node& node) {
    std::int64_t best = 0;
    for (const auto& disk : node.disks)
        if (disk.latency > 0 && (best == 0 || disk.latency < best)) best = disk.latency;
    return best;
}

bool disk_latency_asked(const Shape& shape) { return shape.disk_latency_max > 0; }

bool disk_latency_passes(const Look& look) {
    return fastest(look.node) > 0 && fastest(look.node) <= look.shape.disk_latency_max;
}

std::string disk_latency_says(const Look& look) {
    const auto best = fastest(look.node);
    if (best == 0) return "the latency of its disks is not known (crater-probe calibrate measures it)";
    return "needs " + std::to_string(look.shape.disk_latency_max) +
           " us of disk latency, its fastest disk has " + std::to_string(best) + " us";
}

}  // namespace

extern const Filter disk_latency;
const Filter disk_latency{25,
                          Kind::fixed,
                          "disk_latency",
                          "resources.disk.latency_us_max",
                          "Mean random-read latency of a disk.",
                          disk_latency_asked,
                          disk_latency_passes,
                          disk_latency_says};

}  // namespace crater::engine::filter
