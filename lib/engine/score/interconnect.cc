#include "score/score.h"

namespace crater::engine::score {
namespace {

double interconnect_value(const Look& look, const Choice& choice) {
    if (look.shape.cards <= 1 || choice.linked) return 1;
    return choice.home >= 0 ? 0.6 : 0.2;
}

}  // namespace

extern const Score interconnect;
const Score interconnect{"interconnect",
                         "How well the cards it gets are linked: NVLink, else one NUMA domain.",
                         interconnect_value};

}  // namespace crater::engine::score
