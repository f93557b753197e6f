// A score says how good a node is for a task that fits on it, in [0,1], higher is better. One file in this
// folder is one score; the table is generated. Which counts how much is a policy: a preset of weights
// (place/policy.cc).
#pragma once

#include <span>
#include <string_view>

#include "place/look.h"

namespace crater::engine::score {

struct Score {
    std::string_view name;
    std::string_view help;
    double (*value)(const Look&, const Choice&);
    bool (*asked)(const Shape&) = nullptr;  // null: it is about every shape; others leave it out
};

std::span<const Score* const> table();  // by name

// What the queue gives a part of the score, else what is given to all.
inline double weight_of(const Look& look, std::optional<double> PlacementWeights::*queue, double all) {
    const OwnWeights* own = look.shape.own_weights.get();
    return own ? (own->given.*queue).value_or(all) : all;
}

}  // namespace crater::engine::score
