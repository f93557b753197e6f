#include "score/score.h"

namespace crater::engine::score {
namespace {

double gpu_thrift_value(const Look& look, const Choice& choice) {
    (void)choice;
    return look.shape.cards == 0 && !look.node.cards.empty() ? 0 : 1;
}

}  // namespace

extern const Score gpu_thrift;
const Score gpu_thrift{"gpu_thrift", "Work without a GPU stays off nodes that have them.", gpu_thrift_value};

}  // namespace crater::engine::score
