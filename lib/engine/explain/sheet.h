// What questions read of every node, whatever they are about: two cache lines a node. Found once for all
// shapes, by the filters themselves where these ask hardly anything of the shape, and renewed where nodes
// changed.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "explain/lacks.h"
#include "state/cluster.h"

namespace crater::engine {

class Sheet {
  public:
    struct alignas(64) Row {
        std::int64_t cpu = 0, cpu_only = 0, memory = 0;  // free; the second for work without a GPU
        Mask usable = 0, calm = 0, below = 0;            // cards; not too busy; not above the watermark
        std::int32_t cards_at = 0;                       // in the books
        // MiB on the usable card that has most left; nothing_left: none may be shared
        std::int32_t least_used = 0;
        std::int16_t card_type = -1;
        // how many; idle: unused to the last thousandth
        std::uint8_t cards = 0, healthy = 0, unused = 0, idle = 0;
        std::uint8_t fails = 0;  // which of the probes
        bool present : 1 = false;
        // Its cards are of one type, it has no taints and no maintenance ahead: the row and the books tell
        // all that most shapes ask.
        bool ordinary : 1 = false;
        bool taken : 1 = false, shared : 1 = false;  // as a whole; by anybody
        bool quiet : 1 = false;                      // every usable card is calm and below the watermark
        bool laned : 1 = false;                      // quiet, and the lanes tell all about parts of its cards
    };
    static_assert(sizeof(Row) == 64);
    static constexpr std::int32_t nothing_left = INT32_MAX;
    // The use of the first cards, side by side so that they are compared at once; nothing_left where there is
    // no usable one to share.
    struct alignas(64) Lanes {
        static constexpr std::size_t count = 8;
        std::array<std::int32_t, count> memory, compute;
    };

    // A node registered: what it is need not be found when the first question comes.
    void add(const Cluster& cluster, int n);
    void refresh(const Cluster& cluster);
    std::size_t size() const { return rows_.size(); }
    const Row& at(int n) const { return rows_[static_cast<std::size_t>(n)]; }
    const Lanes& lanes(int n) const { return lanes_[static_cast<std::size_t>(n)]; }
    void fetch(int n) const { __builtin_prefetch(&at(n)), __builtin_prefetch(&lanes(n)); }

    // Nodes that changed, in order; positions never shift, older ones may be gone.
    std::uint64_t changes_begin() const { return changes_base_; }
    std::uint64_t changes_end() const { return changes_base_ + changes_.size(); }
    int change(std::uint64_t at) const { return changes_[static_cast<std::size_t>(at - changes_base_)]; }

    // The filters that `fails` and `ordinary` answer for, and what a shape lacks where `fails` is so much.
    static constexpr std::size_t probe_count = 6;
    using Failed = std::array<Lacks, 1 << probe_count>;
    static Lacks covered();
    static Failed failed(const Shape& shape);

  private:
    // What a node has, while its condition stands.
    struct Totals {
        std::int64_t cpu = 0, cpu_only = 0, memory = 0;
        std::uint32_t condition = 0;
    };
    void grow(const Cluster& cluster);
    std::vector<int> changed_nodes(const Cluster& cluster);
    void fetch_row(int n, const Ledger& books) const;
    void stand(const Cluster& cluster, int n);
    void measure(const Cluster& cluster, int n);
    void measure_cards(const Cluster& cluster, Row& row, Lanes& lanes) const;
    void tell(const std::vector<int>& changed);

    // By node.
    std::vector<Row> rows_;
    std::vector<Lanes> lanes_;
    std::vector<Totals> totals_;
    std::vector<std::uint64_t> versions_;
    std::vector<int> changes_;
    std::uint64_t changes_base_ = 0, synced_ = 0;  // synced_: with the cluster's changes
};

}  // namespace crater::engine
