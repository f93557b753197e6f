// What every process of the world has: a life that may end between any two things it does to others.
#pragma once

#include <memory>

#include "crater/scheduler/testing/virtual_loop.h"

namespace crater::sim {

// Shared by a process and everything through which it reaches others.
struct Life {
    bool leads = true;  // of a scheduler: no successor has its disk
    // nothing that it does reaches anybody any more; it is buried at the end of the step
    bool over = false;
    int actions_left = -1;  // it dies before the next one when this is 0; -1 = no end in sight

    // Asked before each thing that others would notice.
    bool acts() {
        if (over) return false;
        if (actions_left == 0) over = true;
        if (actions_left > 0) --actions_left;
        return !over;
    }
};
using LifePtr = std::shared_ptr<Life>;

}  // namespace crater::sim
