// Best fit without looking at nodes that are not the best: nodes by how much is left on their cards, by how many cards are idle, and
// within that by a class of free cores. A plain shape walks the buckets from its need upwards and takes the first node that has the
// rest as well. The order is that of `fit_level`; nothing in it depends on how many nodes or shapes there are.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "place/buckets.h"
#include "place/level.h"

namespace crater::engine {

class FitIndex {
  public:
    void reset(const Cluster& cluster);
    // The node's room is now this; `present` false takes it out.
    void set(const Cluster& cluster, int node, const Room& room, const CardRoom* cards, bool present);

    // Nodes for a plain shape in its order, best first: calls f(node, level, tight) until it returns false. A node told may lack
    // anything but idle cards, and when `tight` a bit of a card too; one not told lacks cores or cards.
    template <class F>
    void walk(const Cluster& cluster, const Shape& shape, F f) const;

  private:
    static constexpr std::size_t types_walked_max = 64;
    struct Home {  // where a node is
        int type = -1;
        bool present = false;
        std::uint16_t idle = 0, cpu_only = 0;
        std::uint8_t cores = 0;
        std::vector<std::uint8_t> steps;  // what is left of each card, in steps; 255: it takes nothing
    };
    struct OfType {
        Buckets idle, slices;  // of nodes with cards of one type
    };
    void leave_slices(std::size_t rank, const Home& home);
    void move_slices(std::size_t rank, Home& home, const CardRoom* cards, std::size_t count);

    std::vector<Home> homes_;  // by node
    std::vector<OfType> types_;
    Buckets cpu_only_;
};

template <class F>
void FitIndex::walk(const Cluster& cluster, const Shape& shape, F f) const {
    const auto least_class = cpu_class(shape.cpu);
    // All nodes of one bucket; `tight`: the row is the least that could do.
    const auto visit = [&](const Buckets& buckets, std::size_t bucket, std::size_t left, bool tight) {
        const auto level = fit_level_of(left, bucket % cpu_classes);
        return buckets.each(bucket, [&](std::size_t rank) { return f(cluster.by_name()[rank], level, tight); });
    };
    if (shape.cards == 0) {
        const auto end = (cards_per_node_max + 2) * cpu_classes;
        for (auto b = cpu_only_.next(0, end); b < end; b = cpu_only_.next(b + 1, end))
            if (b % cpu_classes >= least_class && !visit(cpu_only_, b, b / cpu_classes, false)) return;
        return;
    }
    // Of every type the row with the same left over, so that types compare.
    struct Row {
        const Buckets* buckets = nullptr;
        std::size_t at = 0, rows = 0;
    };
    std::array<Row, types_walked_max> rows;
    std::size_t count = 0;
    for (std::size_t t = 0; t < types_.size() && count < rows.size(); ++t) {
        const CardNeed& need = shape.need(cluster, static_cast<int>(t));
        if (need.fails != CardNeed::nothing) continue;
        if (need.whole)
            rows[count++] = {&types_[t].idle, 1, cards_per_node_max + 1};
        else
            rows[count++] = {&types_[t].slices, left_step(need, cluster.type(static_cast<int>(t)).memory), left_steps + 1};
    }
    if (count == 1) {
        const auto [buckets, at, size] = rows.front();
        const auto end = size * cpu_classes;
        for (auto b = buckets->next(at * cpu_classes, end); b < end; b = buckets->next(b + 1, end))
            if (b % cpu_classes >= least_class && !visit(*buckets, b, b / cpu_classes - at, b / cpu_classes == at)) return;
        return;
    }
    std::vector<std::size_t> together;
    for (std::size_t left = 0; left <= left_steps; ++left)
        for (auto cores = least_class; cores < cpu_classes; ++cores) {
            together.clear();
            for (const auto& [buckets, at, size] : std::span(rows.data(), count))
                if (at + left < size)
                    buckets->each((at + left) * cpu_classes + cores, [&](std::size_t rank) { return together.push_back(rank), true; });
            std::sort(together.begin(), together.end());
            for (const auto rank : together)
                if (!f(cluster.by_name()[rank], fit_level_of(left, cores), left == 0)) return;
        }
}

}  // namespace crater::engine
