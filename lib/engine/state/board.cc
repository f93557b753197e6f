#include "state/board.h"

#include <algorithm>

#include "state/fact_hash.h"
#include "state/placement_fact.h"

namespace crater::engine {
namespace {

void find_cores(Board& board, const NumaDomain& domain, int position) {
    std::vector<std::pair<std::int64_t, std::int64_t>> threads;  // (core, cpu)
    for (std::size_t i = 0; i < domain.cpus.size(); ++i)
        threads.emplace_back(i < domain.core_of.size() ? domain.core_of[i] : domain.cpus[i], domain.cpus[i]);
    std::sort(threads.begin(), threads.end());
    for (std::size_t i = 0; i < threads.size(); ++i) {
        if (i == 0 || threads[i].first != threads[i - 1].first)
            board.cores.push_back({.domain = position, .cpus = {}});
        board.cores.back().cpus.push_back(threads[i].second);
    }
}

// CPUs beyond what is schedulable are the system's: the first ones, where interrupts and daemons usually are.
// Where fewer are listed than can be scheduled, whole cores are not given out at all.
void keep_for_system(Board& board, std::int64_t listed, std::int64_t schedulable) {
    std::int64_t reserved = listed - schedulable;
    if (reserved < 0) reserved = listed;
    for (auto& core : board.cores) {
        core.system = reserved > 0;
        reserved -= 1000 * static_cast<std::int64_t>(core.cpus.size());
    }
}

void index_cores(Board& board) {
    board.free.assign(board.domains.size() + 1, std::vector<std::uint64_t>(board.words(), 0));
    for (std::size_t c = 0; c < board.cores.size(); ++c) {
        const Core& core = board.cores[c];
        std::uint64_t fact = 0;
        for (const auto cpu : core.cpus) fact += mixed(cpu);
        board.facts.push_back(fact);
        if (core.system) continue;
        board.free[static_cast<std::size_t>(core.domain)][c / 64] |= std::uint64_t{1} << (c % 64);
        board.free.back()[c / 64] |= std::uint64_t{1} << (c % 64);
    }
}

}  // namespace

Board Board::of(const NodeInventory& inventory, std::int64_t cpu, std::int64_t memory) {
    Board board;
    std::int64_t listed = 0;
    for (const auto& d : inventory.numa) {
        Domain domain{.id = d.id, .memory = d.memory.value, .bandwidth = d.memory_bandwidth.value};
        domain.cpu = static_cast<std::int64_t>(d.cpus.size()) * 1000;
        find_cores(board, d, static_cast<int>(board.domains.size()));
        listed += domain.cpu;
        board.domains.push_back(domain);
    }
    if (board.domains.empty()) board.domains.push_back({.id = -1, .cpu = cpu, .memory = memory});
    // A domain without a list of CPUs has its part of the node's.
    for (auto& domain : board.domains)
        if (domain.cpu == 0) domain.cpu = cpu / static_cast<std::int64_t>(board.domains.size());
    keep_for_system(board, listed, cpu);
    index_cores(board);
    return board;
}

std::shared_ptr<const Board> Boards::of(const NodeInventory& inventory, std::int64_t cpu,
                                        std::int64_t memory) {
    FactBytes bytes;
    bytes.add(inventory.numa), bytes.add(cpu), bytes.add(inventory.numa.empty() ? memory : 0);
    auto& known = known_[bytes.bytes()];
    if (auto board = known.lock()) return board;
    const auto made = std::make_shared<const Board>(Board::of(inventory, cpu, memory));
    known = made;
    std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
    return made;
}

}  // namespace crater::engine
