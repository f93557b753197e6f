// Best fit without looking at nodes that are not the best: nodes by how much is left on their cards, by how
// many cards are idle, and within that by a class of free cores. A plain shape walks the buckets from its
// need upwards and takes the first node that has the rest as well. The order is that of `fit_level`; nothing
// in it depends on how many nodes or shapes there are.
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
    void fetch(int node) const { __builtin_prefetch(&homes_[static_cast<std::size_t>(node)]); }
    // The node's room is now this; `present` false takes it out. `same_cards`: its cards are as they were.
    void set(const Cluster& cluster, int node, const Room& room, std::span<const CardRoom> cards,
             bool present, bool same_cards);

    // Nodes for a plain shape in its order, best first: calls f(node, left, level) until it returns false;
    // `left` is in the unit of the level. A node is told once for each different card it has; it may lack
    // anything but idle cards. One not told lacks cores or cards.
    template <class F>
    void walk(const Cluster& cluster, const Shape& shape, F f) const;

  private:
    // what is left of its cards, as bits by step
    using Steps = std::array<std::uint64_t, (left_steps + 64) / 64>;
    struct alignas(32) Home {  // where a node is
        Steps steps{};
        std::int16_t type = -1;
        std::uint16_t idle = 0, cpu_only = 0;
        std::uint8_t cores = 0;
        bool present = false;
        bool operator==(const Home&) const = default;
    };
    struct OfType {
        Buckets idle, slices;  // of nodes with cards of one type
    };
    void move_slices(std::size_t rank, int type, const Home& before, const Home& now);

    std::vector<Home> homes_;  // by node
    std::vector<OfType> types_;
    Buckets cpu_only_;
};

template <class F>
void FitIndex::walk(const Cluster& cluster, const Shape& shape, F f) const {
    const auto least_class = cpu_class(shape.cpu);
    // buckets with enough cores
    const std::uint64_t among = (0xff & 0xff << least_class) * 0x0101010101010101;
    static_assert(cpu_classes == 8);
    const auto visit = [&](const Buckets& buckets, std::size_t bucket, std::size_t left) {
        const auto level = fit_level_of(left, bucket % cpu_classes);
        return buckets.each(bucket,
                            [&](std::size_t rank) { return f(cluster.by_name()[rank], left, level); });
    };
    if (shape.cards == 0) {
        const auto end = (cards_per_node_max + 2) * cpu_classes;
        for (auto b = cpu_only_.next(0, end, among); b < end; b = cpu_only_.next(b + 1, end, among))
            if (!visit(cpu_only_, b, b / cpu_classes)) return;
        return;
    }
    // Of every type the row with the same left over, so that types compare.
    struct Row {
        const Buckets* buckets = nullptr;
        std::size_t at = 0, rows = 0;
    };
    Few<Row, 4> rows;
    for (std::size_t t = 0; t < types_.size(); ++t) {
        const CardNeed& need = shape.need(cluster, static_cast<int>(t));
        if (need.fails != CardNeed::nothing) continue;
        if (need.whole)
            rows.push_back({&types_[t].idle, 1, cards_per_node_max + 1});
        else
            rows.push_back({&types_[t].slices, std::size_t{need.step}, left_steps + 1});
    }
    if (rows.size() == 1) {
        const auto [buckets, at, size] = rows.front();
        const auto end = size * cpu_classes;
        for (auto b = buckets->next(at * cpu_classes, end, among); b < end;
             b = buckets->next(b + 1, end, among))
            if (!visit(*buckets, b, b / cpu_classes - at)) return;
        return;
    }
    std::vector<std::size_t> together;
    for (std::size_t left = 0; left <= left_steps; ++left)
        for (auto cores = least_class; cores < cpu_classes; ++cores) {
            together.clear();
            for (const auto& [buckets, at, size] : rows)
                if (at + left < size)
                    buckets->each((at + left) * cpu_classes + cores,
                                  [&](std::size_t rank) { return together.push_back(rank), true; });
            std::sort(together.begin(), together.end());
            for (const auto rank : together)
                if (!f(cluster.by_name()[rank], left, fit_level_of(left, cores))) return;
        }
}

}  // namespace crater::engine
