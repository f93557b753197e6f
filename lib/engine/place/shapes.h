// All shapes in use, with what is known of the nodes for each. Shapes no job uses are kept for a while,
// because the next job is often like the last; columns are dropped, least recently used first, when they
// outgrow their budget.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "place/column.h"

namespace crater::engine {

class Shapes {
  public:
    int take(Shape shape);  // counts a user
    void drop(int shape);
    const Shape& at(int shape) const { return slots_[static_cast<std::size_t>(shape)]->shape; }
    // Up to date. Adds the nodes looked at to `looked`.
    Column& column(int shape, const Cluster& cluster, int& looked,
                   const std::vector<std::int64_t>* own_tasks = nullptr);
    bool has_column(int shape) const { return slots_[static_cast<std::size_t>(shape)]->column != nullptr; }
    void forget();  // settings changed: everything known of cards and nodes is void

  private:
    struct Slot {
        Shape shape;
        int users = 0;
        std::unique_ptr<Column> column;
        std::uint64_t used_at = 0;
    };
    void make_space(std::size_t nodes, const Slot* keep);
    void trim_unused();

    std::vector<std::unique_ptr<Slot>> slots_;
    std::vector<int> free_;
    std::unordered_map<std::string, int> positions_;
    std::deque<int> unused_;
    std::uint64_t clock_ = 0;
    std::size_t columns_ = 0;
};

}  // namespace crater::engine
