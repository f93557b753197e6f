// What the survey of a job's shape came to, for the parts of an answer that go on from there.
#pragma once

#include <vector>

#include "engine_impl.h"

namespace crater::engine {

struct Engine::Impl::Found {
    Lacks binding = 0;         // what most of the nodes of its kind lack first; 0: nothing
    std::vector<int> nearest;  // by rank, the nodes nearest to taking it
};

}  // namespace crater::engine
