#include "explain/sheet.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "state/fetch.h"

namespace crater::engine {
namespace {

constexpr std::size_t fetched_ahead = 8;  // nodes

// Of the shape they ask at most whether it is an image.
struct Probe {
    Lacks filter;
    const filter::Filter* row;
    Shape shape;
};
const std::array<Probe, Sheet::probe_count>& probes() {
    static const auto made = [] {
        std::array<Probe, Sheet::probe_count> out;
        std::size_t p = 0;
        for (const auto* name : {"node_state", "cpu_load", "memory_load", "disk_load", "runtime", "runtime"})
            out[p].filter = lack(name), out[p].row = &first_of(out[p].filter), ++p;
        out.back().shape.image = true;
        return out;
    }();
    return made;
}

std::uint8_t failed_probes(const Cluster& cluster, int n) {
    const auto& all = probes();
    const Look plain(all.front().shape, cluster, n), image(all.back().shape, cluster, n);
    std::uint8_t fails = 0;
    for (std::size_t p = 0; p < all.size(); ++p)
        if (!all[p].row->passes(all[p].shape.image ? image : plain))
            fails |= static_cast<std::uint8_t>(1 << p);
    return fails;
}

}  // namespace

void Sheet::grow(const Cluster& cluster) {
    const auto nodes = static_cast<std::size_t>(cluster.size());
    rows_.resize(nodes), lanes_.resize(nodes), totals_.resize(nodes), versions_.resize(nodes);
}

void Sheet::add(const Cluster& cluster, int n) {
    grow(cluster);
    stand(cluster, n);
}

void Sheet::refresh(const Cluster& cluster) {
    const Ledger& books = cluster.used();
    grow(cluster);
    const auto changed = changed_nodes(cluster);
    for (std::size_t i = 0; i < changed.size(); ++i) {
        // Nodes lie anywhere: those that come next are fetched meanwhile.
        if (i + 2 * fetched_ahead < changed.size()) fetch_row(changed[i + 2 * fetched_ahead], books);
        if (i + fetched_ahead < changed.size())
            engine::fetch(books.cards.data() + at(changed[i + fetched_ahead]).cards_at, 8 * sizeof(CardUse));
        const int n = changed[i];
        if (totals_[static_cast<std::size_t>(n)].condition != cluster.condition(n)) stand(cluster, n);
        measure(cluster, n);
    }
    tell(changed);
}

void Sheet::tell(const std::vector<int>& changed) {
    if (changed.size() > rows_.size() / 2) {  // all may as well be looked at again
        changes_base_ = changes_end() + 1;
        changes_.clear();
        return;
    }
    changes_.insert(changes_.end(), changed.begin(), changed.end());
    if (changes_.size() < 2 * rows_.size()) return;
    const auto old = changes_.size() - rows_.size();
    changes_base_ += old;
    changes_.erase(changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(old));
}

void Sheet::fetch_row(int n, const Ledger& books) const {
    fetch(n);
    engine::fetch(&totals_[static_cast<std::size_t>(n)]);
    engine::fetch(&books.nodes[static_cast<std::size_t>(n)]);
}

// Versions come back with the state, so that what is in the list of changes may be as it was.
std::vector<int> Sheet::changed_nodes(const Cluster& cluster) {
    std::vector<int> changed;
    const auto see = [&](int n) {
        auto& seen = versions_[static_cast<std::size_t>(n)];
        if (std::exchange(seen, cluster.version(n)) != cluster.version(n)) changed.push_back(n);
    };
    const auto end = cluster.changes_end();
    if (synced_ < cluster.changes_begin() || end - synced_ > rows_.size()) {
        for (int n = 0; n < cluster.size(); ++n) see(n);
    } else {
        for (auto at = synced_; at < end; ++at) see(cluster.change(at));
    }
    synced_ = end;
    return changed;
}

void Sheet::stand(const Cluster& cluster, int n) {
    const Node& node = cluster.node(n);
    totals_[static_cast<std::size_t>(n)] = {node.cpu, node.cpu - node.preprocessing, node.memory,
                                            cluster.condition(n)};
    Row& row = rows_[static_cast<std::size_t>(n)];
    row.usable = node.usable;
    row.calm = cluster.calm_cards(n);
    row.below = ~node.live.above_watermark;
    row.quiet = (row.usable & ~(row.below & row.calm)) == 0;
    row.cards_at = node.cards_at;
    row.card_type = static_cast<std::int16_t>(node.card_type);
    row.cards = static_cast<std::uint8_t>(node.cards.size());
    row.fails = failed_probes(cluster, n);
    row.present = node.present;
    row.ordinary =
        !node.mixed && node.taints.empty() && node.open_for == INT64_MAX && row.card_type == node.card_type;
}

void Sheet::measure(const Cluster& cluster, int n) {
    const NodeUse& use = cluster.used().nodes[static_cast<std::size_t>(n)];
    const Totals& total = totals_[static_cast<std::size_t>(n)];
    Row& row = rows_[static_cast<std::size_t>(n)];
    row.cpu = std::max<std::int64_t>(0, total.cpu - use.cpu);
    row.cpu_only = std::max<std::int64_t>(0, std::min(row.cpu, total.cpu_only - use.cpu_only));
    row.memory = std::max<std::int64_t>(0, total.memory - use.memory);
    row.taken = use.exclusive != 0;
    row.shared = use.tasks != 0;
    measure_cards(cluster, row, lanes_[static_cast<std::size_t>(n)]);
}

// Without a branch that depends on what is held: about half of the cards hold something, and no processor
// guesses which.
void Sheet::measure_cards(const Cluster& cluster, Row& row, Lanes& lanes) const {
    const CardUse* const used = cluster.used().cards.data() + row.cards_at;
    const auto tasks_max = cluster.settings().max_tasks_per_gpu;
    lanes.memory.fill(nothing_left);
    lanes.compute.fill(0);
    int unused = 0, idle = 0, full = 0;
    std::int32_t least_used = nothing_left;
    for (std::size_t c = 0; c < row.cards; ++c) {
        const CardUse& use = used[c];
        const int usable = static_cast<int>(row.usable >> c & 1);
        const int nobody = usable & static_cast<int>(use.tasks <= 0);
        unused += nobody;
        idle += nobody & static_cast<int>(use.compute <= 0);
        full |= usable & static_cast<int>(use.tasks >= tasks_max);
        // A card never has so much memory that it matters where the number ends.
        const auto memory = static_cast<std::int32_t>(std::min<std::int64_t>(use.memory, nothing_left - 1));
        const bool open = (usable != 0) & (use.exclusive <= 0);
        const std::int32_t seen = open ? memory : nothing_left;
        least_used = std::min(least_used, seen);
        if (c < Lanes::count) lanes.memory[c] = seen, lanes.compute[c] = use.compute;
    }
    row.healthy = static_cast<std::uint8_t>(std::popcount(row.usable));
    row.unused = static_cast<std::uint8_t>(unused), row.idle = static_cast<std::uint8_t>(idle);
    row.least_used = least_used;
    row.laned = row.quiet && !full && row.cards <= Lanes::count;
}

Lacks Sheet::covered() {
    Lacks out = all_of({"taints", "maintenance"});  // which no ordinary node fails
    for (const auto& probe : probes()) out |= probe.filter;
    return out;
}

Sheet::Failed Sheet::failed(const Shape& shape) {
    const Lacks asked = asked_by(shape);
    std::array<Lacks, probe_count> counts{};
    for (std::size_t p = 0; p < probe_count; ++p) {
        const Probe& probe = probes()[p];
        if (probe.row->name != "runtime" || probe.shape.image == shape.image)
            counts[p] = probe.filter & asked;
    }
    Failed out{};
    for (std::size_t fails = 1; fails < out.size(); ++fails)
        out[fails] = out[fails & (fails - 1)] | counts[static_cast<std::size_t>(std::countr_zero(fails))];
    return out;
}

}  // namespace crater::engine
