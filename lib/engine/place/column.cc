#include "place/column.h"

#include <bit>

namespace crater::engine {

int Column::refresh(int shape, const Judge& judge, const std::vector<std::int64_t>* own_tasks) {
    const Cluster& cluster = judge.cluster();
    const auto nodes = static_cast<std::size_t>(cluster.size());
    int looked = 0;
    if (!filled_ || layout_ != cluster.layout()) {
        entries_.assign(nodes, {});
        leaves_ = std::bit_ceil(std::max<std::size_t>(1, nodes));
        tree_.assign(2 * leaves_, -1);
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
    const Look look(judge.shape(shape), cluster, n, When::now, own_tasks ? (*own_tasks)[static_cast<std::size_t>(n)] : 0);
    if (!entry.counted || entry.hardware != look.node.hardware_version) {
        entry.hardware = look.node.hardware_version;
        entry.fixed = static_cast<std::int16_t>(look.node.present ? Judge::fixed_filter(look) : -1);
    }
    const auto count = [&](int by) {
        if (!entry.verdict.fits() && entry.verdict.filter != absent) rejected_[entry.verdict.filter] += by;
    };
    if (entry.counted) count(-1);
    entry.verdict =
        entry.fixed >= 0 ? Verdict{-1, static_cast<std::uint8_t>(entry.fixed)} : judge.verdict(shape, look, true);
    count(1);
    entry.counted = true;
    entry.version = cluster.version(n);
    set_leaf(rank, entry.verdict.level);
}

void Column::set_leaf(std::size_t rank, std::int32_t score) {
    std::size_t i = leaves_ + rank;
    tree_[i] = score;
    for (i /= 2; i >= 1; i /= 2) {
        const auto high = std::max(tree_[2 * i], tree_[2 * i + 1]);
        if (tree_[i] == high) break;
        tree_[i] = high;
    }
}

// The first by name of those with the highest score.
std::size_t Column::top() const {
    std::size_t i = 1;
    while (i < leaves_) i = tree_[2 * i] == tree_[i] ? 2 * i : 2 * i + 1;
    return i - leaves_;
}

int Column::best() const { return tree_[1] < 0 ? -1 : node_of_[top()]; }

std::vector<int> Column::best(std::size_t count) {
    std::vector<std::pair<std::size_t, std::int32_t>> taken;
    std::vector<int> out;
    while (out.size() < count && tree_[1] >= 0) {
        const auto rank = top();
        taken.emplace_back(rank, tree_[leaves_ + rank]);
        out.push_back(node_of_[rank]);
        set_leaf(rank, -1);
    }
    for (const auto& [rank, score] : taken) set_leaf(rank, score);
    return out;
}

}  // namespace crater::engine
