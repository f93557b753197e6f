#include <algorithm>

#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

std::int64_t disk_rate_free(const Look& look) {
    std::int64_t best = 0;
    for (std::size_t k = 0; k < look.node.disks.size(); ++k)
        if (look.disk_serves(k)) best = std::max(best, look.node.disks[k].bandwidth - look.disk(k).bandwidth);
    return best;
}

std::int64_t disk_rate_total(const Look& look) {
    std::int64_t best = 0;
    for (std::size_t k = 0; k < look.node.disks.size(); ++k)
        if (look.disk_serves(k)) best = std::max(best, look.node.disks[k].bandwidth);
    return best;
}

bool disk_bandwidth_asked(const Shape& shape) { return shape.disk_bandwidth > 0; }

bool disk_bandwidth_passes(const Look& look) { return look.shape.disk_bandwidth <= disk_rate_free(look); }

std::string disk_bandwidth_says(const Look& look) {
    if (disk_rate_total(look) == 0)
        return "what its disks can do is not known (crater-probe calibrate measures it)";
    return "needs " + rate_words(look.shape.disk_bandwidth) + " of disk bandwidth on one disk, " +
           (look.when == When::empty ? "at most " : "free are ") + rate_words(disk_rate_free(look));
}

Measure disk_bandwidth_measure(const Look& look) {
    return {"bytes/s", static_cast<double>(look.shape.disk_bandwidth),
            static_cast<double>(disk_rate_free(look)), static_cast<double>(disk_rate_total(look))};
}

}  // namespace

extern const Filter disk_bandwidth;
const Filter disk_bandwidth{52,
                            Kind::room,
                            "disk_bandwidth",
                            "resources.disk.read_mbps_min",
                            "Reserved disk bandwidth.",
                            disk_bandwidth_asked,
                            disk_bandwidth_passes,
                            disk_bandwidth_says,
                            disk_bandwidth_measure};

}  // namespace crater::engine::filter
