// What every node lacks for one shape, all of it and not only the first: what questions are answered from.
// Kept, shape by shape, while the nodes do not change, so that the next question about a job like it looks
// only at the nodes that did.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "explain/lacks.h"
#include "explain/node_glance.h"
#include "explain/sheet.h"
#include "place/seats.h"

namespace crater::engine {

class Survey {
  public:
    explicit Survey(const Shape& shape);

    void refresh(const Shape& shape, const Cluster& cluster, const Sheet& sheet);
    // To a job that has tasks on it, a node is another than to jobs like it.
    void see_own(const Shape& shape, const Cluster& cluster, const std::vector<std::int64_t>& own_tasks);

    std::size_t size() const { return lacks_.size(); }
    bool present(std::size_t rank) const { return present_[rank]; }
    Lacks at(std::size_t rank) const { return lacks_[rank]; }  // 0 of a node that is gone
    std::int64_t nodes_lacking(Lacks one) const;
    bool fits(std::size_t rank) const { return present_[rank] && lacks_[rank] == 0; }
    // Passes what the node is.
    static Lacks closed();  // what a node lacks that takes no work
    bool right_kind(std::size_t rank) const { return present_[rank] && (lacks_[rank] & fixed_) == 0; }

    // The amounts asked for, each as a bar: how much every node has free.
    struct Bar {
        const filter::Filter* row;
        Lacks lack;
        NodeGlance::Amount amount;
        std::vector<double> has;   // by rank; -1: of another kind, closed, or gone
        std::size_t best() const;  // the first that has most; there are nodes
    };
    const std::vector<Bar>& bars() const { return bars_; }
    std::size_t bytes() const { return lacks_.size() * (sizeof(Lacks) + 1 + bars_.size() * sizeof(double)); }

  private:
    void see(const Shape& shape, const Cluster& cluster, const Sheet& sheet, std::size_t rank, int n);
    void lose(std::size_t rank);
    void look_at(std::size_t rank, const Look& look, Lacks unknown, Lacks known = 0);
    // What is free of a node that is of another kind, or that takes no work, says nothing.
    bool counts(const Bar& bar, Lacks lacks) const {
        return (lacks & closed_) == 0 && ((lacks & fixed_) == 0 || (bar.lack & fixed_) != 0);
    }

    Lacks fixed_, closed_, asked_;
    NodeGlance glance_;
    Lacks others_;              // asked that a glance does not answer
    std::vector<Lacks> lacks_;  // by rank of the node
    std::vector<char> present_;
    std::vector<Bar> bars_;
    std::uint64_t layout_ = 0, synced_ = 0;  // with the changes of the sheet
};

// One for each shape that was asked about lately.
class Surveys {
  public:
    const Survey& of(int shape, const Shape& asked, const Cluster& cluster);
    const Sheet& sheet() const { return sheet_; }  // as it was when a survey was last asked for
    void node_registered(const Cluster& cluster, int n) { sheet_.add(cluster, n); }
    void leave(int shape) { known_.erase(shape); }
    void forget() { known_.clear(); }

  private:
    struct Entry {
        std::unique_ptr<Survey> survey;
        std::uint64_t used_at = 0;
    };
    void trim();
    Sheet sheet_;
    std::unordered_map<int, Entry> known_;  // by shape; walked only to find the one used longest ago
    std::uint64_t clock_ = 0;
};

// What is free of a node by the packed figures, whatever the shape: at most so much. The index has measured
// most.
class Rooms {
  public:
    Rooms(const Cluster& cluster, const Seats& seats) : cluster_(cluster), seats_(seats) {}
    const Room& at(std::size_t rank);

  private:
    struct Measured {
        Room room;
        std::uint64_t version = 0;
    };
    const Cluster& cluster_;
    const Seats& seats_;
    std::vector<Measured> measured_;  // by node: those that the index does not know
};

}  // namespace crater::engine
