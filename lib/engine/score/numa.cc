#include "score/score.h"

namespace crater::engine::score {
namespace {

double numa_value(const Look& look, const Choice& choice) {
    if (look.shape.cards == 0 || look.shape.numa == NumaPolicy::none) return 1;
    if (choice.domain >= 0 && choice.domain == choice.home) return 1;
    return choice.home >= 0 ? 0.5 : 0;
}

}  // namespace

extern const Score numa;
const Score numa{"numa", "Whether cores and memory are next to the cards.", numa_value};

}  // namespace crater::engine::score
