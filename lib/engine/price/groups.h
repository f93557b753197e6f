// The nodes of a cluster as the fluid problem sees them: those that are equal to the tables are counted once.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "price/goods.h"

namespace crater::engine::price {

struct Group {
    int cls = 0;
    double count = 0;
    std::array<float, companions> amounts{};
    std::vector<std::int16_t> rows;  // of its cards, ascending; the last may stand for all idle ones
};

class Grouping {
  public:
    Grouping(const Classes& classes, std::span<const int> scarce, std::array<double, companions> scale)
        : classes_(classes), scarce_(scarce), scale_(scale) {}

    void add(std::span<const Nodes> nodes, double weight);
    // In ascending order, at most so many where coarser amounts can achieve that: they are rounded down to
    // what comes with 500 thousandths of a core, or twice, four times... that.
    std::vector<Group> groups(std::size_t most) const;

  private:
    using Rows = std::map<std::vector<std::int16_t>, int>;
    struct Member {
        int cls;
        Rows::const_pointer rows;
        Amounts amounts;
        double count;
    };
    bool collect(std::vector<Group>& out, std::int64_t rounding, std::size_t most) const;

    const Classes& classes_;
    std::span<const int> scarce_;
    std::array<double, companions> scale_;
    Rows rows_;  // and a number of each
    std::vector<Member> members_;
};

}  // namespace crater::engine::price
