// The hot part: what a node is worth, and what it loses in future worth when a task takes part of it. A few
// hundred additions; no allocation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "price/reserve.h"
#include "price/tables.h"

namespace crater::engine::price {

// What everything is looked up in.
struct Book {
    std::span<const Tables> tables;  // one for each companion that may run out
    const Classes* classes = nullptr;
    const Reserve* reserve = nullptr;
    std::array<double, companions> scale{};  // thousandths of a card in one of the companion's own unit
};

// Capped where a node has so much that it can never run out, so that its worth stays a small whole number.
inline float scaled(std::int64_t amount, double scale) {
    return static_cast<float>(std::min(static_cast<double>(amount) * scale, 2e6));
}

// In units: 1/64 of a thousandth of a card.
std::int32_t node_value(const Book& book, const Free& free);

// A part of one card is tried on every card in `allowed` that it fits on.
struct Order {
    int bucket = 10;                  // thousandths of a card that are too little to tell two nodes apart
    bool keep_idle_together = false;  // then the node left with the fewest idle cards
};
Choice least_regret(const Book& book, const Free& free, const Kind& kind, std::int32_t price,
                    std::uint64_t allowed, const Order& order);

}  // namespace crater::engine::price
