#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

bool memory_asked(const Shape& shape) { return shape.memory > 0; }

bool memory_passes(const Look& look) { return look.shape.memory <= look.memory_free(); }

std::string memory_says(const Look& look) {
    return "needs " + bytes_words(look.shape.memory) + " of memory, " +
           (look.when == When::empty ? "it has " : "free are ") + bytes_words(look.memory_free());
}

Measure memory_measure(const Look& look) {
    return {"bytes", static_cast<double>(look.shape.memory), static_cast<double>(look.memory_free()),
            static_cast<double>(look.node.memory)};
}

}  // namespace

extern const Filter memory;
const Filter memory{42,           Kind::room,    "memory",    "resources.memory.size", "Memory.",
                    memory_asked, memory_passes, memory_says, memory_measure};

}  // namespace crater::engine::filter
