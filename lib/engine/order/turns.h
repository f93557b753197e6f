// Whose turn it is within a queue during a pass. Classes of one tenant and priority have one share of use,
// which grows with all that the tenant is given; so they stand in one line, and the lines in a heap: what is
// placed moves one class in its line, and one line.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "order/backlog.h"

namespace crater::engine {

// Lives for one pass over one queue; the classes must outlive it. `Share` tells what a tenant used by now; it
// never shrinks meanwhile.
template <class Share>
class Turns {
  public:
    explicit Turns(Share share) : share_(std::move(share)) {}

    bool empty() const { return heap_.empty(); }

    // The class whose first job may have changed since it was taken.
    void put(WaitClass& members) {
        const auto [it, anew] = lines_.try_emplace({members.priority, members.tenant});
        Line& line = it->second;
        if (anew)
            line.priority = members.priority, line.tenant = members.tenant,
            line.share = share_(members.tenant);
        line.classes.push_back({members.head().key, members.head().submitted, &members});
        std::push_heap(line.classes.begin(), line.classes.end(), Later{});
        if (line.at == absent) {
            line.at = heap_.size();
            heap_.push_back(&line);
            rise(line.at);
        } else if (line.classes.front().members == &members) {
            rise(line.at);
        }
    }

    // Takes out the class that comes first; there must be one. Its share is that of now.
    WaitClass& take() {
        // What its tenant was given in this pass counts.
        for (;;) {
            Line& first = *heap_.front();
            const auto share = share_(first.tenant);
            if (share == first.share) break;
            first.share = share;
            sink(0);
            if (heap_.front() == &first) break;
        }
        Line& line = *heap_.front();
        std::pop_heap(line.classes.begin(), line.classes.end(), Later{});
        WaitClass& members = *line.classes.back().members;
        members.share = line.share;
        line.classes.pop_back();
        if (line.classes.empty()) {
            line.at = absent;
            heap_.front() = heap_.back();
            heap_.pop_back();
            if (heap_.empty()) return members;
            heap_.front()->at = 0;
        }
        sink(0);
        return members;
    }

  private:
    static constexpr std::size_t absent = static_cast<std::size_t>(-1);
    // A class by its first job: comparing two reads nothing else, unless they came at the same time.
    struct Entry {
        std::int64_t key;
        Instant submitted;
        WaitClass* members;
        bool operator<(const Entry& o) const {
            if (key != o.key) return key < o.key;
            return submitted != o.submitted ? submitted < o.submitted
                                            : members->head().id < o.members->head().id;
        }
    };
    struct Later {
        bool operator()(const Entry& a, const Entry& b) const { return b < a; }
    };
    struct Line {
        int priority = 0, tenant = -1;
        std::int64_t share = 0;
        std::size_t at = absent;     // in the heap of lines
        std::vector<Entry> classes;  // a heap, the first on top
        bool goes_before(const Line& o) const {
            if (priority != o.priority) return priority > o.priority;
            const Entry &a = classes.front(), &b = o.classes.front();
            const bool aged = a.key == Waiting::aged_key;
            if (aged != (b.key == Waiting::aged_key)) return aged;
            if (!aged && share != o.share) return share < o.share;
            return a < b;
        }
    };

    void place(std::size_t at, Line* line) { heap_[at] = line, line->at = at; }
    void rise(std::size_t at) {
        Line* const line = heap_[at];
        for (; at > 0 && line->goes_before(*heap_[(at - 1) / 2]); at = (at - 1) / 2)
            place(at, heap_[(at - 1) / 2]);
        place(at, line);
    }
    void sink(std::size_t at) {
        Line* const line = heap_[at];
        for (std::size_t child; (child = 2 * at + 1) < heap_.size(); at = child) {
            if (child + 1 < heap_.size() && heap_[child + 1]->goes_before(*heap_[child])) ++child;
            if (!heap_[child]->goes_before(*line)) break;
            place(at, heap_[child]);
        }
        place(at, line);
    }

    Share share_;
    std::map<std::pair<int, int>, Line> lines_;  // by priority and tenant; empty ones stay
    std::vector<Line*> heap_;                    // those with classes, the first on top
};

}  // namespace crater::engine
