#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

bool cpu_asked(const Shape& shape) { return shape.cpu > 0; }

bool cpu_passes(const Look& look) { return look.shape.cpu <= look.cpu_free(); }

std::string cpu_says(const Look& look) {
    const bool reserved = look.shape.cards == 0 && look.node.preprocessing > 0;
    return "needs " + core_words(look.shape.cpu) + ", " +
           (look.when == When::empty ? "it has " : "free are ") + core_words(look.cpu_free()) +
           (reserved ? " beside those kept for GPU tasks" : "");
}

Measure cpu_measure(const Look& look) {
    const auto total = look.node.cpu - (look.shape.cards == 0 ? look.node.preprocessing : 0);
    return {"cores", static_cast<double>(look.shape.cpu) / 1000, static_cast<double>(look.cpu_free()) / 1000,
            static_cast<double>(total) / 1000};
}

}  // namespace

extern const Filter cpu;
const Filter cpu{41,         Kind::room, "cpu",      "resources.cpu.cores", "Cores.", cpu_asked,
                 cpu_passes, cpu_says,   cpu_measure};

}  // namespace crater::engine::filter
