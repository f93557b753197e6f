#include "books.h"

#include <algorithm>

namespace crater::replay {

CardBooks::CardBooks(const Workload& workload)
    : fleet_(workload.fleet),
      whole_cards_(workload.whole_cards),
      cards_(static_cast<std::size_t>(workload.fleet.total())) {
    for (const auto& job : workload.jobs)
        if (job.shares_card()) shapes_.emplace_back(job.memory_mib, job.compute);
    // Where a larger shape fits a smaller one does: only those below which there is none matter.
    std::sort(shapes_.begin(), shapes_.end());
    std::vector<std::pair<int, int>> least;
    for (const auto& shape : shapes_)
        if (least.empty() || shape.second < least.back().second) least.push_back(shape);
    shapes_ = std::move(least);
}

int CardBooks::stranded_of(const Card& card) const {
    const int left = fleet_.card_mib - card.memory;
    if (card.holders == 0) return 0;  // a whole card can be had
    if (whole_cards_) return left;    // nobody else gets at it
    for (const auto& [memory, compute] : shapes_)
        if (memory <= left && compute <= 1000 - card.compute) return 0;
    return left;
}

void CardBooks::take(const TimedJob& job, const std::vector<int>& cards) {
    CRATER_CHECK(static_cast<int>(cards.size()) == job.all_cards(), "a job has another number of cards");
    book(job, cards, 1);
}
void CardBooks::give_back(const TimedJob& job, const std::vector<int>& cards) { book(job, cards, -1); }

void CardBooks::book(const TimedJob& job, const std::vector<int>& cards, int sign) {
    const int memory = job.shares_card() ? job.memory_mib : fleet_.card_mib;
    const int compute = job.shares_card() && !whole_cards_ ? job.compute : 1000;
    for (const int c : cards) {
        Card& card = cards_[static_cast<std::size_t>(c)];
        stranded_ -= stranded_of(card);
        held_ -= card.holders > 0;
        card.memory += sign * memory;
        card.compute += sign * compute;
        card.holders += sign;
        CRATER_CHECK(card.memory <= fleet_.card_mib && card.compute <= 1000, "a card is overbooked");
        CRATER_CHECK(card.memory >= 0 && card.compute >= 0, "more of a card came back than was taken");
        held_ += card.holders > 0;
        stranded_ += stranded_of(card);
        used_ += sign * job.used;
    }
}

}  // namespace crater::replay
