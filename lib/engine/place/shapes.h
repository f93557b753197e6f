// All shapes in use. Shapes no job uses are kept for a while, because the next job is often like the last.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "place/shape.h"

namespace crater::engine {

class Shapes {
  public:
    int take(Shape shape);  // counts a user
    void drop(int shape);
    const Shape& at(int shape) const { return slots_[static_cast<std::size_t>(shape)]->shape; }
    void forget();  // settings changed: everything known of cards is void
    // Told when a shape is no more and its position may be given to another.
    std::function<void(int)> gone;

  private:
    struct Slot {
        Shape shape;
        int users = 0;
        std::uint64_t unused_since = 0;
    };
    void trim_unused();
    bool is_stale(const std::pair<int, std::uint64_t>& entry) const;

    std::vector<std::unique_ptr<Slot>> slots_;
    std::vector<int> free_;
    std::unordered_map<std::string, int> positions_;
    // since when, the longest first; out of date when it was used again
    std::deque<std::pair<int, std::uint64_t>> unused_;
    std::size_t unused_count_ = 0;
    std::uint64_t clock_ = 0;
};

}  // namespace crater::engine
