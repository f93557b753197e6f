// What is held where, for showing.
#include <algorithm>
#include <map>

#include "engine_impl.h"

namespace crater::engine {

NodeBook Engine::Impl::totals_of(const Node& node) const {
    NodeBook out;
    out.node = node.name;
    out.cpu_total = MilliCpu(node.cpu);
    out.memory_total = Bytes(node.memory);
    for (const auto& domain : node.domains) out.bandwidth_total += BytesPerSecond(domain.bandwidth);
    for (const auto& disk : node.disks) out.disk_total += Bytes(disk.size), out.iops_total += Iops(disk.iops);
    out.cards.resize(node.cards.size());
    for (std::size_t c = 0; c < node.cards.size(); ++c)
        out.cards[c].memory_total = Mebibytes(cluster_.type(node.cards[c].type).memory);
    return out;
}

NodeBook Engine::Impl::book_of(const Node& node, int n) const {
    NodeBook out = totals_of(node);
    for (std::size_t c = 0; c < node.cards.size(); ++c) {
        const auto memory = cluster_.type(node.cards[c].type).memory;
        out.cards[c].memory_limit = Mebibytes(cluster_.card_limit(memory));
        if (const auto real = node.live.memory_on(c); real >= 0) out.cards[c].memory_real = Mebibytes(real);
    }
    // From the tasks, not from the ledger: that also carries what is only kept for somebody.
    for (const auto& held : held_on_[static_cast<std::size_t>(n)]) {
        const TaskSlot& task = job(held.job).tasks[static_cast<std::size_t>(held.task)];
        const Slices& s = task.slices;
        out.cpu_used += MilliCpu(s.cpu);
        out.memory_used += Bytes(s.memory);
        out.bandwidth_used += BytesPerSecond(s.bandwidth);
        out.disk_used += Bytes(s.disk_size);
        out.iops_used += Iops(s.disk_iops);
        for (const auto& slice : s.cards) {
            CardBook& card = out.cards[static_cast<std::size_t>(slice.card)];
            card.compute_used += MilliGpu(slice.compute);
            card.memory_used += Mebibytes(slice.memory);
            card.exclusive |= slice.exclusive;
            ++card.tasks;
        }
        ++out.tasks;
        out.hash += task.fact;
    }
    return out;
}

std::vector<NodeBook> Engine::Impl::books() const {
    std::vector<NodeBook> out;
    for (const int n : cluster_.by_name())
        if (cluster_.node(n).present) out.push_back(book_of(cluster_.node(n), n));
    return out;
}

Result<NodeBook> Engine::Impl::book(const std::string& name) const {
    const int n = cluster_.find(name);
    if (n < 0 || !cluster_.node(n).present) return fail(Code::not_found, "there is no node " + name, "node");
    return book_of(cluster_.node(n), n);
}

std::vector<FreeSlice> Engine::Impl::largest_free() const {
    std::map<std::string, FreeSlice> by_model;
    for (const int n : cluster_.by_name()) {
        const Node& node = cluster_.node(n);
        if (!node.present) continue;
        std::map<std::string, std::int64_t> whole_here;
        for (std::size_t c = 0; c < node.cards.size(); ++c) {
            if (node.cards[c].gone) continue;
            const CardType& type = cluster_.type(node.cards[c].type);
            auto [it, fresh] = by_model.try_emplace(
                type.model, FreeSlice{.model = type.model, .simulated = true, .largest = {}, .node = {}});
            FreeSlice& free = it->second;
            free.simulated &= node.inventory->simulated;
            if (!node.takes_work() || !node.cards[c].usable) continue;
            const CardUse& used = cluster_.used().cards[static_cast<std::size_t>(node.cards_at) + c];
            const bool untouched = used.tasks == 0;
            if (untouched) ++free.whole_cards, ++whole_here[type.model];
            const bool closed = node.live.above_watermark >> c & 1;
            const bool full = closed || used.exclusive > 0 ||
                              used.tasks >= cluster_.settings().max_tasks_per_gpu || used.compute >= 1000;
            // By what may be declared, and never more than a card has.
            const auto limit = cluster_.card_limit(type.memory);
            const Mebibytes left(full ? 0 : std::clamp<std::int64_t>(limit - used.memory, 0, type.memory));
            if (left > free.largest) free.largest = left, free.node = node.name;
        }
        for (const auto& [model, count] : whole_here)
            by_model[model].cards_on_one_node = std::max(by_model[model].cards_on_one_node, count);
    }
    std::vector<FreeSlice> out;
    for (auto& [model, free] : by_model) out.push_back(std::move(free));
    return out;
}

Usage Engine::Impl::usage(const std::string& tenant) const {
    const int t = tenants_.find(tenant);
    return t < 0 ? Usage{} : to_usage(tenants_.held(t));
}

std::vector<std::string> Engine::Impl::waiting(const std::string& queue) const {
    std::vector<std::string> out;
    if (const int q = backlog_.find(queue); q >= 0) {
        refresh_shares(q);
        for (const auto& [priority, member] : backlog_.ordered(q)) out.emplace_back(member.id);
    }
    return out;
}

}  // namespace crater::engine
