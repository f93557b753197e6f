// Scenarios played in processes of their own, several at a time: a check of the product that fails ends its
// process, not the run, and is a violation like others.
#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "crater/sim/scenario.h"

namespace crater::sim {

struct Assignment {
    std::uint64_t number = 0;            // whose it is, for the one who asks
    std::function<Scenario()> scenario;  // made in the process that plays it
    bool twice = false;                  // and the second time must be like the first
    Tell tell = Tell::failures;
};

struct Report {
    Outcome outcome;
    bool twice = false;
};

class Crew {
  public:
    explicit Crew(int size);
    ~Crew();
    // Plays what `next` gives until it gives nothing; `done` hears of each as it ends. May be called again.
    void play(const std::function<std::optional<Assignment>()>& next,
              const std::function<void(const Assignment&, Report)>& done);

  private:
    struct Member;
    std::size_t size_;
};

Report play_alone(Assignment assignment);

}  // namespace crater::sim
