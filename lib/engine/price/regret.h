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

// What a bound needs of a node: where the least of its worth lies, and what its cards have left. A cache line
// with the versions that whoever keeps it adds.
struct Glance {
    std::int32_t value = 0;   // of its worth
    std::int32_t cards = 0;   // of that, what the cards are worth at the price where the worth is least
    std::int64_t amount = 0;  // free of the companion whose price that is
    std::int8_t table = -1, lane = 0, cls = 0, type = -1;  // table -1: too many different cards to tell
    std::uint8_t idle = 0, parts = 0;
    std::array<std::int16_t, 8> left{};  // milli of the cards in part use, each different amount once
};
Glance glance(const Book& book, const Free& free, const Worth& worth);

// Two nodes that differ by less, in thousandths of a card, are told apart by what is left of the card.
inline constexpr int bucket = 10;
// Where the loss stands in a level, in buckets; below it what decides among equal losses.
inline constexpr int regret_bits = 14, regret_at = 17;

// A part of one card is tried on every card in `allowed` that it fits on. `keep_idle_together`: among nodes
// that lose as much, the one left with the fewest idle cards.
Rating least_regret(const Book& book, const Free& free, const Worth& worth, const Demand& kind,
                    std::int32_t price, std::uint64_t allowed, bool keep_idle_together);

// No lower than the level of `least_regret`, whatever cards are allowed, and had from one price in place of
// 32: what the node is worth afterwards is at most what it is worth at the price that made it worth least
// before.
std::int32_t level_bound(const Book& book, const Glance& node, const Demand& kind, std::int32_t price,
                         bool keep_idle_together);

}  // namespace crater::engine::price
