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

// What of a node's regret is the same for all kinds. `sums`: of each table, the rows of its cards.
struct Worth {
    std::int32_t value = 0;  // in units: 1/64 of a thousandth of a card
    int idle = 0;            // cards
    int cls = 0;             // in the tables
    const Row* sums = nullptr;
};
// `sums`: room for a row of each table, which the worth refers to.
Worth appraise(const Book& book, const Free& free, Row* sums);
std::int32_t node_value(const Book& book, const Free& free);

// Two nodes that differ by less, in thousandths of a card, are told apart by what is left of the card.
inline constexpr int bucket = 10;
// Where the loss stands in a level, in buckets; below it what decides among equal losses.
inline constexpr int regret_bits = 14, regret_at = 17;

// A part of one card is tried on every card in `allowed` that it fits on. `keep_idle_together`: among nodes
// that lose as much, the one left with the fewest idle cards.
Rating least_regret(const Book& book, const Free& free, const Worth& worth, const Demand& kind,
                    std::int32_t price, std::uint64_t allowed, bool keep_idle_together);

}  // namespace crater::engine::price
