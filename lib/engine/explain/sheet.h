// What questions read of every node that bookings do not change: one cache line a node, by rank. Whether a node fails one of the filters that
// ask hardly anything of the shape is found once, for all shapes.
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
        std::int64_t cpu = 0, cpu_only = 0, memory = 0;  // cpu_only: for work without a GPU
        Mask usable = 0, calm = 0, below = 0;            // cards; below the watermark
        std::int32_t cards_at = 0, card_type = -1;
        std::uint8_t cards = 0;  // how many
        std::uint8_t fails = 0;  // which of the probes
        bool present = false;
        // Its cards are of one type, it has no taints and no maintenance ahead: the row and the books tell all that most shapes ask.
        bool ordinary = false;
    };

    void refresh(const Cluster& cluster);
    const Row& at(std::size_t rank) const { return rows_[rank]; }

    // The filters that `fails` and `ordinary` answer for, and what a shape lacks where `fails` is so much.
    static constexpr std::size_t probe_count = 6;
    using Failed = std::array<Lacks, 1 << probe_count>;
    static Lacks covered();
    static Failed failed(const Shape& shape);

  private:
    std::vector<Row> rows_;
    std::vector<std::uint64_t> versions_;
    std::uint64_t layout_ = 0, synced_ = 0;
    bool filled_ = false;
};

}  // namespace crater::engine
