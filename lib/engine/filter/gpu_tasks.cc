#include <bit>

#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

bool gpu_tasks_asked(const Shape& shape) { return shape.cards > 0; }

bool gpu_tasks_passes(const Look& look) { return std::popcount(look.cards.slots) >= look.shape.cards; }

std::string gpu_tasks_says(const Look& look) {
    return "its cards with room already serve " + std::to_string(look.settings().max_tasks_per_gpu) +
           " tasks each";
}

}  // namespace

extern const Filter gpu_tasks;
const Filter gpu_tasks{46,
                       Kind::room,
                       "gpu_tasks",
                       "resources.gpu.count",
                       "At most max_tasks_per_gpu tasks share a card.",
                       gpu_tasks_asked,
                       gpu_tasks_passes,
                       gpu_tasks_says};

}  // namespace crater::engine::filter
