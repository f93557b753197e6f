#include "state/ledger.h"

namespace crater::engine {
namespace {

using ColumnOf = Ledger::Column Ledger::*;
constexpr ColumnOf card_columns[] = {&Ledger::card_memory, &Ledger::card_compute, &Ledger::card_tasks,
                                     &Ledger::card_exclusive};
constexpr ColumnOf domain_columns[] = {&Ledger::domain_cpu, &Ledger::domain_memory, &Ledger::domain_bandwidth,
                                       &Ledger::domain_cores};
constexpr ColumnOf core_columns[] = {&Ledger::core};
constexpr ColumnOf disk_columns[] = {&Ledger::disk_size, &Ledger::disk_iops, &Ledger::disk_bandwidth};

void make_room(Ledger& ledger, std::span<const ColumnOf> columns, std::size_t count, int& at, int& room) {
    if (static_cast<int>(count) <= room) return;
    const auto to = (ledger.*columns[0]).size();
    for (auto member : columns) {
        auto& column = ledger.*member;
        column.resize(to + count, 0);
        for (int i = 0; i < room; ++i)
            std::swap(column[static_cast<std::size_t>(at + i)], column[to + static_cast<std::size_t>(i)]);
    }
    at = static_cast<int>(to);
    room = static_cast<int>(count);
}

}  // namespace

void Ledger::place(Node& node) {
    make_room(*this, card_columns, node.cards.size(), node.cards_at, node.cards_room);
    make_room(*this, domain_columns, node.domains.size(), node.domains_at, node.domains_room);
    make_room(*this, core_columns, node.cores.size(), node.cores_at, node.cores_room);
    make_room(*this, disk_columns, node.disks.size(), node.disks_at, node.disks_room);
}

void Ledger::match(const Ledger& other) {
    const auto same = [&](std::span<const ColumnOf> columns) {
        for (auto column : columns) (this->*column).resize((other.*column).size(), 0);
    };
    same(card_columns), same(domain_columns), same(core_columns), same(disk_columns);
}

void Ledger::book(const Node& node, const Slices& s, int sign) {
    const auto n = static_cast<std::size_t>(s.node);
    cpu[n] += sign * s.cpu;
    if (s.cpu_only) cpu_only[n] += sign * s.cpu;
    memory[n] += sign * s.memory;
    tasks[n] += sign;
    if (s.node_exclusive) exclusive[n] += sign;

    for (const auto& slice : s.cards) {
        const auto c = static_cast<std::size_t>(node.cards_at + slice.card);
        card_memory[c] += sign * slice.memory;
        card_compute[c] += sign * slice.compute;
        card_tasks[c] += sign;
        if (slice.exclusive) card_exclusive[c] += sign;
    }
    for (int position : s.cores) {
        const auto& physical = node.cores[static_cast<std::size_t>(position)];
        const auto d = static_cast<std::size_t>(node.domains_at + physical.domain);
        core[static_cast<std::size_t>(node.cores_at + position)] += sign;
        domain_cores[d] += sign;
        domain_cpu[d] += sign * 1000 * static_cast<std::int64_t>(physical.cpus.size());
    }
    if (s.domain >= 0) {
        const auto d = static_cast<std::size_t>(node.domains_at + s.domain);
        if (s.cores.empty()) domain_cpu[d] += sign * s.cpu;
        domain_memory[d] += sign * s.memory;
        domain_bandwidth[d] += sign * s.bandwidth;
    }
    if (s.disk >= 0) {
        const auto k = static_cast<std::size_t>(node.disks_at + s.disk);
        disk_size[k] += sign * s.disk_size;
        disk_iops[k] += sign * s.disk_iops;
        disk_bandwidth[k] += sign * s.disk_bandwidth;
    }
}

}  // namespace crater::engine
