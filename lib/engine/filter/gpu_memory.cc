#include <algorithm>
#include <bit>
#include <utility>

#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

// What is needed on a card, and the most that one of the right cards has.
std::pair<std::int64_t, std::int64_t> slice(const Look& look) {
    std::int64_t needs = 0, most = 0;
    for (std::size_t c = 0; c < look.node.cards.size(); ++c) {
        if (!(look.cards.healthy >> c & 1)) continue;
        needs = needs == 0 ? look.need(c).memory : std::min(needs, look.need(c).memory);
        most = std::max(most, look.card_memory_free(c));
    }
    return {needs, most};
}

bool gpu_memory_asked(const Shape& shape) { return shape.cards > 0; }

bool gpu_memory_passes(const Look& look) { return std::popcount(look.cards.memory) >= look.shape.cards; }

std::string gpu_memory_says(const Look& look) {
    const auto [needs, most] = slice(look);
    if (look.shape.cards == 1)
        return "needs " + mib_words(needs) + " on one card, at most " + mib_words(most) +
               (look.when == When::now ? " free" : "");
    return "needs " + mib_words(needs) + " on each of " + std::to_string(look.shape.cards) + " cards, " +
           std::to_string(std::popcount(look.cards.memory)) + " have it free";
}

Measure gpu_memory_measure(const Look& look) {
    const auto [needs, most] = slice(look);
    std::int64_t total = 0;
    for (std::size_t c = 0; c < look.node.cards.size(); ++c)
        if (look.cards.inference >> c & 1) total = std::max(total, look.card_memory(c));
    return {"MiB", static_cast<double>(needs), static_cast<double>(most), static_cast<double>(total)};
}

}  // namespace

extern const Filter gpu_memory;
const Filter gpu_memory{43,
                        Kind::room,
                        "gpu_memory",
                        "resources.gpu.memory",
                        "Free memory in one piece on one card.",
                        gpu_memory_asked,
                        gpu_memory_passes,
                        gpu_memory_says,
                        gpu_memory_measure};

}  // namespace crater::engine::filter
