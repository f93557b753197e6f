#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

bool node_state_asked(const Shape& shape) {
    (void)shape;
    return true;
}

bool node_state_passes(const Look& look) { return look.when == When::empty || look.node.takes_work(); }

std::string node_state_says(const Look& look) {
    if (look.node.lost) return "its agent is not heard";
    return look.node.draining ? "it is being drained" : "it is gone";
}

}  // namespace

extern const Filter node_state;
const Filter node_state{10,
                        Kind::state,
                        "node_state",
                        "node",
                        "The node takes new work.",
                        node_state_asked,
                        node_state_passes,
                        node_state_says};

}  // namespace crater::engine::filter
