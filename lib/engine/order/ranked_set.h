// A sorted set that knows the position of each member: sorted runs of bounded length, so that adding, taking
// out and asking for a position cost a search and a short move, and a set that grows at its end and shrinks
// at its front costs less than a tree.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace crater::engine {

template <class T>
class RankedSet {
    using Run = std::vector<T>;
    static constexpr std::size_t run_max = 256;

  public:
    class const_iterator {
      public:
        using value_type = T;
        using difference_type = std::ptrdiff_t;
        using reference = const T&;
        using pointer = const T*;
        using iterator_category = std::bidirectional_iterator_tag;

        const_iterator() = default;
        const_iterator(const std::vector<Run>* runs, std::size_t run, std::size_t at)
            : runs_(runs), run_(run), at_(at) {}
        reference operator*() const { return (*runs_)[run_][at_]; }
        pointer operator->() const { return &**this; }
        const_iterator& operator++() {
            if (++at_ == (*runs_)[run_].size()) ++run_, at_ = 0;
            return *this;
        }
        const_iterator& operator--() {
            if (at_ == 0) at_ = (*runs_)[--run_].size();
            --at_;
            return *this;
        }
        const_iterator operator++(int) {
            auto before = *this;
            ++*this;
            return before;
        }
        bool operator==(const const_iterator& o) const { return run_ == o.run_ && at_ == o.at_; }

      private:
        const std::vector<Run>* runs_ = nullptr;
        std::size_t run_ = 0, at_ = 0;
    };

    const_iterator begin() const { return {&runs_, 0, 0}; }
    const_iterator end() const { return {&runs_, runs_.size(), 0}; }
    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }

    // False when an equal one is there.
    bool insert(const T& value) {
        if (runs_.empty()) runs_.emplace_back();
        const auto r = std::min(run_of(value), runs_.size() - 1);
        Run& run = runs_[r];
        const auto place = std::lower_bound(run.begin(), run.end(), value);
        if (place != run.end() && !(value < *place)) return false;
        run.insert(place, value);
        ++size_;
        if (run.size() > run_max) split(r);
        return true;
    }

    bool erase(const T& value) {
        const auto r = run_of(value);
        if (r == runs_.size()) return false;
        Run& run = runs_[r];
        const auto place = std::lower_bound(run.begin(), run.end(), value);
        if (place == run.end() || value < *place) return false;
        run.erase(place);
        --size_;
        if (run.empty()) runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(r));
        return true;
    }

    const_iterator find(const T& value) const {
        const auto r = run_of(value);
        if (r == runs_.size()) return end();
        const auto place = std::lower_bound(runs_[r].begin(), runs_[r].end(), value);
        return place == runs_[r].end() || value < *place
                   ? end()
                   : const_iterator{&runs_, r, static_cast<std::size_t>(place - runs_[r].begin())};
    }

    // A position will be asked for soon.
    void fetch() const { __builtin_prefetch(runs_.data()); }

    // How many members are less.
    std::size_t rank_of(const T& value) const {
        const auto r = run_of(value);
        std::size_t before = 0;
        for (std::size_t i = 0; i < r; ++i) before += runs_[i].size();
        if (r == runs_.size()) return before;
        return before + static_cast<std::size_t>(std::lower_bound(runs_[r].begin(), runs_[r].end(), value) -
                                                 runs_[r].begin());
    }

  private:
    // The first run whose last member is not less; as many as there are when there is none.
    std::size_t run_of(const T& value) const {
        const auto it = std::partition_point(
            runs_.begin(), runs_.end(), [&](const Run& run) { return run.empty() || run.back() < value; });
        return static_cast<std::size_t>(it - runs_.begin());
    }
    // Grown at the end: the full run stays full. Grown in between: in halves.
    void split(std::size_t r) {
        const bool at_end = r + 1 == runs_.size();
        const auto keep = at_end ? run_max : run_max / 2;
        Run rest(std::make_move_iterator(runs_[r].begin() + static_cast<std::ptrdiff_t>(keep)),
                 std::make_move_iterator(runs_[r].end()));
        runs_[r].erase(runs_[r].begin() + static_cast<std::ptrdiff_t>(keep), runs_[r].end());
        runs_.insert(runs_.begin() + static_cast<std::ptrdiff_t>(r) + 1, std::move(rest));
    }

    std::vector<Run> runs_;  // none empty, but one when there is nothing
    std::size_t size_ = 0;
};

}  // namespace crater::engine
