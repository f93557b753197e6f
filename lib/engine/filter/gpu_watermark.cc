#include <bit>

#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

bool gpu_watermark_asked(const Shape& shape) { return shape.cards > 0; }

bool gpu_watermark_passes(const Look& look) {
    return std::popcount(look.cards.watermark) >= look.shape.cards;
}

// Of the card with room whose real use is the least.
std::string gpu_watermark_says(const Look& look) {
    std::int64_t least = -1, total = 0, index = 0;
    for (std::size_t c = 0; c < look.node.cards.size(); ++c) {
        if (!((look.cards.slots & ~look.cards.watermark) >> c & 1)) continue;
        const auto used = look.node.live.memory_on(c);
        if (least >= 0 && used >= least) continue;
        least = used, total = look.card_memory(c), index = look.node.cards[c].index;
    }
    if (least < 0) return "its cards with room are in real use above the watermark";
    const auto watermark =
        static_cast<std::int64_t>(static_cast<double>(total) * look.settings().safety_watermark);
    return "of card " + std::to_string(index) + " " + used_words(least, total) +
           " are in real use, the watermark is " + gib_words(watermark);
}

}  // namespace

extern const Filter gpu_watermark;
const Filter gpu_watermark{47,
                           Kind::live,
                           "gpu_watermark",
                           "resources.gpu.memory",
                           "Real use of a card's memory below the safety watermark.",
                           gpu_watermark_asked,
                           gpu_watermark_passes,
                           gpu_watermark_says};

}  // namespace crater::engine::filter
