#include "place/seats.h"

#include <algorithm>

#include "filter/filter.h"

namespace crater::engine {
namespace {

constexpr std::uint64_t seat_kept = 4096;  // a seat not used for so many questions may be given to another shape
constexpr int runner_up_patience = 16;       // nodes passed over in search of the next five
constexpr std::uint8_t stands = 254;       // no standing filter turns the node away

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
    seats_[it->second].reset();
    seat_of_.erase(it);
}

void Seats::forget() {
    for (auto& seat : seats_)
        if (seat) seat->standing.clear();
    built_ = false;
}

void Seats::levels_changed() {
    for (std::size_t s = 0; s < seats_.size(); ++s) {
        if (!seats_[s] || seats_[s]->standing.empty() || kind_of(judge_.shape(seats_[s]->shape).policy) != Kind::learned) continue;
        for (std::size_t n = 0; n < entries_.size(); ++n)
            if (entries_[n].open.has(s)) pend(*seats_[s], static_cast<int>(n));
    }
}

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
    seat.plain = is_plain(shape) && kind_of(shape.policy) != Kind::weighted;
    seat.indexed = seat.plain && kind_of(shape.policy) == Kind::ordered && mixed_ == 0 && is_square(shape);
    seat.standing.assign(entries_.size(), absent);
    seat.standing_count.fill(0);
    treed_.remove(s);
    if (!seat.indexed) {
        treed_.add(s);
        seat.tree.reset(entries_.size());
        seat.cards.assign(entries_.size(), -1);
        seat.is_pending.assign((entries_.size() + 63) / 64, 0);
        seat.pending.clear();
    }
    for (int n = 0; n < cluster_.size(); ++n) {
        stand(s, n);
        Entry& entry = entries_[static_cast<std::size_t>(n)];
        entry.open = room_for(entry);
        if (!seat.indexed && entry.open.has(s)) pend(seat, n);
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
            if (seats_[s] && !seats_[s]->standing.empty()) pend(*seats_[s], n);
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

// ---- answers -------------------------------------------------------------------------------------------------------------------

void Seats::pend(Seat& seat, int n) {
    const auto at = static_cast<std::size_t>(n);
    std::uint64_t& word = seat.is_pending[at / 64];
    const std::uint64_t bit = std::uint64_t{1} << (at % 64);
    if (word & bit) return;
    word |= bit;
    seat.pending.push_back(n);
}

void Seats::settle(std::size_t s, int& looked) {
    Seat& seat = *seats_[s];
    looked += static_cast<int>(seat.pending.size());
    for (const int n : seat.pending) {
        const auto at = static_cast<std::size_t>(n);
        seat.is_pending[at / 64] &= ~(std::uint64_t{1} << (at % 64));
        const Level level = entries_[at].open.has(s) ? level_on(seat, n) : Level{};
        const auto rank = static_cast<std::size_t>(cluster_.rank(n));
        seat.tree.set(rank, level.value);
        seat.cards[rank] = static_cast<std::int8_t>(level.card);
    }
    seat.pending.clear();
}

Level Seats::level_on(const Seat& seat, int n) const {
    const Room& room = entries_[static_cast<std::size_t>(n)].room;
    if (seat.plain && !room.mixed) return judge_.level(seat.shape, n, room, card_rooms_.data() + cluster_.node(n).cards_at);
    const Verdict verdict = judge_.verdict(seat.shape, Look(judge_.shape(seat.shape), cluster_, n), true);
    return {verdict.level, verdict.card};
}

Spot Seats::best(int shape, int& looked, Trace* trace) {
    if (trace) trace->shape = shape;
    const auto seat = seat_for(shape);
    do sync();
    while (!built_);
    if (!seat) return scan(shape, looked, trace);
    seats_[*seat]->used_at = clock_;
    if (trace) record_lacks(*seat, *trace);
    if (seats_[*seat]->indexed) return from_index(*seat, looked, trace);
    settle(*seat, looked);
    return from_tree(*seats_[*seat], trace);
}

std::vector<Spot> Seats::top(int shape, std::size_t count, int& looked) {
    if (!has_seat(shape)) asked_once_.insert(shape);  // worth a seat at once
    std::vector<Spot> out;
    const auto s = seat_for(shape);
    do sync();
    while (!built_);
    if (!s) {
        Trace trace;
        scan(shape, looked, &trace);
        for (const auto& mark : trace.best)
            if (mark.node >= 0) out.push_back({mark.node, mark.level});
        return out;
    }
    Seat& seat = *seats_[*s];
    seat.used_at = clock_;
    if (seat.indexed) {
        fit_.walk(cluster_, judge_.shape(shape), [&](int n, std::int32_t level) {
            ++looked;
            if (entries_[static_cast<std::size_t>(n)].open.has(*s) && level_on(seat, n).value == level) out.push_back({n, level});
            return out.size() < count;
        });
        return out;
    }
    settle(*s, looked);
    for (const auto rank : seat.tree.best(count)) out.push_back({cluster_.by_name()[rank], seat.tree.at(rank), seat.cards[rank]});
    return out;
}

// All nodes looked at once, those without room passed over by their rooms.
Spot Seats::scan(int position, int& looked, Trace* trace) {
    const Shape& shape = judge_.shape(position);
    std::array<int, 64> lacks{};
    std::vector<Spot> best;
    for (const int n : cluster_.by_name()) {
        if (!cluster_.node(n).present) continue;
        const Room& room = entries_[static_cast<std::size_t>(n)].room;
        const bool short_of_cpu = shape.cpu > (shape.cards > 0 ? room.cpu : room.cpu_only);
        if (!trace && (short_of_cpu || shape.memory > room.memory)) continue;
        ++looked;
        const Verdict verdict = judge_.verdict(position, Look(shape, cluster_, n));
        if (!verdict.fits()) {
            if (verdict.filter != absent) ++lacks[verdict.filter];
            continue;
        }
        const Spot spot{n, verdict.level, verdict.card};
        const auto place = std::find_if(best.begin(), best.end(), [&](const Spot& other) { return other.level < spot.level; });
        if (place == best.end() && best.size() == std::tuple_size_v<decltype(Trace::best)>) continue;
        best.insert(place, spot);
        if (best.size() > std::tuple_size_v<decltype(Trace::best)>) best.pop_back();
    }
    if (trace) {
        for (std::size_t i = 0; i < best.size(); ++i) trace->best[i] = {best[i].node, best[i].level};
        std::size_t at = 0;
        for (std::size_t f = 0; f < lacks.size() && at < trace->lacks.size(); ++f)
            if (lacks[f] > 0) trace->lacks[at++] = {static_cast<std::int32_t>(f), lacks[f]};
    }
    return best.empty() ? Spot{} : best.front();
}

// The winner and, for the trace, the next five.
Spot Seats::from_tree(Seat& seat, Trace* trace) {
    if (seat.tree.empty()) return {};
    const auto rank = seat.tree.top();
    if (trace) {
        std::size_t count = 0;
        for (const auto next : seat.tree.best(trace->best.size())) trace->best[count++] = {cluster_.by_name()[next], seat.tree.at(next)};
    }
    return {cluster_.by_name()[rank], seat.tree.at(rank), seat.cards[rank]};
}

// The next five are looked for a while, not for ever.
Spot Seats::from_index(std::size_t s, int& looked, Trace* trace) const {
    const Seat& seat = *seats_[s];
    Spot winner;
    std::size_t count = 0;
    int patience = runner_up_patience;
    fit_.walk(cluster_, judge_.shape(seat.shape), [&](int n, std::int32_t level) {
        if (winner && --patience < 0) return false;
        if (!entries_[static_cast<std::size_t>(n)].open.has(s)) return true;
        ++looked;
        if (level_on(seat, n).value != level) return true;  // it comes once for each card; this is not the one it would get
        if (!winner) winner = {n, level};
        if (!trace) return false;
        trace->best[count++] = {n, level};
        return count < trace->best.size();
    });
    return winner;
}

// What the nodes lack: one may lack several things and counts for each.
void Seats::record_lacks(std::size_t s, Trace& trace) const {
    const Seat& seat = *seats_[s];
    std::size_t at = 0;
    const auto lack = [&](int filter, int nodes) {
        if (nodes > 0 && filter >= 0 && at < trace.lacks.size()) trace.lacks[at++] = {filter, nodes};
    };
    static const struct {
        int cpu = filter::position_of("cpu"), memory = filter::position_of("memory"), count = filter::position_of("gpu_count"),
            card_memory = filter::position_of("gpu_memory"), compute = filter::position_of("gpu_compute");
    } names;
    lack(names.cpu, cpu_.nodes_short(s) + cpu_only_.nodes_short(s));
    lack(names.memory, memory_.nodes_short(s));
    int idle = 0, memory = 0, compute = 0;
    for (const auto& cards : cards_) {
        idle += cards.idle.nodes_short(s);
        memory += cards.memory.nodes_short(s);
        compute += cards.compute.nodes_short(s);
    }
    lack(names.count, idle);
    lack(names.card_memory, memory);
    lack(names.compute, compute);
    for (const auto f : filter::in_order()) {
        if (filter::at(f).order >= filter::standing_below) break;
        lack(f, seat.standing_count[f]);
    }
}

}  // namespace crater::engine
