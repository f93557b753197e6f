// Integers by position with the highest on top: a tree of blocks of sixteen, one cache line each, so that a
// change touches one line a level and stops where the maximum stays. Among equals the lowest position wins.
// Values are >= 0; -1 means "not in question".
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace crater::engine {

class MaxTree {
  public:
    static constexpr std::int32_t none = -1;

    void reset(std::size_t size) {
        levels_.clear();
        do {
            size = (size + block - 1) / block;
            levels_.emplace_back(std::max<std::size_t>(1, size) * block, none);
        } while (size > 1);
        levels_.emplace_back(1, none);
    }

    void fetch(std::size_t position) const { __builtin_prefetch(&levels_.front()[position]); }
    void set(std::size_t position, std::int32_t value) {
        for (std::size_t level = 0;; ++level) {
            std::int32_t& slot = levels_[level][position];
            const std::int32_t before = slot;
            if (before == value) return;
            slot = value;
            if (level + 1 == levels_.size()) return;
            position /= block;
            // The block's maximum moves down only when its highest left.
            value = value > before ? std::max(value, levels_[level + 1][position])
                                   : highest(&levels_[level][position * block]);
        }
    }

    // Many at once: values are put in place, and `climb` makes the tree true again.
    void put(std::size_t position, std::int32_t value) { levels_.front()[position] = value; }
    void climb() {
        for (std::size_t level = 1; level < levels_.size(); ++level)
            for (std::size_t at = 0; at * block < levels_[level - 1].size(); ++at)
                levels_[level][at] = highest(&levels_[level - 1][at * block]);
    }

    std::int32_t at(std::size_t position) const { return levels_.front()[position]; }
    std::int32_t top_value() const { return levels_.back().front(); }
    bool empty() const { return levels_.empty() || top_value() < 0; }

    // Position of the highest; the tree must not be empty.
    std::size_t top() const {
        const std::int32_t value = top_value();
        std::size_t position = 0;
        for (std::size_t level = levels_.size() - 1; level-- > 0;) {
            position *= block;
            while (levels_[level][position] != value) ++position;
        }
        return position;
    }

    // Positions of the highest, best first, at most `count`. Taken out one by one and put back.
    std::vector<std::size_t> best(std::size_t count) {
        std::vector<std::pair<std::size_t, std::int32_t>> taken;
        while (taken.size() < count && !empty()) {
            taken.emplace_back(top(), top_value());
            set(taken.back().first, none);
        }
        std::vector<std::size_t> out;
        for (const auto& [position, value] : taken) set(position, value), out.push_back(position);
        return out;
    }

  private:
    static constexpr std::size_t block = 16;

    static std::int32_t highest(const std::int32_t* values) {
        std::int32_t out = values[0];
        for (std::size_t i = 1; i < block; ++i) out = std::max(out, values[i]);
        return out;
    }

    std::vector<std::vector<std::int32_t>> levels_;  // the lowest first; the highest has one value in use
};

}  // namespace crater::engine
