#include "explain/survey.h"

#include <algorithm>
#include <bit>

namespace crater::engine {
namespace {

constexpr std::size_t bytes_max = 96u << 20;
constexpr std::size_t looked_ahead = 8;  // changes

}  // namespace

Survey::Survey(const Shape& shape)
    : fixed_(lacks_of(filter::Kind::fixed)),
      closed_(closed()),
      asked_(asked_by(shape)),
      glance_(shape),
      others_(asked_ & ~glance_.answers()) {
    for (Lacks left = asked_; left; left &= left - 1) {
        const filter::Filter& row = first_of(left);
        if (!row.measure) continue;
        // A card is asked for whole or by its memory; the other bar would say nothing.
        if (row.name == "gpu_count" && shape.gpu_memory > 0 && !shape.gpu_exclusive) continue;
        if (row.name == "gpu_memory" && shape.gpu_memory == 0 && shape.part == 1000) continue;
        bars_.push_back({&row, left & -left, NodeGlance::amount_of(row.name), {}});
    }
}

Lacks Survey::closed() {
    static const Lacks these = lack("node_state") | lack("maintenance");
    return these;
}

void Survey::refresh(const Shape& shape, const Cluster& cluster, const Sheet& sheet) {
    const auto& nodes = cluster.by_name();
    const auto end = sheet.changes_end();
    if (layout_ != cluster.layout() || synced_ < sheet.changes_begin() || end - synced_ > nodes.size()) {
        layout_ = cluster.layout();
        lacks_.resize(nodes.size()), present_.resize(nodes.size());
        for (auto& bar : bars_) bar.has.resize(nodes.size());
        for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
            if (rank + looked_ahead < nodes.size()) sheet.fetch(nodes[rank + looked_ahead]);
            see(shape, cluster, sheet, rank, nodes[rank]);
        }
    } else {
        for (auto at = synced_; at < end; ++at) {
            if (at + looked_ahead < end) sheet.fetch(sheet.change(at + looked_ahead));
            const int n = sheet.change(at);
            see(shape, cluster, sheet, static_cast<std::size_t>(cluster.rank(n)), n);
        }
    }
    synced_ = end;
}

void Survey::see(const Shape& shape, const Cluster& cluster, const Sheet& sheet, std::size_t rank, int n) {
    const Sheet::Row& row = sheet.at(n);
    present_[rank] = row.present;
    if (!row.present) return lose(rank);
    if (!row.ordinary) return look_at(rank, Look(shape, cluster, n), asked_);
    const NodeGlance::Seen seen = glance_.at(shape, cluster, sheet, n);
    if (others_) return look_at(rank, Look(shape, cluster, n), others_, seen.lacks);
    lacks_[rank] = seen.lacks;
    for (auto& bar : bars_) bar.has[rank] = counts(bar, seen.lacks) ? seen.has(bar.amount) : -1;
}

void Survey::lose(std::size_t rank) {
    lacks_[rank] = 0;
    for (auto& bar : bars_) bar.has[rank] = -1;
}

// Whether all of it can be had at once is asked only where each thing alone can be had.
void Survey::look_at(std::size_t rank, const Look& look, Lacks unknown, Lacks known) {
    static const Lacks together = lack("together");
    Lacks lacks = known;
    for (Lacks left = unknown & ~together; left; left &= left - 1)
        if (!first_of(left).passes(look)) lacks |= left & -left;
    if (lacks == 0 && (unknown & together) && !first_of(together).passes(look)) lacks |= together;
    lacks_[rank] = lacks;
    for (auto& bar : bars_) bar.has[rank] = counts(bar, lacks) ? bar.row->measure(look).has : -1;
}

std::int64_t Survey::nodes_lacking(Lacks one) const {
    const int place = std::countr_zero(one);
    Lacks nodes = 0;
    for (const Lacks lacks : lacks_) nodes += lacks >> place & 1;
    return static_cast<std::int64_t>(nodes);
}

// In lanes, which is several comparisons at once.
std::size_t Survey::Bar::best() const {
    std::array<double, 8> most;
    most.fill(-1);
    std::size_t rank = 0;
    for (; rank + most.size() <= has.size(); rank += most.size())
        for (std::size_t lane = 0; lane < most.size(); ++lane)
            most[lane] = std::max(most[lane], has[rank + lane]);
    for (; rank < has.size(); ++rank) most[0] = std::max(most[0], has[rank]);
    return static_cast<std::size_t>(
        std::find(has.begin(), has.end(), *std::max_element(most.begin(), most.end())) - has.begin());
}

void Survey::see_own(const Shape& shape, const Cluster& cluster, const std::vector<std::int64_t>& own_tasks) {
    for (std::size_t rank = 0; rank < size(); ++rank) {
        const int n = cluster.by_name()[rank];
        const auto own = own_tasks[static_cast<std::size_t>(n)];
        if (own > 0 && present_[rank]) look_at(rank, Look(shape, cluster, n, When::now, own), asked_);
    }
}

const Survey& Surveys::of(int shape, const Shape& asked, const Cluster& cluster) {
    Entry& entry = known_[shape];
    if (!entry.survey) entry.survey = std::make_unique<Survey>(asked);
    entry.used_at = ++clock_;
    Survey& survey = *entry.survey;
    sheet_.refresh(cluster);
    survey.refresh(asked, cluster, sheet_);
    if (known_.size() > 1 && known_.size() * survey.bytes() > bytes_max) trim();
    return survey;
}

void Surveys::trim() {
    const auto oldest = std::min_element(known_.begin(), known_.end(), [](const auto& a, const auto& b) {
        return a.second.used_at < b.second.used_at;
    });
    known_.erase(oldest);
}

const Room& Rooms::at(std::size_t rank) {
    const int n = cluster_.by_name()[rank];
    if (const Room* known = seats_.room(n)) return *known;
    if (measured_.size() < static_cast<std::size_t>(cluster_.size()))
        measured_.resize(static_cast<std::size_t>(cluster_.size()));
    Measured& own = measured_[static_cast<std::size_t>(n)];
    if (own.version != cluster_.version(n)) {
        std::array<CardRoom, cards_per_node_max> cards;
        own = {room_of(cluster_, n, cards.data()), cluster_.version(n)};
    }
    return own.room;
}

}  // namespace crater::engine
