#include "place/seats.h"

#include <utility>

namespace crater::engine {
namespace {

// a seat not used for so many questions may be given to another shape
constexpr std::uint64_t seat_kept = 4096;
constexpr std::uint8_t stands = 254;  // no standing filter turns the node away

}  // namespace

// ---- seats ------------------------------------------------------------------------------------------------

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
    if (const int known = seat_of(shape); known >= 0) return static_cast<std::size_t>(known);
    if (asked_once_.insert(shape).second) return std::nullopt;
    const auto seat = free_seat();
    if (!seat) return std::nullopt;
    asked_once_.erase(shape);
    if (*seat == seats_.size()) seats_.emplace_back();
    if (seats_[*seat]) seat_of_[static_cast<std::size_t>(seats_[*seat]->shape)] = -1;
    seats_[*seat] = std::make_unique<Seat>();
    seats_[*seat]->shape = shape;
    if (seat_of_.size() <= static_cast<std::size_t>(shape))
        seat_of_.resize(static_cast<std::size_t>(shape) + 1, -1);
    seat_of_[static_cast<std::size_t>(shape)] = static_cast<std::int16_t>(*seat);
    built_ = false;
    return seat;
}

void Seats::leave(int shape) {
    asked_once_.erase(shape);
    const int known = seat_of(shape);
    if (known < 0) return;
    const auto seat = static_cast<std::size_t>(known);
    treed_.remove(seat);
    priced_.remove(seat);
    seats_[seat].reset();
    seat_of_[static_cast<std::size_t>(shape)] = -1;
}

void Seats::forget() {
    for (auto& seat : seats_)
        if (seat) seat->standing.clear();
    built_ = measured_ = false;
}

void Seats::levels_changed() { stale_ = true; }

// Thresholds of all seats, and every node measured against them. Where there is but a new seat, the rooms,
// the index and what the others know of the nodes stay.
void Seats::build() {
    const auto nodes = static_cast<std::size_t>(cluster_.size());
    const bool anew = !measured_ || layout_ != cluster_.layout() ||
                      types_ != static_cast<std::size_t>(cluster_.type_count()) || entries_.size() != nodes;
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
        cards_[t].idle.build(
            of_type([](const Shape& shape, const CardNeed& need) { return need.whole ? shape.cards : 0; }));
        cards_[t].memory.build(
            of_type([](const Shape&, const CardNeed& need) { return need.whole ? 0 : need.room(); }));
        cards_[t].compute.build(
            of_type([](const Shape&, const CardNeed& need) { return need.whole ? 0 : need.compute; }));
    }
    for (auto& seat : seats_)
        if (seat && anew) seat->standing.clear();
    entries_.resize(nodes);
    doors_.resize(nodes);
    if (anew) fit_.reset(cluster_);
    mixed_ = 0;
    for (const int n : cluster_.by_name()) mixed_ += cluster_.node(n).present && cluster_.node(n).mixed;
    for (std::size_t n = 0; n < nodes; ++n) {
        Entry& entry = entries_[n];
        const bool counted = std::exchange(entry.counted, false);
        if (anew || entry.version != cluster_.version(static_cast<int>(n))) {
            refresh(static_cast<int>(n), true);
        } else if (counted) {
            find_standing(entry, true);
            census(entry.has, entry.room.card_type, 1);
            entry.counted = true;
        }
    }
    for (std::size_t s = 0; s < seats_.size(); ++s)
        if (seats_[s] && seats_[s]->standing.empty()) fill(s);
    synced_ = cluster_.changes_end();
    built_ = measured_ = true;
}

bool Seats::is_square(const Shape& shape) const {
    for (int t = 0; shape.cards > 0 && t < cluster_.type_count(); ++t) {
        const CardNeed& need = shape.need(cluster_, t);
        if (need.fails == CardNeed::nothing &&
            !engine::is_square(need, cluster_.card_limit(cluster_.type(t).memory)))
            return false;
    }
    return true;
}

