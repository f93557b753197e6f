// Which faults struck while a task was in which state. Counted by the world when a fault takes hold: of a
// node's fault, the states of the tasks on that node and of all that hold nothing; of any other, the states
// of all tasks.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "crater/model/state.h"
#include "crater/sim/faults.h"

namespace crater::sim {

class Coverage {
  public:
    using Pair = std::pair<Fault, State>;
    void hit(Fault fault, State state, std::uint64_t times = 1) { counts_[{fault, state}] += times; }
    std::uint64_t count(Fault fault, State state) const;
    void add(const Coverage& other);  // of another seed
    static std::vector<Pair> all();   // every pair of the table
    std::vector<Pair> missing() const;
    // A line per fault with its counts, a column per state.
    std::string table() const;

  private:
    std::map<Pair, std::uint64_t> counts_;
};

}  // namespace crater::sim
