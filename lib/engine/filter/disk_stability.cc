#include <algorithm>

#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

double steadiest(const Node& node) {
    double best = 0;
    for (const auto& disk : node.disks) best = std::max(best, disk.stability);
    return best;
}

std::string percent(double part) { return std::to_string(static_cast<int>(part * 100 + 0.5)) + " %"; }

bool disk_stability_asked(const Shape& shape) { return shape.disk_stability > 0; }

bool disk_stability_passes(const Look& look) { return steadiest(look.node) >= look.shape.disk_stability; }

std::string disk_stability_says(const Look& look) {
    return "needs a disk stability of " + percent(look.shape.disk_stability) + ", its best disk has " +
           percent(steadiest(look.node));
}

}  // namespace

extern const Filter disk_stability;
const Filter disk_stability{26,
                            Kind::fixed,
                            "disk_stability",
                            "resources.disk.iops_stability_ratio",
                            "Stability of a disk under load.",
                            disk_stability_asked,
                            disk_stability_passes,
                            disk_stability_says};

}  // namespace crater::engine::filter
