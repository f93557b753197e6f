// Facts of nodes: what they are, whether they take work, how much of them is in use.
#include "engine_impl.h"
#include "state/fact_hash.h"

namespace crater::engine {
namespace {

// What lies in a cache comes and goes, and the free space of its disk with it; the node need not be built
// anew.
bool only_cache_differs(const Node& node, const NodeInventory& now) {
    if (!node.present || node.inventory->cache == now.cache) return false;
    NodeInventory as_before = now;
    as_before.cache = node.inventory->cache;
    if (now.disks.size() != node.inventory->disks.size()) return false;
    for (std::size_t k = 0; k < now.disks.size(); ++k)
        as_before.disks[k].free = node.inventory->disks[k].free;
    FactBytes before, after;
    before.add(*node.inventory), after.add(as_before);
    return before.bytes() == after.bytes();
}

}  // namespace

void Engine::Impl::on(const NodeSet& fact) {
    if (const int n = cluster_.find(fact.inventory->name);
        n >= 0 && only_cache_differs(cluster_.node(n), *fact.inventory)) {
        ++holdings_;
        cluster_.set_cache(n, fact.inventory);
        set_fact(node_facts_[fact.inventory->name], fact_hash(FactKind::node, *fact.inventory));
        return gained(n);
    }
    // What is held there is taken off the books of the old hardware and put on those of the new.
    struct Moved {
        Slices* slices;
        Allocation allocation;
    };
    std::vector<Moved> moved;
    if (const int n = cluster_.find(fact.inventory->name); n >= 0) {
        for (const auto& held : held_on_[static_cast<std::size_t>(n)])
            moved.push_back({&job(held.job).tasks[static_cast<std::size_t>(held.task)].slices, {}});
        for (const int p : preemptors_)
            for (auto& slices : job(p).pledge)
                if (slices.node == n) moved.push_back({&slices, {}});
        for (auto& part : moved) {
            part.allocation = cluster_.to_allocation(*part.slices);
            cluster_.book(*part.slices, -1);
        }
    }
    ++holdings_;
    const int types = cluster_.type_count();
    const int known = cluster_.find(fact.inventory->name);
    if (known < 0 || !areas_.stands_still(cluster_, known, *fact.inventory)) areas_.forget();
    const int n = cluster_.set_node(fact.inventory);
    surveys_.node_registered(cluster_, n);
    if (known >= 0) reservations_.rebuilt(n);
    // a shape may take another part of the new cards
    if (types != cluster_.type_count()) pricing_.forget(), seats_.levels_changed();
    held_on_.resize(static_cast<std::size_t>(cluster_.size()));
    for (auto& part : moved) {
        const int crowd = part.slices->crowd;
        *part.slices = cluster_.from_allocation(part.allocation);
        part.slices->crowd = crowd;
        cluster_.book(*part.slices, 1);
    }
    set_fact(node_facts_[fact.inventory->name], fact_hash(FactKind::node, *fact.inventory));
    gained(n);
}

void Engine::Impl::on(const NodeFlags& fact) {
    const int n = node_named(fact.node);
    ++holdings_;
    cluster_.set_flags(n, fact.draining, fact.lost);
    FactBytes bytes;
    bytes.add(fact.node), bytes.add(fact.draining), bytes.add(fact.lost);
    // A node without flags is the same as one that never had any.
    const bool plain = !fact.draining && !fact.lost;
    set_fact(flag_facts_[fact.node], plain ? 0 : bytes.hash(static_cast<std::uint64_t>(FactKind::flags)));
    if (plain) gained(n);
}

void Engine::Impl::on(const NodeTaints& fact) {
    const int n = node_named(fact.node);
    ++holdings_;
    cluster_.set_taints(n, fact.taints);
    FactBytes bytes;
    bytes.add(fact.node), bytes.add(fact.taints);
    set_fact(taint_facts_[fact.node],
             fact.taints.empty() ? 0 : bytes.hash(static_cast<std::uint64_t>(FactKind::taints)));
    gained(n);
}

void Engine::Impl::on(const NodeMaintenance& fact) {
    const int n = node_named(fact.node);
    ++holdings_;
    const bool first = !cluster_.maintained();
    cluster_.set_windows(n, fact.windows, now_);
    FactBytes bytes;
    bytes.add(fact.node), bytes.add(fact.windows);
    set_fact(maintenance_facts_[fact.node],
             fact.windows.empty() ? 0 : bytes.hash(static_cast<std::uint64_t>(FactKind::maintenance)));
    gained(n);
    // From now on it matters how long a job takes.
    if (first && cluster_.maintained())
        for (auto& slot : jobs_)
            if (slot && slot->waiting > 0) reshape(*slot);
}

void Engine::Impl::on(const NodeRemoved& fact) {
    const int n = node_named(fact.node);
    for (const int p : std::vector<int>(preemptors_)) {
        const auto& pledge = job(p).pledge;
        if (std::any_of(pledge.begin(), pledge.end(), [&](const Slices& s) { return s.node == n; }))
            drop_pledge(job(p)), relist(job(p));
    }
    cluster_.remove_node(n);
    areas_.forget();
    set_fact(taint_facts_[fact.node], 0);
    set_fact(maintenance_facts_[fact.node], 0);
    set_fact(node_facts_[fact.node], 0);
    set_fact(flag_facts_[fact.node], 0);
}

void Engine::Impl::on(const LoadSampled& fact) {
    const int n = cluster_.find(fact.node);  // a sample may come after its node left
    if (n >= 0 && cluster_.set_sample(n, fact.sample)) gained(n);
}

}  // namespace crater::engine
