#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

bool disk_load_asked(const Shape& shape) {
    (void)shape;
    return true;
}

bool disk_load_passes(const Look& look) {
    return look.when != When::now || look.node.live.disk <= look.settings().disk_io_threshold * 1000;
}

std::string disk_load_says(const Look& look) {
    return "its disks are in use to " + std::to_string(look.node.live.disk / 10) + " %, the threshold is " +
           std::to_string(static_cast<int>(look.settings().disk_io_threshold * 100 + 0.5)) + " %";
}

}  // namespace

extern const Filter disk_load;
const Filter disk_load{36,
                       Kind::live,
                       "disk_load",
                       "resources.disk",
                       "Live use of its disks below the threshold.",
                       disk_load_asked,
                       disk_load_passes,
                       disk_load_says};

}  // namespace crater::engine::filter
