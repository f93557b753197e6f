#include <algorithm>

#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

const Taint* not_tolerated(const Look& look) {
    for (const Taint& taint : look.node.taints) {
        const auto& tolerations = look.shape.tolerations;
        if (std::none_of(tolerations.begin(), tolerations.end(),
                         [&](const Toleration& t) { return t.tolerates(taint); }))
            return &taint;
    }
    return nullptr;
}

bool taints_asked(const Shape& shape) {
    (void)shape;
    return true;
}

bool taints_passes(const Look& look) { return look.node.taints.empty() || !not_tolerated(look); }

std::string taints_says(const Look& look) {
    const Taint* taint = not_tolerated(look);
    return taint ? "has the taint " + taint->key + "=" + taint->value + ", which the job does not tolerate"
                 : std::string();
}

}  // namespace

extern const Filter taints;
const Filter taints{
    23,           Kind::fixed,   "taints",   "tolerations", "Taints of the node are tolerated.",
    taints_asked, taints_passes, taints_says};

}  // namespace crater::engine::filter