// A seat that knows nothing yet.
void Seats::fill(std::size_t s) {
    Seat& seat = *seats_[s];
    const Shape& shape = judge_.shape(seat.shape);
    seat.plain = is_plain(shape) && ranking_of(shape.policy) != Ranking::weighted;
    seat.indexed =
        seat.plain && ranking_of(shape.policy) == Ranking::ordered && mixed_ == 0 && is_square(shape);
    seat.standing.assign(entries_.size(), absent);
    seat.standing_count.fill(0);
    seat.turned_away = 0;
    treed_.remove(s);
    priced_.remove(s);
    if (!seat.indexed) {
        treed_.add(s);
        if (seat.plain && shape.policy == Policy::price) priced_.add(s);
        seat.levels.reset(cluster_);
    }
    for (int n = 0; n < cluster_.size(); ++n) {
        stand(s, n);
        const Entry& entry = entries_[static_cast<std::size_t>(n)];
        if (treed_.any()) doors_.set(n, room_for(entry), false, {});
    }
    if (!seat.indexed) doors_.renew(s);
}

// ---- nodes ------------------------------------------------------------------------------------------------

void Seats::sync() {
    if (!built_ || layout_ != cluster_.layout() || types_ != static_cast<std::size_t>(cluster_.type_count()))
        return build();
    const auto end = cluster_.changes_end();
    if (synced_ == end) return;
    if (synced_ < cluster_.changes_begin() || end - synced_ > entries_.size()) {
        for (int n = 0; n < cluster_.size(); ++n)
            entries_[static_cast<std::size_t>(n)].booked = ~Mask{0}, refresh(n, false);
    } else {
        for (auto at = synced_; at < end; ++at) {
            if (end - synced_ > 1) fetch(cluster_.change(at));
            entries_[static_cast<std::size_t>(cluster_.change(at))].booked |= cluster_.changed_cards(at);
        }
        for (auto at = synced_; at < end; ++at) refresh(cluster_.change(at), false);
    }
    synced_ = end;
}

// What `refresh` will read of a node, asked of the memory ahead of time: the nodes of a batch are anywhere.
void Seats::fetch(int n) const {
    const Entry& entry = entries_[static_cast<std::size_t>(n)];
    engine::fetch(&entry, sizeof entry);
    engine::fetch(card_rooms_.data() + cluster_.node(n).cards_at, 8 * sizeof(CardRoom));
    fit_.fetch(n);
}

// `anew`: the thresholds are other ones, so that it has to be measured even if it is as it was.
void Seats::refresh(int n, bool anew) {
    Entry& entry = entries_[static_cast<std::size_t>(n)];
    const auto version = cluster_.version(n);
    const bool changed = entry.version != version;
    if (!changed && !anew) return;
    const bool same_kind = !anew && entry.counted && entry.condition == cluster_.condition(n);
    const Standing before = entry.has;
    if (entry.counted && !same_kind) census(before, entry.room.card_type, -1);
    const bool same_cards = same_kind && entry.booked == 0;
    measure(n, entry, same_kind);
    if (same_kind) {
        recount(before, entry.has, entry.room.card_type);
    } else {
        entry.counted = cluster_.node(n).present;
        if (entry.counted) census(entry.has, entry.room.card_type, 1);
        // the index cannot hold it: all seats keep trees from now on
        if (entry.counted && entry.room.mixed && mixed_ == 0) forget();
        if (entry.condition != cluster_.condition(n))
            for (std::size_t s = 0; s < seats_.size(); ++s)
                if (seats_[s] && !seats_[s]->standing.empty()) stand(s, n);
    }
    if (treed_.any()) doors_.set(n, room_for(entry), changed, treed_);
    fit_.set(cluster_, n, entry.room, {card_rooms_.data() + entry.cards_at, entry.cards}, entry.counted,
             same_cards);
    entry.version = version;
    entry.condition = cluster_.condition(n);
}

