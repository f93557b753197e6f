#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

bool cpu_load_asked(const Shape& shape) {
    (void)shape;
    return true;
}

bool cpu_load_passes(const Look& look) {
    return look.when != When::now || look.node.live.cpu <= look.settings().cpu_threshold * 1000;
}

std::string cpu_load_says(const Look& look) {
    return "its CPU is in use to " + std::to_string(look.node.live.cpu / 10) + " %, the threshold is " +
           std::to_string(static_cast<int>(look.settings().cpu_threshold * 100 + 0.5)) + " %";
}

}  // namespace

extern const Filter cpu_load;
const Filter cpu_load{36,
                      Kind::live,
                      "cpu_load",
                      "resources.cpu.cores",
                      "Live use of its CPU below the threshold.",
                      cpu_load_asked,
                      cpu_load_passes,
                      cpu_load_says};

}  // namespace crater::engine::filter
