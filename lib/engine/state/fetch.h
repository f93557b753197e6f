// Asking the memory for what will be read soon: jobs and nodes of one decision lie anywhere, and waiting for
// them one after the other takes longer than deciding.
#pragma once

#include <cstddef>

namespace crater::engine {

inline void fetch(const void* from, std::size_t bytes = 1) {
    const auto* at = static_cast<const char*>(from);
    for (std::size_t i = 0; i < bytes; i += 64) __builtin_prefetch(at + i);
}

}  // namespace crater::engine
