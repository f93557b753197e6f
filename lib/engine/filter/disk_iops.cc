#include <algorithm>

#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

std::int64_t iops_free(const Look& look) {
    std::int64_t best = 0;
    for (std::size_t k = 0; k < look.node.disks.size(); ++k)
        if (look.disk_serves(k)) best = std::max(best, look.node.disks[k].iops - look.disk(k).iops);
    return best;
}

std::int64_t iops_total(const Look& look) {
    std::int64_t best = 0;
    for (std::size_t k = 0; k < look.node.disks.size(); ++k)
        if (look.disk_serves(k)) best = std::max(best, look.node.disks[k].iops);
    return best;
}

bool disk_iops_asked(const Shape& shape) { return shape.disk_iops > 0; }

bool disk_iops_passes(const Look& look) { return look.shape.disk_iops <= iops_free(look); }

std::string disk_iops_says(const Look& look) {
    if (iops_total(look) == 0)
        return "what its disks can do is not known (crater-probe calibrate measures it)";
    return "needs " + std::to_string(look.shape.disk_iops) + " IOPS" + " on one disk, " +
           (look.when == When::empty ? "at most " : "free are ") + std::to_string(iops_free(look)) + " IOPS";
}

Measure disk_iops_measure(const Look& look) {
    return {"IOPS", static_cast<double>(look.shape.disk_iops), static_cast<double>(iops_free(look)),
            static_cast<double>(iops_total(look))};
}

}  // namespace

extern const Filter disk_iops;
const Filter disk_iops{51,
                       Kind::room,
                       "disk_iops",
                       "resources.disk.iops",
                       "Reserved disk operations per second.",
                       disk_iops_asked,
                       disk_iops_passes,
                       disk_iops_says,
                       disk_iops_measure};

}  // namespace crater::engine::filter
