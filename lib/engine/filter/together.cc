#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

bool together_asked(const Shape& shape) {
    (void)shape;
    return true;
}

bool together_passes(const Look& look) { return look.choice().has_value(); }

std::string together_says(const Look& look) {
    if (look.shape.numa == NumaPolicy::strict)
        return "no NUMA domain of it has everything at once (numa_binding_policy is strict)";
    return "no disk of it has everything at once";
}

}  // namespace

extern const Filter together;
const Filter together{60,
                      Kind::room,
                      "together",
                      "numa_binding_policy",
                      "All parts can be had at once, in one NUMA domain where asked.",
                      together_asked,
                      together_passes,
                      together_says};

}  // namespace crater::engine::filter
