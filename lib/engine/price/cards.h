// What taking cards, or part of one, leaves of a node's cards.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "price/demand.h"

namespace crater::engine::price {

inline constexpr int cards_most = 64;

class CardStates {
  public:
    explicit CardStates(std::span<const std::int16_t> cards);
    std::span<const std::int16_t> left() const { return {left_.data(), count_}; }
    void take(int card, int milli);

  private:
    std::array<std::int16_t, cards_most> left_;
    std::size_t count_;
};

// Whole cards are taken from idle ones, lowest first; parts of several cards from the tightest that fit.
CardStates after_taking(std::span<const std::int16_t> cards, const Demand& kind);

// The cards that a part fits on, the first of those with equally much left.
std::vector<int> distinct_fits(std::span<const std::int16_t> cards, int milli);

}  // namespace crater::engine::price
