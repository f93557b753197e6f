#include "state/partitions.h"

#include <algorithm>
#include <tuple>

#include "state/node.h"

namespace crater::engine {
namespace {

bool is_free(Slots taken, int size, int start) {
    for (int at = start; at < start + size; ++at)
        if (taken >> 4 * at & 15) return false;
    return true;
}

bool can_be_placed(const Partitions::Row& row, Slots taken) {
    return std::any_of(row.starts.begin(), row.starts.end(),
                       [&](int start) { return is_free(taken, row.size, start); });
}

}  // namespace

int Partitions::least(std::int64_t memory, std::int64_t compute) const {
    for (std::size_t r = 0; r < rows.size(); ++r)
        if (rows[r].nominal >= memory && rows[r].compute >= compute) return static_cast<int>(r);
    return -1;
}

int Partitions::named(const std::string& name) const {
    for (std::size_t r = 0; r < rows.size(); ++r)
        if (rows[r].name == name) return static_cast<int>(r);
    return -1;
}

int Partitions::placed(const std::string& name, std::int64_t memory, int compute, int start) const {
    const auto it = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
        const bool same =
            name == lost_partition ? row.memory == memory && row.compute == compute : row.name == name;
        return same && std::find(row.starts.begin(), row.starts.end(), start) != row.starts.end();
    });
    return it == rows.end() ? -1 : static_cast<int>(it - rows.begin());
}

std::int64_t Partitions::largest(Slots taken) const {
    for (auto row = rows.rbegin(); row != rows.rend(); ++row)
        if (can_be_placed(*row, taken)) return row->memory;
    return 0;
}

// By the largest row that can still be placed, then by the sum over all rows of their places still free, then
// the last start.
int Partitions::start_for(int r, Slots taken) const {
    const Row& row = rows[static_cast<std::size_t>(r)];
    int best = -1;
    std::tuple<std::int64_t, int> most{-1, -1};
    for (const int start : row.starts) {
        if (!is_free(taken, row.size, start)) continue;
        const Slots then = taken + covered(row.size, start);
        int places = 0;
        for (const Row& other : rows)
            places += static_cast<int>(std::count_if(other.starts.begin(), other.starts.end(),
                                                     [&](int at) { return is_free(then, other.size, at); }));
        if (const std::tuple left{largest(then), places}; left >= most) most = left, best = start;
    }
    return best;
}

std::string partitions_fault(const Gpu& gpu) {
    for (const GpuPartition& row : gpu.partitions) {
        const bool sound = row.size >= 1 && row.memory.value > 0 && row.memory <= gpu.memory &&
                           row.compute.value >= 0 && row.compute.value <= 1000 && !row.starts.empty();
        if (!sound) return "its instance " + row.name + " is not sound";
        for (const auto start : row.starts)
            if (start < 0 || start + row.size > slots_max)
                return "its instance " + row.name + " lies beyond " + std::to_string(slots_max) +
                       " memory slots";
    }
    return {};
}

Partitions partitions_of(const Gpu& gpu) {
    Partitions out;
    for (const GpuPartition& row : gpu.partitions)
        out.rows.push_back({row.name,
                            row.memory.value,
                            nominal_memory(row.name, row.memory.value),
                            static_cast<int>(row.compute.value),
                            static_cast<int>(row.size),
                            {row.starts.begin(), row.starts.end()}});
    std::sort(out.rows.begin(), out.rows.end(), [](const Partitions::Row& a, const Partitions::Row& b) {
        return std::tie(a.memory, a.compute, a.name) < std::tie(b.memory, b.compute, b.name);
    });
    return out;
}

}  // namespace crater::engine
