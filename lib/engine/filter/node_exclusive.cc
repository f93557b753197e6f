#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

bool node_exclusive_asked(const Shape& shape) {
    (void)shape;
    return true;
}

bool node_exclusive_passes(const Look& look) {
    if (look.shape.node.exclusive) return look.use().tasks == look.own_tasks;
    return look.use().exclusive == 0;
}

std::string node_exclusive_says(const Look& look) {
    if (!look.shape.node.exclusive) return "another job has the whole node";
    return "needs the node for itself, " +
           count_words(look.use().tasks - look.own_tasks, "task of another job is",
                       "tasks of other jobs are") +
           " on it";
}

}  // namespace

extern const Filter node_exclusive;
const Filter node_exclusive{40,
                            Kind::room,
                            "node_exclusive",
                            "node.exclusive",
                            "Jobs that want a node for themselves get it.",
                            node_exclusive_asked,
                            node_exclusive_passes,
                            node_exclusive_says};

}  // namespace crater::engine::filter
