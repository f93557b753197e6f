// Where nodes stand: the racks and the spine switches above them, as the labels of the nodes say. Racks of
// equal name under different spines are different ones; a node without a label stands in none.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "place/shape.h"

namespace crater::engine {

struct Area {
    std::string name;
    std::vector<int> nodes;  // by name
    std::vector<int> racks;  // of a spine: its racks by position, by name
    std::vector<int> loose;  // of a spine: its nodes that stand in no rack
};

class Areas {
  public:
    void forget() { known_ = false; }  // nodes or their labels changed
    // Whether a node that comes back stands where it stood.
    static bool stands_still(const Cluster& cluster, int node, const NodeInventory& inventory);
    void refresh(const Cluster& cluster);

    const std::vector<Area>& at(TopologyLevel level) const { return areas_[index(level)]; }  // by name
    // -1: none
    int of(TopologyLevel level, int node) const {
        return area_of_[index(level)][static_cast<std::size_t>(node)];
    }

    // The label that says it, and one level up: none above a spine.
    static std::string_view label(TopologyLevel level);
    static TopologyLevel above(TopologyLevel level);

  private:
    static std::size_t index(TopologyLevel level) { return static_cast<std::size_t>(level) - 1; }

    bool known_ = false;
    std::array<std::vector<Area>, 3> areas_;
    std::array<std::vector<int>, 3> area_of_;
};

// At most how many tasks of the shape a node has room for, from a few sums; never less than it has.
std::int64_t room_bound(const Shape& shape, const Cluster& cluster, int node);

}  // namespace crater::engine
