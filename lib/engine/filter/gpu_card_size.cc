#include <bit>
#include <utility>

#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

// Of the cards that are right otherwise.
const CardType* largest(const Look& look) {
    if (!look.cards.precision) return nullptr;
    if (!look.node.mixed) return &look.cluster.type(look.node.card_type);
    const CardType* best = nullptr;
    for (std::size_t c = 0; c < look.node.cards.size(); ++c) {
        const CardType& type = look.cluster.type(look.node.cards[c].type);
        if ((look.cards.precision >> c & 1) && (!best || type.nominal > best->nominal)) best = &type;
    }
    return best;
}
std::int64_t size_of(const CardType* type) { return type ? type->nominal : 0; }

bool gpu_card_size_asked(const Shape& shape) { return shape.gpu_memory > 0; }

bool gpu_card_size_passes(const Look& look) { return std::popcount(look.cards.size) >= look.shape.cards; }

std::string gpu_card_size_says(const Look& look) {
    const CardType* const type = largest(look);
    const auto size = size_of(type);
    const auto needs = "needs " + mib_words(look.shape.gpu_memory) + " on one card, ";
    if (look.shape.cards > 1 && size >= look.shape.gpu_memory)
        return needs + std::to_string(std::popcount(look.cards.size)) + " of the " +
               std::to_string(look.shape.cards) + " cards wanted are that large";
    return needs + "its largest has " + mib_words(size) + " (" + (type ? type->model : "") + ")";
}

Measure gpu_card_size_measure(const Look& look) {
    const auto size = static_cast<double>(size_of(largest(look)));
    return {"MiB", static_cast<double>(look.shape.gpu_memory), size, size};
}

}  // namespace

extern const Filter gpu_card_size;
const Filter gpu_card_size{33,
                           Kind::fixed,
                           "gpu_card_size",
                           "resources.gpu.memory",
                           "The memory asked for is on one card at all.",
                           gpu_card_size_asked,
                           gpu_card_size_passes,
                           gpu_card_size_says,
                           gpu_card_size_measure};

}  // namespace crater::engine::filter
