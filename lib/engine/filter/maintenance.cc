#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

bool maintenance_asked(const Shape& shape) {
    (void)shape;
    return true;
}

bool maintenance_passes(const Look& look) {
    return look.when != When::now || look.shape.length <= look.node.open_for;
}

std::string maintenance_says(const Look& look) {
    if (look.node.open_for == Node::closed) return "it is under maintenance";
    return "its maintenance begins before a job of " + time_words(std::chrono::minutes(look.shape.length)) +
           " that starts now would end";
}

}  // namespace

extern const Filter maintenance;
const Filter maintenance{11,
                         Kind::state,
                         "maintenance",
                         "time_limit",
                         "Done before the node's maintenance begins.",
                         maintenance_asked,
                         maintenance_passes,
                         maintenance_says};

}  // namespace crater::engine::filter
