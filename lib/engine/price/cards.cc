#include "price/cards.h"

#include <algorithm>

namespace crater::engine::price {

CardStates::CardStates(std::span<const std::int16_t> cards) : count_(cards.size()) {
    std::copy(cards.begin(), cards.end(), left_.begin());
}

void CardStates::take(int card, int milli) {
    auto& left = left_[static_cast<std::size_t>(card)];
    left = static_cast<std::int16_t>(left - milli);
}

static int tightest(std::span<const std::int16_t> cards, int milli, std::uint64_t taken) {
    int best = -1;
    for (int card = 0; card < static_cast<int>(cards.size()); ++card) {
        const auto at = static_cast<std::size_t>(card);
        if ((taken >> card & 1) != 0 || cards[at] < milli) continue;
        if (best < 0 || cards[at] < cards[static_cast<std::size_t>(best)]) best = card;
    }
    return best;
}

CardStates after_taking(std::span<const std::int16_t> cards, const Demand& kind) {
    CardStates out(cards);
    std::uint64_t taken = 0;
    for (int i = 0; i < kind.cards; ++i) {
        const int card = tightest(cards, kind.milli, taken);
        if (card < 0) break;
        taken |= std::uint64_t{1} << card;
        out.take(card, kind.milli);
    }
    return out;
}

std::vector<int> distinct_fits(std::span<const std::int16_t> cards, int milli) {
    std::vector<int> out;
    for (std::size_t card = 0; card < cards.size(); ++card) {
        if (cards[card] < milli) continue;
        const auto same = [&](int other) { return cards[static_cast<std::size_t>(other)] == cards[card]; };
        if (std::none_of(out.begin(), out.end(), same)) out.push_back(static_cast<int>(card));
    }
    return out;
}

}  // namespace crater::engine::price
