#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

bool memory_load_asked(const Shape& shape) {
    (void)shape;
    return true;
}

bool memory_load_passes(const Look& look) {
    return look.when != When::now || look.node.live.memory <= look.settings().memory_threshold * 1000;
}

std::string memory_load_says(const Look& look) {
    return "its memory is in use to " + std::to_string(look.node.live.memory / 10) + " %, the threshold is " +
           std::to_string(static_cast<int>(look.settings().memory_threshold * 100 + 0.5)) + " %";
}

}  // namespace

extern const Filter memory_load;
const Filter memory_load{36,
                         Kind::live,
                         "memory_load",
                         "resources.memory.size",
                         "Live use of its memory below the threshold.",
                         memory_load_asked,
                         memory_load_passes,
                         memory_load_says};

}  // namespace crater::engine::filter
