#include <algorithm>

#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

std::int64_t bandwidth_total(const Node& node) {
    std::int64_t best = 0;
    for (const auto& domain : node.domains) best = std::max(best, domain.bandwidth);
    return best;
}

bool memory_bandwidth_asked(const Shape& shape) { return shape.bandwidth > 0; }

bool memory_bandwidth_passes(const Look& look) { return look.shape.bandwidth <= look.bandwidth_free_max(); }

std::string memory_bandwidth_says(const Look& look) {
    const auto total = bandwidth_total(look.node);
    if (total == 0) return "its memory bandwidth is not known (crater-probe calibrate measures it)";
    return "needs " + rate_words(look.shape.bandwidth) + " of memory bandwidth in one NUMA domain, " +
           (look.when == When::empty ? "at most " : "free are ") + rate_words(look.bandwidth_free_max());
}

Measure memory_bandwidth_measure(const Look& look) {
    return {"bytes/s", static_cast<double>(look.shape.bandwidth),
            static_cast<double>(look.bandwidth_free_max()), static_cast<double>(bandwidth_total(look.node))};
}

}  // namespace

extern const Filter memory_bandwidth;
const Filter memory_bandwidth{48,
                              Kind::room,
                              "memory_bandwidth",
                              "resources.memory.bandwidth",
                              "Memory bandwidth in one NUMA domain.",
                              memory_bandwidth_asked,
                              memory_bandwidth_passes,
                              memory_bandwidth_says,
                              memory_bandwidth_measure};

}  // namespace crater::engine::filter
