// What every card of the simulated cluster holds. Kept apart from the schedulers, so that no figure depends
// on what one of them believes.
#pragma once

#include <vector>

#include "crater/replay/workload.h"

namespace crater::replay {

class CardBooks {
  public:
    explicit CardBooks(const Workload& workload);
    // Aborts when a card is held twice, or more of it than it has.
    void take(const TimedJob& job, const std::vector<int>& cards);
    void give_back(const TimedJob& job, const std::vector<int>& cards);

    int held() const { return static_cast<int>(held_); }  // cards that hold anything
    double used() const { return static_cast<double>(used_) / 1000; }
    // Memory of held cards that no job asked for and no shape of the workload could use, in cards.
    double stranded() const { return static_cast<double>(stranded_) / fleet_.card_mib; }

  private:
    struct Card {
        int memory = 0, compute = 0, holders = 0;
    };
    int stranded_of(const Card& card) const;
    void book(const TimedJob& job, const std::vector<int>& cards, int sign);

    Fleet fleet_;
    bool whole_cards_;
    std::vector<Card> cards_;
    std::vector<std::pair<int, int>> shapes_;  // memory, compute: the least that share a card
    std::int64_t held_ = 0, used_ = 0, stranded_ = 0;
};

}  // namespace crater::replay
