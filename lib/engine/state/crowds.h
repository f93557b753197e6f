// Who shares no node with whom. Jobs of equal labels and equal anti-affinity are one crowd; the ledger counts
// the tasks of each crowd on each node. Jobs without either have none (-1), and cost nothing.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "crater/model/job.h"

namespace crater::engine {

using Labels = std::map<std::string, std::string>;

class Crowds {
  public:
    // Counts a member. `news`, when not null, is set when it avoids labels that nobody avoided before: jobs
    // that carry them are concerned from now on.
    int take(const JobSpec& spec, bool* news = nullptr);
    void drop(int crowd);

    // Whether a task of either may not stand beside one of the other; of two jobs, also where they are of one
    // crowd.
    bool apart(int one, int other) const;
    // Whether anybody could be in its way at all: it avoids labels, or its labels are avoided.
    bool concerned(int crowd) const;

  private:
    struct Crowd {
        std::string key;
        Labels labels;
        std::vector<Labels> avoids;
        std::int64_t members = 0;
    };
    struct Avoided {
        Labels labels;
        std::int64_t crowds = 0;
    };
    static bool carries(const Labels& labels, const Labels& wanted);
    static bool avoids(const Crowd& one, const Crowd& other);
    const Crowd& at(int crowd) const { return crowds_[static_cast<std::size_t>(crowd)]; }

    std::vector<Crowd> crowds_;
    std::vector<int> free_;
    std::unordered_map<std::string, int> positions_;
    std::map<std::string, Avoided> avoided_;  // by text
};

}  // namespace crater::engine
