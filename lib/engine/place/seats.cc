#include "place/seats.h"

namespace crater::engine {
namespace {

constexpr std::uint64_t seat_kept = 4096;  // a seat not used for so many questions may be given to another shape
constexpr std::uint8_t stands = 254;      // no standing filter turns the node away

}  // namespace

// ---- seats ---------------------------------------------------------------------------------------------------------------------

// A free one, a new one, or that of a shape nobody has asked about for long.
std::optional<std::size_t> Seats::free_seat() const {
    std::size_t oldest = 0;
    for (std::size_t s = 0; s < seats_.size(); ++s) {
        if (!seats_[s]) return s;
        if (seats_[s]->used_at < seats_[oldest]->used_at) oldest = s;
    }
    if (seats_.size() < seats_max) return seats_.size();
    if (seats_[oldest]->used_at + seat_kept > clock_) return std::nullopt;
    return oldest;
}

std::optional<std::size_t> Seats::seat_for(int shape) {
    ++clock_;
    if (const auto it = seat_of_.find(shape); it != seat_of_.end()) return it->second;
    if (asked_once_.insert(shape).second) return std::nullopt;
    const auto seat = free_seat();
    if (!seat) return std::nullopt;
    asked_once_.erase(shape);
    if (*seat == seats_.size()) seats_.emplace_back();
    if (seats_[*seat]) seat_of_.erase(seats_[*seat]->shape);
    seats_[*seat] = std::make_unique<Seat>();
    seats_[*seat]->shape = shape;
    seat_of_.emplace(shape, *seat);
    built_ = false;
    return seat;
}

void Seats::leave(int shape) {
    asked_once_.erase(shape);
    const auto it = seat_of_.find(shape);
    if (it == seat_of_.end()) return;
    treed_.remove(it->second);
    learned_.remove(it->second);
    seats_[it->second].reset();
    seat_of_.erase(it);
}

void Seats::forget() {
    for (auto& seat : seats_)
        if (seat) seat->standing.clear();
    built_ = false;
}

void Seats::levels_changed() { stale_ = true; }

// Thresholds of all seats, and every node measured against them. What a seat knows of the nodes stays.
void Seats::build() {
    const auto nodes = static_cast<std::size_t>(cluster_.size());
    const bool reordered = layout_ != cluster_.layout();
    layout_ = cluster_.layout();
    types_ = static_cast<std::size_t>(cluster_.type_count());
    const auto needs = [&](auto need_of) {
        std::vector<std::int64_t> out(seats_.size(), 0);
        for (std::size_t s = 0; s < seats_.size(); ++s)
            if (seats_[s]) out[s] = need_of(judge_.shape(seats_[s]->shape));
        return out;
    };
    cpu_.build(needs([](const Shape& shape) { return shape.cards > 0 ? shape.cpu : 0; }));
    cpu_only_.build(needs([](const Shape& shape) { return shape.cards > 0 ? 0 : shape.cpu; }));
    memory_.build(needs([](const Shape& shape) { return shape.memory; }));
    cards_.resize(types_);
    for (std::size_t t = 0; t < types_; ++t) {
        const auto of_type = [&](auto need_of) {
            return needs([&](const Shape& shape) -> std::int64_t {
                if (shape.cards == 0) return 0;
                const CardNeed& need = shape.need(cluster_, static_cast<int>(t));
                return need.fails == CardNeed::nothing ? need_of(shape, need) : 0;
            });
        };
        cards_[t].idle.build(of_type([](const Shape& shape, const CardNeed& need) { return need.whole ? shape.cards : 0; }));
        cards_[t].memory.build(of_type([](const Shape&, const CardNeed& need) { return need.whole ? 0 : need.room(); }));
        cards_[t].compute.build(of_type([](const Shape&, const CardNeed& need) { return need.whole ? 0 : need.compute; }));
    }
    for (auto& seat : seats_)
        if (seat && (reordered || seat->standing.size() != nodes)) seat->standing.clear();
    entries_.resize(nodes);
    fit_.reset(cluster_);
    mixed_ = 0;
    for (const int n : cluster_.by_name()) mixed_ += cluster_.node(n).present && cluster_.node(n).mixed;
    for (std::size_t n = 0; n < nodes; ++n) {
        entries_[n].counted = false;
        refresh(static_cast<int>(n), true);
    }
    for (std::size_t s = 0; s < seats_.size(); ++s)
        if (seats_[s] && seats_[s]->standing.empty()) fill(s);
    synced_ = cluster_.changes_end();
    built_ = true;
}

bool Seats::is_square(const Shape& shape) const {
    for (int t = 0; shape.cards > 0 && t < cluster_.type_count(); ++t) {
        const CardNeed& need = shape.need(cluster_, t);
        if (need.fails == CardNeed::nothing && !engine::is_square(need, cluster_.card_limit(cluster_.type(t).memory))) return false;
    }
    return true;
}

// A seat that knows nothing yet.
void Seats::fill(std::size_t s) {
    Seat& seat = *seats_[s];
    const Shape& shape = judge_.shape(seat.shape);
    seat.plain = is_plain(shape) && ranking_of(shape.policy) != Ranking::weighted;
    seat.indexed = seat.plain && ranking_of(shape.policy) == Ranking::ordered && mixed_ == 0 && is_square(shape);
    seat.standing.assign(entries_.size(), absent);
    seat.standing_count.fill(0);
    treed_.remove(s);
    learned_.remove(s);
    if (!seat.indexed) {
        treed_.add(s);
        if (seat.plain && ranking_of(shape.policy) == Ranking::learned) learned_.add(s);
        seat.levels.reset(cluster_);
    }
    for (int n = 0; n < cluster_.size(); ++n) {
        stand(s, n);
        Entry& entry = entries_[static_cast<std::size_t>(n)];
        entry.open = room_for(entry);
        if (!seat.indexed && entry.open.has(s)) seat.levels.pend(n);
    }
}

// ---- nodes ---------------------------------------------------------------------------------------------------------------------

void Seats::sync() {
    if (!built_ || layout_ != cluster_.layout() || types_ != static_cast<std::size_t>(cluster_.type_count())) return build();
    const auto end = cluster_.changes_end();
    if (synced_ == end) return;
    if (synced_ < cluster_.changes_begin() || end - synced_ > entries_.size()) {
        for (int n = 0; n < cluster_.size(); ++n) refresh(n, false);
    } else {
        for (auto at = synced_; at < end; ++at) refresh(cluster_.change(at), false);
    }
    synced_ = end;
}

// `anew`: the thresholds are other ones, so that it has to be measured even if it is as it was.
void Seats::refresh(int n, bool anew) {
    Entry& entry = entries_[static_cast<std::size_t>(n)];
    const bool changed = entry.version != cluster_.version(n);
    if (!changed && !anew) return;
    if (entry.counted) census(entry, -1);
    measure(n, entry);
    entry.counted = cluster_.node(n).present;
    if (entry.counted) census(entry, 1);
    if (entry.counted && entry.room.mixed && mixed_ == 0) forget();  // the index cannot hold it: all seats keep trees from now on
    if (entry.condition != cluster_.condition(n))
        for (std::size_t s = 0; s < seats_.size(); ++s)
            if (seats_[s] && !seats_[s]->standing.empty()) stand(s, n);
    SeatSet concerned = entry.open;
    entry.open = room_for(entry);
    concerned |= entry.open;
    concerned &= treed_;
    if (changed)
        concerned.each([&](std::size_t s) {
            if (seats_[s] && !seats_[s]->standing.empty()) seats_[s]->levels.pend(n);
        });
    fit_.set(cluster_, n, entry.room, card_rooms_.data() + cluster_.node(n).cards_at, entry.counted);
    entry.version = cluster_.version(n);
    entry.condition = cluster_.condition(n);
}

void Seats::measure(int n, Entry& entry) {
    if (card_rooms_.size() < cluster_.used().cards.size()) card_rooms_.resize(cluster_.used().cards.size());
    entry.room = room_of(cluster_, n, card_rooms_.data() + cluster_.node(n).cards_at);
    entry.cpu = cpu_.index(entry.room.cpu);
    entry.cpu_only = cpu_only_.index(entry.room.cpu_only);
    entry.memory = memory_.index(entry.room.memory);
    if (entry.room.card_type < 0) return;
    const CardThresholds& cards = cards_[static_cast<std::size_t>(entry.room.card_type)];
    entry.idle = cards.idle.index(entry.room.idle_count);
    entry.card_memory = cards.memory.index(entry.room.card_memory);
    entry.card_compute = cards.compute.index(entry.room.card_compute);
}

void Seats::census(const Entry& entry, int by) {
    cpu_.count(entry.cpu, by);
    cpu_only_.count(entry.cpu_only, by);
    memory_.count(entry.memory, by);
    if (entry.room.card_type < 0) return;
    CardThresholds& cards = cards_[static_cast<std::size_t>(entry.room.card_type)];
    cards.idle.count(entry.idle, by);
    cards.memory.count(entry.card_memory, by);
    cards.compute.count(entry.card_compute, by);
}

SeatSet Seats::room_for(const Entry& entry) const {
    SeatSet out = entry.eligible;
    out &= cpu_.met(entry.cpu);
    out &= cpu_only_.met(entry.cpu_only);
    out &= memory_.met(entry.memory);
    if (entry.room.card_type < 0) return out;
    const CardThresholds& cards = cards_[static_cast<std::size_t>(entry.room.card_type)];
    out &= cards.idle.met(entry.idle);
    out &= cards.memory.met(entry.card_memory);
    out &= cards.compute.met(entry.card_compute);
    return out;
}

// Whether the node may serve the seat at all, whatever is free on it.
void Seats::stand(std::size_t s, int n) {
    Seat& seat = *seats_[s];
    Entry& entry = entries_[static_cast<std::size_t>(n)];
    std::uint8_t& now = seat.standing[static_cast<std::size_t>(n)];
    if (now < stands) --seat.standing_count[now];
    now = absent;
    if (cluster_.node(n).present) {
        const int fails = Judge::standing_filter(Look(judge_.shape(seat.shape), cluster_, n));
        now = fails < 0 ? stands : static_cast<std::uint8_t>(fails);
        if (fails >= 0) ++seat.standing_count[now];
    }
    if (now == stands)
        entry.eligible.add(s);
    else
        entry.eligible.remove(s);
}

}  // namespace crater::engine
