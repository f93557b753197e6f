#include "state/ledger.h"

#include <bit>

namespace crater::engine {
namespace {

template <class Row>
void make_room(std::vector<Row>& rows, std::size_t count, int& at, int& room) {
    if (static_cast<int>(count) <= room) return;
    const auto to = rows.size();
    rows.resize(to + count);
    for (int i = 0; i < room; ++i)
        std::swap(rows[static_cast<std::size_t>(at + i)], rows[to + static_cast<std::size_t>(i)]);
    at = static_cast<int>(to);
    room = static_cast<int>(count);
}

// Entries of none are left out, so that equal books are equal whatever came between.
void book_crowd(std::vector<CrowdUse>& here, int crowd, int sign) {
    for (auto& use : here) {
        if (use.crowd != crowd) continue;
        if ((use.tasks += sign) == 0) use = here.back(), here.pop_back();
        return;
    }
    here.push_back({crowd, sign});
}

}  // namespace

void Ledger::place(Node& node) {
    int at = node.cards_at, room = node.cards_room;
    make_room(slots, node.cards.size(), at, room);
    make_room(cards, node.cards.size(), node.cards_at, node.cards_room);
    make_room(domains, node.domains.size(), node.domains_at, node.domains_room);
    make_room(cores, node.board->words(), node.cores_at, node.cores_room);
    make_room(disks, node.disks.size(), node.disks_at, node.disks_room);
}

void Ledger::match(const Ledger& other) {
    cards.resize(other.cards.size());
    slots.resize(other.slots.size());
    domains.resize(other.domains.size());
    cores.resize(other.cores.size());
    disks.resize(other.disks.size());
}

void Ledger::book(const Node& node, const Slices& s, int sign) {
    NodeUse& whole = nodes[static_cast<std::size_t>(s.node)];
    whole.cpu += sign * s.cpu;
    if (s.cpu_only) whole.cpu_only += sign * s.cpu;
    whole.memory += sign * s.memory;
    whole.tasks += sign;
    if (s.node_exclusive) whole.exclusive += sign;
    if (s.crowd >= 0) book_crowd(crowds[static_cast<std::size_t>(s.node)], s.crowd, sign);

    for (const auto& slice : s.cards) {
        CardUse& card = cards[static_cast<std::size_t>(node.cards_at + slice.card)];
        card.memory += sign * slice.memory;
        card.compute += sign * slice.compute;
        card.tasks = static_cast<std::int16_t>(card.tasks + sign);
        if (slice.exclusive) card.exclusive = static_cast<std::int16_t>(card.exclusive + sign);
        if (slice.partition >= 0) book_slots(node, slice, sign);
    }
    if (!s.cores.empty()) book_cores(node, s, sign);
    if (s.domain >= 0) {
        DomainUse& domain = domains[static_cast<std::size_t>(node.domains_at + s.domain)];
        if (s.cores.empty()) domain.cpu += sign * s.cpu;
        domain.memory += sign * s.memory;
        domain.bandwidth += sign * s.bandwidth;
    }
    if (s.disk >= 0) {
        DiskUse& disk = disks[static_cast<std::size_t>(node.disks_at + s.disk)];
        disk.size += sign * s.disk_size;
        disk.iops += sign * s.disk_iops;
        disk.bandwidth += sign * s.disk_bandwidth;
    }
}

void Ledger::book_slots(const Node& node, const CardSlice& slice, int sign) {
    const Partitions& partitions = *node.partitions[static_cast<std::size_t>(slice.card)];
    const Slots covered =
        Partitions::covered(partitions.rows[static_cast<std::size_t>(slice.partition)].size, slice.start);
    Slots& taken = slots[static_cast<std::size_t>(node.cards_at + slice.card)];
    taken = sign > 0 ? taken + covered : taken - covered;
}

void Ledger::book_cores(const Node& node, const Slices& s, int sign) {
    const Board& board = *node.board;
    for (std::size_t w = 0; w < s.cores.words(); ++w) {
        const auto at = static_cast<std::size_t>(node.cores_at) + w;
        const std::uint64_t taken = s.cores.word(w);
        const auto count = [&](std::uint64_t bit) {
            share_core(at * 64 + static_cast<std::size_t>(std::countr_zero(bit)), sign);
        };
        if (sign > 0) {
            for (auto twice = taken & cores[at]; twice; twice &= twice - 1) count(twice);
            cores[at] |= taken;
        } else if (shared_cores.empty()) {
            cores[at] &= ~taken;
        } else {
            for (auto left = taken; left; left &= left - 1) count(left);
        }
    }
    s.cores.each([&](std::size_t position) {
        const Core& core = board.cores[position];
        domains[static_cast<std::size_t>(node.domains_at + core.domain)].cpu +=
            sign * 1000 * static_cast<std::int64_t>(core.cpus.size());
    });
}

// One task more or less has a core that others have too; the last one gives it back.
void Ledger::share_core(std::size_t bit, int sign) {
    const auto it = shared_cores.find(bit);
    if (sign > 0) {
        if (it == shared_cores.end())
            shared_cores.emplace(bit, 1);
        else
            ++it->second;
    } else if (it == shared_cores.end()) {
        cores[bit / 64] &= ~(std::uint64_t{1} << (bit % 64));
    } else if (--it->second == 0) {
        shared_cores.erase(it);
    }
}

}  // namespace crater::engine
