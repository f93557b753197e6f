// What every node lacks for one shape, all of it and not only the first: what questions are answered from. Kept, shape by shape, while
// the nodes do not change, so that the next question about a job like it looks only at the nodes that did.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "filter/filter.h"
#include "place/judge.h"
#include "place/room.h"

namespace crater::engine {

// A set of filters, by their place in the order in which they are asked, so that the lowest is the first that turns a node away.
using Lacks = std::uint64_t;
Lacks lack(std::string_view filter);
Lacks all_of(std::initializer_list<std::string_view> filters);
Lacks lacks_of(filter::Kind kind);
const filter::Filter& first_of(Lacks lacks);

class Survey {
  public:
    explicit Survey(const Shape& shape);

    // Gives how many nodes were looked at. `own_tasks`: as in Look, by node, may be null.
    int refresh(const Shape& shape, const Cluster& cluster, const std::vector<std::int64_t>* own_tasks = nullptr);

    std::size_t size() const { return lacks_.size(); }
    bool present(std::size_t rank) const { return present_[rank]; }
    Lacks at(std::size_t rank) const { return lacks_[rank]; }  // of a node that is present
    bool fits(std::size_t rank) const { return present_[rank] && lacks_[rank] == 0; }
    // Passes what the node is.
    bool right_kind(std::size_t rank) const { return present_[rank] && (lacks_[rank] & fixed_) == 0; }

    // The amounts asked for, each as a bar: how much every node has free.
    struct Bar {
        const filter::Filter* row;
        Lacks lack;
        std::vector<double> has;  // by rank
    };
    const std::vector<Bar>& bars() const { return bars_; }
    std::size_t bytes() const { return lacks_.size() * (sizeof(Lacks) + 9 + bars_.size() * sizeof(double)); }

  private:
    void look_at(std::size_t rank, const Look& look);

    Lacks fixed_;
    std::vector<std::pair<Lacks, const filter::Filter*>> asked_;  // in order
    std::vector<Lacks> lacks_;                                     // by rank of the node
    std::vector<char> present_;
    std::vector<std::uint64_t> versions_;
    std::vector<Bar> bars_;
    std::uint64_t layout_ = 0, synced_ = 0;
    bool filled_ = false;
};

// One for each shape that was asked about lately.
class Surveys {
  public:
    Survey& of(int shape, const Shape& asked, const Cluster& cluster);
    void leave(int shape) { known_.erase(shape); }
    void forget() { known_.clear(); }

  private:
    struct Entry {
        std::unique_ptr<Survey> survey;
        std::uint64_t used_at = 0;
    };
    void trim();
    std::unordered_map<int, Entry> known_;  // by shape; walked only to find the one used longest ago
    std::uint64_t clock_ = 0;
};

// What is free of every node by the packed figures, whatever the shape: at most so much. Kept likewise.
class Rooms {
  public:
    void refresh(const Cluster& cluster);
    const Room& at(std::size_t rank) const { return rooms_[rank]; }

  private:
    std::vector<Room> rooms_;  // by rank
    std::vector<std::uint64_t> versions_;
    std::uint64_t layout_ = 0, synced_ = 0;
    bool filled_ = false;
};

}  // namespace crater::engine
