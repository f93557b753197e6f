#include "place/column.h"

namespace crater::engine {

int Column::refresh(int shape, const Judge& judge, const std::vector<std::int64_t>* own_tasks) {
    const Cluster& cluster = judge.cluster();
    const auto nodes = static_cast<std::size_t>(cluster.size());
    int looked = 0;
    if (!filled_ || layout_ != cluster.layout()) {
        entries_.assign(nodes, {});
        tree_.reset(nodes);
        node_of_ = cluster.by_name();
        rejected_.fill(0);
        layout_ = cluster.layout();
        synced_ = 0;
    }
    const auto end = cluster.changes_end();
    if (!filled_ || synced_ < cluster.changes_begin() || end - synced_ > nodes) {
        for (const int n : node_of_) look_at(n, shape, judge, own_tasks), ++looked;
    } else {
        for (auto at = synced_; at < end; ++at)
            look_at(cluster.change(at), shape, judge, own_tasks), ++looked;
    }
    filled_ = true;
    synced_ = end;
    return looked;
}

void Column::look_at(int n, int shape, const Judge& judge, const std::vector<std::int64_t>* own_tasks) {
    const Cluster& cluster = judge.cluster();
    const auto rank = static_cast<std::size_t>(cluster.rank(n));
    Entry& entry = entries_[rank];
    if (entry.counted && entry.version == cluster.version(n)) return;
    const Look look(judge.shape(shape), cluster, n, When::now,
                    own_tasks ? (*own_tasks)[static_cast<std::size_t>(n)] : 0);
    if (!entry.counted || entry.hardware != look.node.hardware_version) {
        entry.hardware = look.node.hardware_version;
        entry.fixed = static_cast<std::int16_t>(look.node.present ? Judge::fixed_filter(look) : -1);
    }
    const auto count = [&](int by) {
        if (!entry.verdict.fits() && entry.verdict.filter != absent) rejected_[entry.verdict.filter] += by;
    };
    if (entry.counted) count(-1);
    entry.verdict = entry.fixed >= 0 ? Verdict{-1, static_cast<std::uint8_t>(entry.fixed)}
                                     : judge.verdict(shape, look, true);
    count(1);
    entry.counted = true;
    entry.version = cluster.version(n);
    tree_.set(rank, entry.verdict.level);
}

int Column::best() const { return tree_.empty() ? -1 : node_of_[tree_.top()]; }

std::vector<int> Column::best(std::size_t count) {
    std::vector<int> out;
    for (const auto rank : tree_.best(count)) out.push_back(node_of_[rank]);
    return out;
}

}  // namespace crater::engine
