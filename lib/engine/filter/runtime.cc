#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

bool runtime_asked(const Shape& shape) {
    (void)shape;
    return true;
}

bool runtime_passes(const Look& look) {
    return look.shape.image ? look.node.runs_images : look.node.runs_processes;
}

std::string runtime_says(const Look& look) {
    return look.shape.image ? "cannot run images (no docker runtime)" : "cannot run plain processes";
}

}  // namespace

extern const Filter runtime;
const Filter runtime{23,
                     Kind::fixed,
                     "runtime",
                     "image",
                     "The node can start this kind of task.",
                     runtime_asked,
                     runtime_passes,
                     runtime_says};

}  // namespace crater::engine::filter
