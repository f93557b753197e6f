#include "filter/filter.h"
#include "place/cards.h"

namespace crater::engine::filter {
namespace {

bool gpu_interconnect_asked(const Shape& shape) {
    return shape.cards > 1 && shape.interconnect != Interconnect::any;
}

bool gpu_interconnect_passes(const Look& look) { return pick_cards(look, look.cards.load).has_value(); }

std::string gpu_interconnect_says(const Look& look) {
    const auto wanted = std::to_string(look.shape.cards);
    if (look.shape.interconnect == Interconnect::nvlink)
        return "no " + wanted + " of its free cards are linked by NVLink";
    return "no " + wanted + " of its free cards are in one NUMA domain";
}

}  // namespace

extern const Filter gpu_interconnect;
const Filter gpu_interconnect{53,
                              Kind::room,
                              "gpu_interconnect",
                              "resources.gpu.interconnect",
                              "The cards are linked as asked.",
                              gpu_interconnect_asked,
                              gpu_interconnect_passes,
                              gpu_interconnect_says};

}  // namespace crater::engine::filter
