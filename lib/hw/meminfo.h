// Memory of the machine, from /proc/meminfo.
#pragma once

#include "crater/base/quantity.h"
#include "tree.h"

namespace crater::hw {

struct MemoryFacts {
    Bytes total, available, swap_total, swap_free;
};

MemoryFacts read_memory(const Tree& tree);

}  // namespace crater::hw
