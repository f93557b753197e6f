#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

bool disk_kind_asked(const Shape& shape) { return shape.wants_disk; }

bool disk_kind_passes(const Look& look) {
    for (std::size_t k = 0; k < look.node.disks.size(); ++k)
        if (look.disk_serves(k)) return true;
    return false;
}

std::string disk_kind_says(const Look& look) {
    return look.node.disks.empty() ? "it has no disk for tasks"
                                   : "no disk of it meets latency, random read and stability at once";
}

}  // namespace

extern const Filter disk_kind;
const Filter disk_kind{27,
                       Kind::fixed,
                       "disk_kind",
                       "resources.disk",
                       "One disk meets all thresholds at once.",
                       disk_kind_asked,
                       disk_kind_passes,
                       disk_kind_says};

}  // namespace crater::engine::filter
