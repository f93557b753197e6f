// The frequent kinds as goods that nodes are filled with, and the card types that accept the same goods.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "price/demand.h"

namespace crater::engine::price {

inline constexpr int steps_per_card = 100;
inline constexpr int card_types = 64;

// A good stands for all kinds that differ only in what is not scarce. Amounts are in thousandths of a card:
// what is scarce is measured by how much of it comes with a card in the whole cluster.
struct Good {
    int cards = 0;
    int milli = 0;
    std::uint64_t types = 0;
    std::array<float, companions> amounts{};
    double mix = 0;    // how many arrive
    double price = 0;  // thousandths of a card

    bool accepts(int type) const { return (types >> type & 1) != 0; }
    bool shares() const { return cards > 0 && (cards == 1 || milli < whole_card); }
    double size() const { return static_cast<double>(cards) * milli; }
    bool operator==(const Good&) const = default;
};

// Steps of a card that a part takes: rounded up, but never so that fewer fit on one card.
int steps_of(int milli);

// Card types that accept the same goods share their tables.
struct Classes {
    std::array<std::int8_t, card_types> of_type{};
    std::vector<int> type_of;  // one type of each class
    int idle_max = 1;          // cards of the largest node

    int count() const { return static_cast<int>(type_of.size()); }
    int of(int type) const { return of_type[static_cast<std::size_t>(type)]; }
};
Classes classify(std::span<const Good> goods, std::uint64_t types, int idle_max);

}  // namespace crater::engine::price
