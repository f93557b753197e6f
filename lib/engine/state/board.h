// The NUMA domains and cores of a node, prepared for deciding. Nodes that are alike share one: then what a
// decision reads of it stays in the cache, however many nodes there are.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "crater/model/node.h"
#include "state/few.h"

namespace crater::engine {

struct Domain {
    std::int64_t id = -1;  // -1: the node reported none, this stands for all of it
    std::int64_t cpu = 0, memory = 0, bandwidth = 0;
};

struct Core {
    int domain = 0;
    bool system = false;  // kept for the system
    std::vector<std::int64_t> cpus;
};

// Whole physical cores of one node, by position.
class CoreSet {
  public:
    bool empty() const { return words_.empty(); }
    void clear() { words_.clear(); }
    void add(std::size_t core) {
        if (core / 64 >= words_.size()) words_.resize(core / 64 + 1);
        words_[core / 64] |= std::uint64_t{1} << (core % 64);
    }
    std::size_t words() const { return words_.size(); }
    std::uint64_t word(std::size_t w) const { return words_[w]; }
    template <class F>
    void each(F f) const {  // in ascending order
        for (std::size_t w = 0; w < words_.size(); ++w)
            for (auto left = words_[w]; left; left &= left - 1)
                f(w * 64 + static_cast<std::size_t>(std::countr_zero(left)));
    }

  private:
    Few<std::uint64_t, 2> words_;  // none when no core is in it
};

struct Board {
    std::vector<Domain> domains;  // never empty
    std::vector<Core> cores;
    // by domain, those of all last: cores that may be had whole, as words of bits
    std::vector<std::vector<std::uint64_t>> free;
    std::vector<std::uint64_t> facts;  // by core: its CPUs as part of a placement's fact
    std::size_t words() const { return (cores.size() + 63) / 64; }

    // Of a node with so much schedulable CPU, and memory.
    static Board of(const NodeInventory& inventory, std::int64_t cpu, std::int64_t memory);
};

// The boards in use.
class Boards {
  public:
    std::shared_ptr<const Board> of(const NodeInventory& inventory, std::int64_t cpu, std::int64_t memory);

  private:
    // by what they are made of; never walked for an answer
    std::unordered_map<std::string, std::weak_ptr<const Board>> known_;
};

}  // namespace crater::engine
