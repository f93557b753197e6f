#include "explain/survey.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "place/level.h"
#include "state/fetch.h"

namespace crater::engine {
namespace {

constexpr std::size_t bytes_max = 96u << 20;
constexpr std::size_t fetched_ahead = 6;  // nodes
constexpr std::size_t node_looked_at = 256;  // bytes of it that most looks read

struct Places {
    std::array<std::uint8_t, 64> place{};  // of a filter in the order, by its position in the table
    std::array<Lacks, 4> of_kind{};
};
const Places& places() {
    static const Places made = [] {
        Places out;
        const auto order = filter::in_order();
        for (std::size_t i = 0; i < order.size(); ++i) {
            out.place[order[i]] = static_cast<std::uint8_t>(i);
            out.of_kind[static_cast<std::size_t>(filter::at(order[i]).kind)] |= Lacks{1} << i;
        }
        return out;
    }();
    return made;
}

// Calls f(node, rank) for every node whose version is another since `synced`, or for all. Versions come back with the state, so that what is
// in the list of changes may be as it was. Nodes lie anywhere: those that come next are fetched meanwhile.
template <class F>
void each_change(const Cluster& cluster, bool all, std::uint64_t& synced, std::vector<std::uint64_t>& versions, F f) {
    std::vector<int> changed;
    const auto see = [&](int n) {
        auto& seen = versions[static_cast<std::size_t>(cluster.rank(n))];
        if (std::exchange(seen, cluster.version(n)) != cluster.version(n) || all) changed.push_back(n);
    };
    const auto end = cluster.changes_end();
    if (all || synced < cluster.changes_begin() || end - synced > static_cast<std::size_t>(cluster.size())) {
        for (const int n : cluster.by_name()) see(n);
    } else {
        for (auto at = synced; at < end; ++at) see(cluster.change(at));
    }
    synced = end;
    for (std::size_t i = 0; i < changed.size(); ++i) {
        if (const auto soon = i + 2 * fetched_ahead; soon < changed.size()) fetch(&cluster.node(changed[soon]), node_looked_at);
        if (const auto next = i + fetched_ahead; next < changed.size()) cluster.fetch_rows(changed[next]);
        f(changed[i], static_cast<std::size_t>(cluster.rank(changed[i])));
    }
}

}  // namespace

Lacks lack(std::string_view name) {
    const int position = filter::position_of(name);
    return position < 0 ? 0 : Lacks{1} << places().place[static_cast<std::size_t>(position)];
}

Lacks all_of(std::initializer_list<std::string_view> filters) {
    Lacks out = 0;
    for (const auto name : filters) out |= lack(name);
    return out;
}
Lacks lacks_of(filter::Kind kind) { return places().of_kind[static_cast<std::size_t>(kind)]; }
const filter::Filter& first_of(Lacks lacks) { return filter::at(filter::in_order()[static_cast<std::size_t>(std::countr_zero(lacks))]); }

Survey::Survey(const Shape& shape) : fixed_(lacks_of(filter::Kind::fixed)) {
    const auto order = filter::in_order();
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (!(shape.asked >> order[i] & 1)) continue;
        const filter::Filter& row = filter::at(order[i]);
        asked_.emplace_back(Lacks{1} << i, &row);
        if (!row.measure) continue;
        // A card is asked for whole or by its memory; the other bar would say nothing.
        if (row.name == "gpu_count" && shape.gpu_memory > 0 && !shape.gpu_exclusive) continue;
        if (row.name == "gpu_memory" && shape.gpu_memory == 0 && shape.part == 1000) continue;
        bars_.push_back({&row, Lacks{1} << i, {}});
    }
}

int Survey::refresh(const Shape& shape, const Cluster& cluster, const std::vector<std::int64_t>* own_tasks) {
    const auto nodes = static_cast<std::size_t>(cluster.size());
    const bool anew = !filled_ || layout_ != cluster.layout();
    if (anew) {
        lacks_.assign(nodes, 0);
        present_.assign(nodes, 0);
        versions_.assign(nodes, 0);
        for (auto& bar : bars_) bar.has.assign(nodes, -1);
        layout_ = cluster.layout();
        filled_ = true;
    }
    int looked = 0;
    each_change(cluster, anew, synced_, versions_, [&](int n, std::size_t rank) {
        present_[rank] = cluster.node(n).present;
        if (!present_[rank]) return;
        ++looked;
        look_at(rank, Look(shape, cluster, n, When::now, own_tasks ? (*own_tasks)[static_cast<std::size_t>(n)] : 0));
    });
    return looked;
}

// Whether all of it can be had at once is asked only where each thing alone can be had.
void Survey::look_at(std::size_t rank, const Look& look) {
    static const Lacks together = lack("together");
    Lacks lacks = 0;
    for (const auto& [bit, row] : asked_) {
        if (lacks != 0 && bit == together) break;
        if (!row->passes(look)) lacks |= bit;
    }
    lacks_[rank] = lacks;
    const bool right = (lacks & fixed_) == 0;
    for (auto& bar : bars_) bar.has[rank] = right || bar.row->kind == filter::Kind::fixed ? bar.row->measure(look).has : -1;
}

Survey& Surveys::of(int shape, const Shape& asked, const Cluster& cluster) {
    Entry& entry = known_[shape];
    if (!entry.survey) entry.survey = std::make_unique<Survey>(asked);
    entry.used_at = ++clock_;
    Survey& survey = *entry.survey;
    survey.refresh(asked, cluster);
    if (known_.size() > 1 && known_.size() * survey.bytes() > bytes_max) trim();
    return survey;
}

void Surveys::trim() {
    const auto oldest = std::min_element(known_.begin(), known_.end(),
                                         [](const auto& a, const auto& b) { return a.second.used_at < b.second.used_at; });
    known_.erase(oldest);
}

void Rooms::refresh(const Cluster& cluster) {
    const auto nodes = static_cast<std::size_t>(cluster.size());
    const bool anew = !filled_ || layout_ != cluster.layout();
    if (anew) {
        rooms_.assign(nodes, {});
        versions_.assign(nodes, 0);
        layout_ = cluster.layout();
        filled_ = true;
    }
    std::array<CardRoom, cards_per_node_max> cards;
    each_change(cluster, anew, synced_, versions_, [&](int n, std::size_t rank) {
        cards.fill({});
        rooms_[rank] = room_of(cluster, n, cards.data());
    });
}

}  // namespace crater::engine
