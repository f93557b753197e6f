#include "explain/sheet.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "state/fetch.h"

namespace crater::engine {
namespace {

constexpr std::size_t fetched_ahead = 6;  // nodes

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
        if (!all[p].row->passes(all[p].shape.image ? image : plain)) fails |= static_cast<std::uint8_t>(1 << p);
    return fails;
}

// A card never has so much memory that it matters where the number ends.
std::int32_t used_memory(const CardUse& use) {
    return use.exclusive > 0 ? Sheet::nothing_left : static_cast<std::int32_t>(std::min<std::int64_t>(use.memory, Sheet::nothing_left - 1));
}

void see_cards(const Cluster& cluster, Sheet::Row& row, Sheet::Lanes& lanes) {
    const CardUse* const used = cluster.used().cards.data() + row.cards_at;
    lanes.memory.fill(Sheet::nothing_left);
    lanes.compute.fill(0);
    row.least_used = Sheet::nothing_left;
    bool full = false;
    for (std::size_t c = 0; c < row.cards; ++c) {
        if (!(row.usable >> c & 1)) continue;
        const CardUse& use = used[c];
        const bool unused = use.tasks <= 0;
        ++row.healthy;
        row.unused = static_cast<std::uint8_t>(row.unused + unused);
        row.idle = static_cast<std::uint8_t>(row.idle + (unused & (use.compute <= 0)));
        full |= use.tasks >= cluster.settings().max_tasks_per_gpu;
        row.least_used = std::min(row.least_used, used_memory(use));
        if (c < Sheet::Lanes::count) lanes.memory[c] = used_memory(use), lanes.compute[c] = use.compute;
    }
    row.quiet = (row.usable & ~(row.below & row.calm)) == 0;
    row.laned = row.quiet && !full && row.cards <= Sheet::Lanes::count;
}

Sheet::Row row_of(const Cluster& cluster, int n, Sheet::Lanes& lanes) {
    const Node& node = cluster.node(n);
    const NodeUse& use = cluster.used().nodes[static_cast<std::size_t>(n)];
    Sheet::Row row;
    row.cpu = std::max<std::int64_t>(0, node.cpu - use.cpu);
    row.cpu_only = std::max<std::int64_t>(0, std::min(row.cpu, node.cpu - node.preprocessing - use.cpu_only));
    row.memory = std::max<std::int64_t>(0, node.memory - use.memory);
    row.usable = node.usable;
    row.calm = cluster.calm_cards(n);
    row.below = ~node.live.above_watermark;
    row.cards_at = node.cards_at;
    row.card_type = static_cast<std::int16_t>(node.card_type);
    row.cards = static_cast<std::uint8_t>(node.cards.size());
    row.fails = failed_probes(cluster, n);
    row.present = node.present;
    row.ordinary = !node.mixed && node.taints.empty() && node.open_for == INT64_MAX && row.card_type == node.card_type;
    row.taken = use.exclusive != 0;
    row.shared = use.tasks != 0;
    see_cards(cluster, row, lanes);
    return row;
}

}  // namespace

void Sheet::refresh(const Cluster& cluster) {
    if (layout_ != cluster.layout()) {
        layout_ = cluster.layout();
        rows_.assign(static_cast<std::size_t>(cluster.size()), {});
        lanes_.resize(rows_.size());
        versions_.assign(rows_.size(), 0);
        synced_ = 0;
        changes_base_ = changes_end();
        changes_.clear();
    }
    const auto changed = changed_nodes(cluster);
    for (std::size_t i = 0; i < changed.size(); ++i) {
        // Nodes lie anywhere: those that come next are fetched meanwhile.
        if (i + 2 * fetched_ahead < changed.size()) engine::fetch(&cluster.node(changed[i + 2 * fetched_ahead]), sizeof(Node));
        if (i + fetched_ahead < changed.size()) cluster.fetch_rows(changed[i + fetched_ahead]);
        const auto rank = static_cast<std::size_t>(cluster.rank(changed[i]));
        rows_[rank] = row_of(cluster, changed[i], lanes_[rank]);
        note(rank);
    }
}

// Versions come back with the state, so that what is in the list of changes may be as it was.
std::vector<int> Sheet::changed_nodes(const Cluster& cluster) {
    std::vector<int> changed;
    const auto see = [&](int n) {
        auto& seen = versions_[static_cast<std::size_t>(cluster.rank(n))];
        if (std::exchange(seen, cluster.version(n)) != cluster.version(n)) changed.push_back(n);
    };
    const auto end = cluster.changes_end();
    if (synced_ < cluster.changes_begin() || end - synced_ > rows_.size()) {
        for (const int n : cluster.by_name()) see(n);
    } else {
        for (auto at = synced_; at < end; ++at) see(cluster.change(at));
    }
    synced_ = end;
    return changed;
}

void Sheet::note(std::size_t rank) {
    if (changes_.size() >= 2 * rows_.size()) {
        changes_base_ += rows_.size();
        changes_.erase(changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(rows_.size()));
    }
    changes_.push_back(static_cast<std::uint32_t>(rank));
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
        if (probe.row->name != "runtime" || probe.shape.image == shape.image) counts[p] = probe.filter & asked;
    }
    Failed out{};
    for (std::size_t fails = 1; fails < out.size(); ++fails)
        out[fails] = out[fails & (fails - 1)] | counts[static_cast<std::size_t>(std::countr_zero(fails))];
    return out;
}

}  // namespace crater::engine
