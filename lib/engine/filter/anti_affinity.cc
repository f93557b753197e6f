#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

// Tasks on the node that it may not stand beside. Its own are no other job's, whatever their labels.
std::int64_t in_the_way(const Look& look) {
    if (look.shape.crowd < 0) return 0;
    std::int64_t tasks = 0;
    for (const auto& use : look.books.crowds[static_cast<std::size_t>(look.n)]) {
        if (use.crowd == look.shape.crowd)
            tasks += look.shape.crowd_apart ? use.tasks - look.own_tasks : 0;
        else if (look.cluster.crowds().apart(look.shape.crowd, use.crowd))
            tasks += use.tasks;
    }
    return tasks;
}

bool anti_affinity_asked(const Shape& shape) { return shape.spread_tasks || shape.crowd >= 0; }

bool anti_affinity_passes(const Look& look) {
    return (!look.shape.spread_tasks || look.own_tasks == 0) && in_the_way(look) == 0;
}

std::string anti_affinity_says(const Look& look) {
    if (const auto tasks = in_the_way(look); tasks > 0)
        return count_words(tasks, "task is on it that shares no node with this job",
                           "tasks are on it that share no node with this job");
    return "another task of the same job is on it (anti_affinity.spread_tasks)";
}

}  // namespace

extern const Filter anti_affinity;
const Filter anti_affinity{40,
                           Kind::room,
                           "anti_affinity",
                           "anti_affinity",
                           "No task beside it that it is to be apart from.",
                           anti_affinity_asked,
                           anti_affinity_passes,
                           anti_affinity_says};

}  // namespace crater::engine::filter
