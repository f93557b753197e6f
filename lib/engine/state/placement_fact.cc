#include "state/placement_fact.h"

#include "crater/base/ids.h"
#include "state/fact_hash.h"

namespace crater::engine {
namespace {

std::int64_t number(std::uint64_t value) { return static_cast<std::int64_t>(value); }

// Whole numbers in a fixed order.
class Numbers {
  public:
    void add(std::int64_t value) {
        hash_ = (hash_ ^ static_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15;
        hash_ ^= hash_ >> 32;
    }
    std::uint64_t hash(std::uint64_t set) {
        add(number(set));
        return mixed(number(hash_));
    }

  private:
    std::uint64_t hash_ = mixed(static_cast<std::int64_t>(FactKind::placement));
};

std::int64_t name_number(std::string_view name) { return name.empty() ? 0 : number(hash64(name)); }

}  // namespace

std::uint64_t placement_fact(std::uint64_t job, std::int64_t task, const Allocation& a) {
    Numbers out;
    const bool bound = a.numa_node >= 0;
    for (const std::int64_t v :
         {number(job), task, name_number(a.node), a.cpu.value, a.memory.value, bound ? a.numa_node : -1,
          bound ? a.memory_bandwidth.value : 0, name_number(a.disk), a.disk_size.value, a.disk_iops.value,
          a.disk_bandwidth.value, std::int64_t{a.node_exclusive}, static_cast<std::int64_t>(a.gpus.size())})
        out.add(v);
    for (const auto& slice : a.gpus) {
        out.add(slice.index), out.add(slice.compute.value), out.add(slice.memory.value);
        out.add((slice.exclusive ? 1 : 0) + (slice.capped ? 2 : 0));
        if (!slice.partition.empty()) out.add(slice.start);
    }
    std::uint64_t cpus = 0;
    for (const auto cpu : a.cpu_set) cpus += mixed(cpu);
    return out.hash(cpus);
}

std::uint64_t placement_fact(std::uint64_t job, std::int64_t task, const Node& node, const Slices& s) {
    Numbers out;
    const bool bound = s.domain >= 0;
    const std::int64_t domain = bound ? node.domains[static_cast<std::size_t>(s.domain)].id : -1;
    const std::int64_t disk =
        s.disk >= 0 ? name_number(node.disks[static_cast<std::size_t>(s.disk)].name) : 0;
    for (const std::int64_t v : {number(job), task, number(node.name_hash), s.cpu, s.memory, domain,
                                 bound ? s.bandwidth : 0, disk, s.disk_size, s.disk_iops, s.disk_bandwidth,
                                 std::int64_t{s.node_exclusive}, static_cast<std::int64_t>(s.cards.size())})
        out.add(v);
    for (const auto& slice : s.cards) {
        out.add(node.cards[static_cast<std::size_t>(slice.card)].index), out.add(slice.compute),
            out.add(slice.memory);
        out.add((slice.exclusive ? 1 : 0) + (slice.capped ? 2 : 0));
        if (slice.start >= 0) out.add(slice.start);
    }
    std::uint64_t cpus = 0;
    s.cores.each([&](std::size_t core) { cpus += node.board->facts[core]; });
    return out.hash(cpus);
}

}  // namespace crater::engine
