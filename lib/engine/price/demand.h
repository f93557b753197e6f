// What the placement mathematics knows of requests and nodes: plain amounts, nothing of the engine's own
// types.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>

namespace crater::engine::price {

// What a node offers next to its cards. Whole cards and parts of cards are the goods a node is filled with;
// these are what may run out first.
enum Companion : int { cpu, memory, disk, iops, bandwidth, companions };
using Amounts =
    std::array<std::int64_t, companions>;  // thousandths of a core, bytes, bytes, a second, bytes a second

inline constexpr int whole_card = 1000;  // milli

// One distinct request as a unit of demand: what one task takes. Equal requests are one kind.
struct Demand {
    int cards = 0;                            // 0: none
    int milli = 0;                            // of each card, 1..1000
    std::uint64_t types = ~std::uint64_t{0};  // accepted card types, by position
    Amounts amounts{};
    auto operator<=>(const Demand&) const = default;

    bool whole_cards() const { return cards > 0 && milli >= whole_card; }
    bool one_part() const { return cards == 1 && milli < whole_card; }
    bool accepts(int type) const { return type >= 0 && (types >> type & 1) != 0; }
    int size() const { return cards * milli; }
};

// A view of what a node has free. The caller owns the cards and has checked that the kind fits.
struct Free {
    int type = -1;                        // card type by position, below 64; -1: no cards
    std::span<const std::int16_t> cards;  // milli left of each, at most 64
    Amounts amounts{};
};

struct Nodes {
    Free free;
    double count = 1;  // how many nodes are like this
};

// How good a node is for a kind, higher is better, and which card to take. Levels of different kinds, or of
// different versions, do not compare.
struct Rating {
    std::int32_t level = 0;
    int card = -1;  // for part of one card; -1: idle cards as needed, or none
};

}  // namespace crater::engine::price
