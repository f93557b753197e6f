#include "explain/sheet.h"

#include <bit>

#include "explain/each_change.h"
#include "state/fetch.h"

namespace crater::engine {
namespace {

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
    std::uint8_t fails = 0;
    for (std::size_t p = 0; p < Sheet::probe_count; ++p)
        if (!probes()[p].row->passes(Look(probes()[p].shape, cluster, n))) fails |= static_cast<std::uint8_t>(1 << p);
    return fails;
}

Sheet::Row row_of(const Cluster& cluster, int n) {
    const Node& node = cluster.node(n);
    Sheet::Row row;
    row.cpu = node.cpu;
    row.cpu_only = node.cpu - node.preprocessing;
    row.memory = node.memory;
    row.usable = node.usable;
    row.calm = cluster.calm_cards(n);
    row.below = ~node.live.above_watermark;
    row.cards_at = node.cards_at;
    row.card_type = node.card_type;
    row.cards = static_cast<std::uint8_t>(node.cards.size());
    row.fails = failed_probes(cluster, n);
    row.present = node.present;
    row.ordinary = !node.mixed && node.taints.empty() && node.open_for == INT64_MAX;
    return row;
}

}  // namespace

void Sheet::refresh(const Cluster& cluster) {
    const bool anew = !filled_ || layout_ != cluster.layout();
    if (anew) {
        rows_.assign(static_cast<std::size_t>(cluster.size()), {});
        versions_.assign(rows_.size(), 0);
        layout_ = cluster.layout();
        filled_ = true;
    }
    const auto soon = [&](int n, std::size_t) { fetch(&cluster.node(n), sizeof(Node)); };
    each_change(cluster, anew, synced_, versions_, soon, [&](int n, std::size_t rank) { rows_[rank] = row_of(cluster, n); });
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
