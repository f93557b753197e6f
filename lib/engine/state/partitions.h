// Cards that are cut into instances at fixed places (NVIDIA MIG, Ascend vNPU): which of them serves a
// request, where it begins, and what can still be placed. A place is a run of the card's memory slots; an
// instance at a bad one blocks larger ones, so that it goes where the largest that can still be placed stays
// largest (NVIDIA MIG user guide, placements; DESIGN 4).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crater/model/node.h"

namespace crater::engine {

// How many instances cover each of up to eight slots, four bits a slot: a sum, as everything in the books, so
// that bookings that are only tried may overlap and are undone with the other sign.
using Slots = std::uint32_t;
inline constexpr std::int64_t slots_max = 8;

// What an instance is called that its card does not have any more; by its amounts it is known again when the
// card has it.
inline constexpr const char* lost_partition = "lost";

struct Partitions {
    struct Row {
        std::string name;
        std::int64_t memory = 0, nominal = 0;  // MiB, as it is and as it is called
        int compute = 0;                       // thousandths of the card
        int size = 1;
        std::vector<int> starts;
        bool operator==(const Row&) const = default;
    };
    std::vector<Row> rows;  // by memory, then compute
    bool operator==(const Partitions&) const = default;

    bool empty() const { return rows.empty(); }
    // The smallest row with so much of both; -1 when there is none.
    int least(std::int64_t memory, std::int64_t compute) const;
    int named(const std::string& name) const;  // -1 when there is none
    // The row of an instance that begins there, by name, by its amounts when it was lost; -1 when there is
    // none.
    int placed(const std::string& name, std::int64_t memory, int compute, int start) const;
    static Slots covered(int size, int start) {
        return static_cast<Slots>((((std::uint64_t{1} << 4 * size) - 1) / 15) << 4 * start);
    }
    // The start at which most is left for others; -1 when it cannot be placed.
    int start_for(int row, Slots taken) const;
    std::int64_t largest(Slots taken) const;  // memory of the largest row that can be placed; 0: none
};

// What is wrong with a card's list; empty when nothing is.
std::string partitions_fault(const Gpu& gpu);
Partitions partitions_of(const Gpu& gpu);

}  // namespace crater::engine