// `known`: nothing but bookings changed it.
void Seats::measure(int n, Entry& entry, bool known) {
    if (card_rooms_.size() < cluster_.used().cards.size()) card_rooms_.resize(cluster_.used().cards.size());
    const Node& node = cluster_.node(n);
    entry.cards_at = node.cards_at;
    entry.cards = static_cast<std::uint16_t>(node.cards.size());
    CardRoom* const cards = card_rooms_.data() + node.cards_at;
    const bool cards_as_before = known && entry.booked == 0;
    Room& room = entry.room;
    if (known)
        update_room(cluster_, n, entry.booked, room, cards);
    else
        room = room_of(cluster_, n, cards);
    entry.booked = 0;
    find_standing(entry, !cards_as_before);
}

void Seats::find_standing(Entry& entry, bool cards_too) {
    const Room& room = entry.room;
    Standing& has = entry.has;
    has.cpu = cpu_.index(room.cpu);
    has.cpu_only = cpu_only_.index(room.cpu_only);
    has.memory = memory_.index(room.memory);
    if (room.card_type < 0 || !cards_too) return;
    const CardThresholds& of_type = cards_[static_cast<std::size_t>(room.card_type)];
    has.idle = of_type.idle.index(room.idle_count);
    has.card_memory = of_type.memory.index(room.card_memory);
    has.card_compute = of_type.compute.index(room.card_compute);
}

void Seats::census(const Standing& has, int card_type, int by) {
    cpu_.count(has.cpu, by);
    cpu_only_.count(has.cpu_only, by);
    memory_.count(has.memory, by);
    if (card_type < 0) return;
    CardThresholds& cards = cards_[static_cast<std::size_t>(card_type)];
    cards.idle.count(has.idle, by);
    cards.memory.count(has.card_memory, by);
    cards.compute.count(has.card_compute, by);
}

void Seats::recount(const Standing& before, const Standing& now, int card_type) {
    const auto move = [](Thresholds& of, std::uint16_t from, std::uint16_t to) {
        if (from != to) of.count(from, -1), of.count(to, 1);
    };
    move(cpu_, before.cpu, now.cpu);
    move(cpu_only_, before.cpu_only, now.cpu_only);
    move(memory_, before.memory, now.memory);
    if (card_type < 0) return;
    CardThresholds& cards = cards_[static_cast<std::size_t>(card_type)];
    move(cards.idle, before.idle, now.idle);
    move(cards.memory, before.card_memory, now.card_memory);
    move(cards.compute, before.card_compute, now.card_compute);
}

SeatSet Seats::room_for(const Entry& entry) const {
    SeatSet out = entry.eligible;
    out &= cpu_.met(entry.has.cpu);
    out &= cpu_only_.met(entry.has.cpu_only);
    out &= memory_.met(entry.has.memory);
    if (entry.room.card_type < 0) return out;
    const CardThresholds& cards = cards_[static_cast<std::size_t>(entry.room.card_type)];
    out &= cards.idle.met(entry.has.idle);
    out &= cards.memory.met(entry.has.card_memory);
    out &= cards.compute.met(entry.has.card_compute);
    return out;
}

// Whether the node may serve the seat at all, whatever is free on it.
void Seats::stand(std::size_t s, int n) {
    Seat& seat = *seats_[s];
    Entry& entry = entries_[static_cast<std::size_t>(n)];
    std::uint8_t& now = seat.standing[static_cast<std::size_t>(n)];
    if (now < stands) --seat.standing_count[now], --seat.turned_away;
    now = absent;
    if (cluster_.node(n).present) {
        const int fails = Judge::standing_filter(Look(judge_.shape(seat.shape), cluster_, n));
        now = fails < 0 ? stands : static_cast<std::uint8_t>(fails);
        if (fails >= 0) ++seat.standing_count[now], ++seat.turned_away;
    }
    if (now == stands)
        entry.eligible.add(s);
    else
        entry.eligible.remove(s);
}

}  // namespace crater::engine
