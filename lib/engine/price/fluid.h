// What each good costs the cluster: the prices at which serving as many copies of the demand mix as the free
// capacity holds, taken as a fluid, leaves nobody better off elsewhere. Found by raising the price of what
// the best fills of all nodes serve too little of and lowering what they serve too much of; no solver, a
// fixed number of steps.
#pragma once

#include <vector>

#include "price/groups.h"
#include "price/tables.h"

namespace crater::engine::price {

class Fluid {
  public:
    // `tables`: one for each companion that may run out. Goods get their prices; the tables are left at the
    // prices found.
    Fluid(std::vector<Good>& goods, const Classes& classes, std::vector<Tables>& tables,
          std::vector<Group> groups);
    void run(int steps);

  private:
    // How a node is filled best: at a price of one companion, or between two prices such that what it has is
    // used.
    struct Fill {
        std::size_t table = 0;
        int lane = 0, other = 0;
        double share = 1;  // of the fill at `lane`
        double spare = 0;  // of the companion
    };
    Fill best_fill(const Group& group) const;
    void serve(const Group& group, const Fill& fill);
    void serve_without_cards(const Group& group, const Fill& fill);
    void rank_without_cards();
    void count_served();
    void adjust(double step);
    void normalise();
    Cells cells(std::size_t table, int cls);
    void build();

    std::vector<Good>& goods_;
    const Classes& classes_;
    std::vector<Tables>& tables_;
    std::vector<Group> groups_;
    std::vector<double> fills_, served_;
    std::array<std::vector<int>, companions> without_cards_;  // goods, by what they pay for the companion
};

}  // namespace crater::engine::price
