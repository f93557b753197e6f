// How much more sought after each card type is than the least sought after one.
//
// Prices of the fluid alone are indifferent between two card types until one of them is as short as the
// other, and by then tasks that could have gone elsewhere have taken what others can only find there. So a
// card type costs a little for every task, the more the larger the share of it that is asked for by tasks
// that accept few types.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "price/goods.h"

namespace crater::engine::price {

// Added to the regret of taking a card of the type, in units.
using Reserve = std::array<std::int32_t, card_types>;

// `free`: milli of cards by type.
Reserve reserve(std::span<const Good> goods, const std::array<double, card_types>& free);

}  // namespace crater::engine::price
