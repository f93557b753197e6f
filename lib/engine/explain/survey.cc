#include "explain/survey.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "explain/each_change.h"
#include "state/fetch.h"

namespace crater::engine {
namespace {

constexpr std::size_t bytes_max = 96u << 20;

}  // namespace

Survey::Survey(const Shape& shape) : fixed_(lacks_of(filter::Kind::fixed)), asked_(asked_by(shape)), glance_(shape) {
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
    const Ledger& books = cluster.used();
    const auto soon = [&](int n, std::size_t rank) {
        fetch(&books.nodes[static_cast<std::size_t>(n)]);
        fetch(books.cards.data() + sheet.at(rank).cards_at, sheet.at(rank).cards * sizeof(CardUse));
    };
    each_change(cluster, anew, synced_, versions_, soon, [&](int n, std::size_t rank) { see(shape, cluster, sheet.at(rank), rank, n); });
}

void Survey::see(const Shape& shape, const Cluster& cluster, const Sheet::Row& row, std::size_t rank, int n) {
    present_[rank] = row.present;
    if (!row.present) return lose(rank);
    if (!row.ordinary) return look_at(rank, Look(shape, cluster, n));
    const Glance::Seen seen = glance_.at(shape, cluster, row, n);
    std::optional<Look> look;
    lacks_[rank] = seen.lacks;
    if (const Lacks others = asked_ & ~glance_.answers(); others) lacks_[rank] = lacking(look.emplace(shape, cluster, n), others, seen.lacks);
    for (auto& bar : bars_)
        bar.has[rank] = !counts(bar, rank) ? -1 : bar.amount < Glance::amount_count ? seen.has[bar.amount] : bar.row->measure(*look).has;
}

void Survey::lose(std::size_t rank) {
    lacks_[rank] = 0;
    for (auto& bar : bars_) bar.has[rank] = -1;
}

void Survey::look_at(std::size_t rank, const Look& look) {
    lacks_[rank] = lacking(look, asked_, 0);
    for (auto& bar : bars_) bar.has[rank] = counts(bar, rank) ? bar.row->measure(look).has : -1;
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

// What is free of a node that is of another kind says nothing.
bool Survey::counts(const Bar& bar, std::size_t rank) const { return (lacks_[rank] & fixed_) == 0 || bar.row->kind == filter::Kind::fixed; }

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
