#include "explain/survey.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace crater::engine {
namespace {

constexpr std::size_t bytes_max = 96u << 20;
constexpr std::size_t looked_ahead = 8;  // changes

}  // namespace

Survey::Survey(const Shape& shape) : fixed_(lacks_of(filter::Kind::fixed)), asked_(asked_by(shape)), glance_(shape), others_(asked_ & ~glance_.answers()) {
    for (Lacks left = asked_; left; left &= left - 1) {
        const filter::Filter& row = first_of(left);
        if (!row.measure) continue;
        // A card is asked for whole or by its memory; the other bar would say nothing.
        if (row.name == "gpu_count" && shape.gpu_memory > 0 && !shape.gpu_exclusive) continue;
        if (row.name == "gpu_memory" && shape.gpu_memory == 0 && shape.part == 1000) continue;
        bars_.push_back({&row, left & -left, Glance::amount_of(row.name), {}});
    }
}

void Survey::refresh(const Shape& shape, const Cluster& cluster, const Sheet& sheet) {
    if (layout_ != sheet.layout() || synced_ < sheet.changes_begin() || sheet.changes_end() - synced_ > sheet.size()) {
        layout_ = sheet.layout();
        lacks_.resize(sheet.size());
        present_.resize(sheet.size());
        for (auto& bar : bars_) bar.has.resize(sheet.size());
        for (std::size_t rank = 0; rank < sheet.size(); ++rank) see(shape, cluster, sheet, rank);
    } else {
        for (auto at = synced_; at < sheet.changes_end(); ++at) {
            if (at + looked_ahead < sheet.changes_end()) sheet.fetch(sheet.change(at + looked_ahead));
            see(shape, cluster, sheet, sheet.change(at));
        }
    }
    synced_ = sheet.changes_end();
}

void Survey::see(const Shape& shape, const Cluster& cluster, const Sheet& sheet, std::size_t rank) {
    const Sheet::Row& row = sheet.at(rank);
    present_[rank] = row.present;
    if (!row.present) return lose(rank);
    if (!row.ordinary) return look_at(rank, Look(shape, cluster, cluster.by_name()[rank]));
    const Glance::Seen seen = glance_.at(shape, cluster, sheet, rank);
    std::optional<Look> look;
    Lacks lacks = seen.lacks;
    if (others_) lacks = lacking(look.emplace(shape, cluster, cluster.by_name()[rank]), others_, lacks);
    lacks_[rank] = lacks;
    for (auto& bar : bars_)
        bar.has[rank] = !counts(bar, lacks) ? -1 : bar.amount < Glance::amount_count ? seen.has(bar.amount) : bar.row->measure(*look).has;
}

void Survey::lose(std::size_t rank) {
    lacks_[rank] = 0;
    for (auto& bar : bars_) bar.has[rank] = -1;
}

void Survey::look_at(std::size_t rank, const Look& look) {
    const Lacks lacks = lacks_[rank] = lacking(look, asked_, 0);
    for (auto& bar : bars_) bar.has[rank] = counts(bar, lacks) ? bar.row->measure(look).has : -1;
}

// With what is known to be lacking. Whether all of it can be had at once is asked only where each thing alone can be had.
Lacks Survey::lacking(const Look& look, Lacks of, Lacks known) const {
    static const Lacks together = lack("together");
    Lacks lacks = known;
    for (Lacks left = of & ~together; left; left &= left - 1)
        if (!first_of(left).passes(look)) lacks |= left & -left;
    if (lacks == 0 && (of & together) && !first_of(together).passes(look)) lacks |= together;
    return lacks;
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
        for (std::size_t lane = 0; lane < most.size(); ++lane) most[lane] = std::max(most[lane], has[rank + lane]);
    for (; rank < has.size(); ++rank) most[0] = std::max(most[0], has[rank]);
    return static_cast<std::size_t>(std::find(has.begin(), has.end(), *std::max_element(most.begin(), most.end())) - has.begin());
}

void Survey::see_own(const Shape& shape, const Cluster& cluster, const std::vector<std::int64_t>& own_tasks) {
    for (std::size_t rank = 0; rank < size(); ++rank) {
        const int n = cluster.by_name()[rank];
        const auto own = own_tasks[static_cast<std::size_t>(n)];
        if (own > 0 && present_[rank]) look_at(rank, Look(shape, cluster, n, When::now, own));
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
    const auto oldest = std::min_element(known_.begin(), known_.end(),
                                         [](const auto& a, const auto& b) { return a.second.used_at < b.second.used_at; });
    known_.erase(oldest);
}

const Room& Rooms::at(std::size_t rank) {
    const int n = cluster_.by_name()[rank];
    if (const Room* known = seats_.room(n)) return *known;
    if (measured_.size() < static_cast<std::size_t>(cluster_.size())) measured_.resize(static_cast<std::size_t>(cluster_.size()));
    Measured& own = measured_[static_cast<std::size_t>(n)];
    if (own.version != cluster_.version(n)) {
        std::array<CardRoom, cards_per_node_max> cards;
        cards.fill({});
        own = {room_of(cluster_, n, cards.data()), cluster_.version(n)};
    }
    return own.room;
}

}  // namespace crater::engine
