// What is asked of the index: the best nodes for a shape, and what the others lack.
#include <algorithm>
#include <climits>
#include <utility>

#include "filter/filter.h"
#include "place/cards.h"
#include "place/seats.h"

namespace crater::engine {
namespace {

constexpr int runner_up_patience = 16;  // nodes passed over in search of the next five

}  // namespace

// Bounds on all levels that follow from prices anew, node by node, because what is known of a node serves all
// seats. The others that change with what is learned are found anew when their seat is asked next.
void Seats::relevel() {
    stale_ = false;
    for (auto& seat : seats_)
        if (seat && !seat->standing.empty() &&
            ranking_of(judge_.shape(seat->shape).policy) == Ranking::learned)
            seat->levels.outdate();
    for (const int n : cluster_.by_name()) {
        const Entry& entry = entries_[static_cast<std::size_t>(n)];
        if (entry.room.mixed) {
            doors_.set(n, doors_.open(n), true, priced_);
            continue;
        }
        SeatSet concerned = doors_.open(n);
        concerned &= priced_;
        const auto rank = static_cast<std::size_t>(cluster_.rank(n));
        const CardRoom* cards = card_rooms_.data() + cluster_.node(n).cards_at;
        concerned.each([&](std::size_t s) {
            const std::int32_t bound = judge_.bound(seats_[s]->shape, n, entry.room, cards);
            seats_[s]->levels.put(rank, {bound, Levels::unfound});
        });
    }
    priced_.each([&](std::size_t s) { seats_[s]->levels.climb(); });
}

void Seats::settle(std::size_t s, int& looked) {
    Seat& seat = *seats_[s];
    const auto due = doors_.take_due(s);
    if (!priced_.has(s)) {
        const auto level_of = [&](int n) { return doors_.is_open(n, s) ? level_on(seat, n) : Level{}; };
        looked += seat.levels.settle(cluster_, due, level_of, [&](int n) { doors_.fetch(n); });
        return;
    }
    const auto bound_of = [&](int n) {
        if (!doors_.is_open(n, s)) return Level{};
        const Entry& entry = entries_[static_cast<std::size_t>(n)];
        if (entry.room.mixed) return level_on(seat, n);
        const CardRoom* cards = card_rooms_.data() + entry.cards_at;
        return Level{judge_.bound(seat.shape, n, entry.room, cards), Levels::unfound};
    };
    seat.levels.settle(cluster_, due, bound_of, [&](int n) { doors_.fetch(n), judge_.fetch_bound(n); });
}

Level Seats::level_on(const Seat& seat, int n) const {
    const Room& room = entries_[static_cast<std::size_t>(n)].room;
    if (seat.plain && !room.mixed)
        return judge_.level(seat.shape, n, room, card_rooms_.data() + cluster_.node(n).cards_at);
    const Verdict verdict = judge_.verdict(seat.shape, Look(judge_.shape(seat.shape), cluster_, n), true);
    return {verdict.level, verdict.card};
}

// Whether a node that the index names fits and leaves so much over: it is named for its cores and for each of
// its cards, but may lack the rest, and the card may not be the one it would give.
bool Seats::has_left(const Shape& shape, const Entry& entry, std::size_t left) const {
    const Room& room = entry.room;
    if (shape.cpu > (shape.cards > 0 ? room.cpu : room.cpu_only) || shape.memory > room.memory) return false;
    if (shape.cards == 0) return true;
    const CardNeed& need = shape.need(cluster_, room.card_type);
    if (need.whole) return true;
    const CardRoom* const cards = card_rooms_.data() + entry.cards_at;
    const auto memory = need.room(), compute = need.compute;
    int least = INT_MAX;  // of the cards that serve
    for (std::size_t c = 0, count = entry.cards; c < count; ++c) {
        const bool serves = cards[c].memory >= memory && cards[c].compute >= compute;
        least = std::min(least, serves ? int{cards[c].left} : INT_MAX);
    }
    const auto step = static_cast<std::size_t>(least / left_step_size);
    return step - std::min(step, std::size_t{need.step}) == left;
}

Spot Seats::best(int shape, int& looked, Trace* trace) {
    if (trace) trace->shape = shape;
    const auto seat = seat_for(shape);
    do sync();
    while (!built_);
    if (stale_) relevel();
    if (!seat) return scan(shape, looked, trace);
    seats_[*seat]->used_at = clock_;
    if (trace) record_lacks(*seat, *trace);
    if (seats_[*seat]->indexed)
        return trace ? from_index(*seat, looked, *trace) : first_from_index(*seat, looked);
    settle(*seat, looked);
    Seat& asked = *seats_[*seat];
    const auto found = [&](int n) { return ++looked, level_on(asked, n); };
    if (!trace) return asked.levels.best(cluster_, found);
    asked.levels.best(cluster_, trace->best.size(), found, best_few_);
    for (std::size_t i = 0; i < best_few_.size(); ++i)
        trace->best[i] = {best_few_[i].node, best_few_[i].level};
    return best_few_.empty() ? Spot{} : best_few_.front();
}

bool Seats::take(int shape, const Spot& spot, Slices& out) const {
    const int seat = seat_of(shape);
    if (seat < 0 || !seats_[static_cast<std::size_t>(seat)]->plain) return false;
    const Room& room = entries_[static_cast<std::size_t>(spot.node)].room;
    if (room.mixed) return false;
    slices_of_room(judge_.shape(shape), cluster_, spot.node, room,
                   card_rooms_.data() + cluster_.node(spot.node).cards_at, spot.card, out);
    return true;
}

std::vector<Spot> Seats::top(int shape, std::size_t count, int& looked) {
    if (!has_seat(shape)) asked_once_.insert(shape);  // worth a seat at once
    std::vector<Spot> out;
    const auto s = seat_for(shape);
    do sync();
    while (!built_);
    if (stale_) relevel();
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
        const Shape& wants = judge_.shape(shape);
        fit_.walk(cluster_, wants, [&](int n, std::size_t left, std::int32_t level) {
            ++looked;
            const Entry& entry = entries_[static_cast<std::size_t>(n)];
            if (entry.eligible.has(*s) && has_left(wants, entry, left)) out.push_back({n, level});
            return out.size() < count;
        });
        return out;
    }
    settle(*s, looked);
    seat.levels.best(
        cluster_, count, [&](int n) { return ++looked, level_on(seat, n); }, out);
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
        const auto place = std::find_if(best.begin(), best.end(),
                                        [&](const Spot& other) { return other.level < spot.level; });
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

// The first node that the index names and that has the rest as well.
Spot Seats::first_from_index(std::size_t s, int& looked) const {
    const Shape& shape = judge_.shape(seats_[s]->shape);
    const bool all_eligible = seats_[s]->turned_away == 0;
    Spot winner;
    fit_.walk(cluster_, shape, [&](int n, std::size_t left, std::int32_t level) {
        const Entry& entry = entries_[static_cast<std::size_t>(n)];
        if (!all_eligible && !entry.eligible.has(s)) return true;
        ++looked;
        if (!has_left(shape, entry, left)) return true;
        winner = {n, level};
        return false;
    });
    if (winner) cluster_.fetch_rows(winner.node), fit_.fetch(winner.node);
    return winner;
}

// The next five are looked for a while, not for ever. Nodes are taken from the index some at a time, so that
// what is read of them is on its way before the first is looked at.
Spot Seats::from_index(std::size_t s, int& looked, Trace& trace) const {
    struct Named {
        int node;
        std::int32_t level;
        std::size_t left;
    };
    std::array<Named, 8> named;
    std::size_t count = 0;
    const Shape& shape = judge_.shape(seats_[s]->shape);
    const bool all_eligible = seats_[s]->turned_away == 0;
    Spot winner;
    std::size_t shown = 0;
    int patience = runner_up_patience;
    const auto goes_on_after = [&](const Named& next) {
        if (winner && --patience < 0) return false;
        const Entry& entry = entries_[static_cast<std::size_t>(next.node)];
        if (!all_eligible && !entry.eligible.has(s)) return true;
        ++looked;
        if (!has_left(shape, entry, next.left)) return true;
        if (!winner) {
            winner = {next.node, next.level};
            cluster_.fetch_rows(next.node);
            fit_.fetch(next.node);
        }
        trace.best[shown++] = {next.node, next.level};
        return shown < trace.best.size();
    };
    const auto look_at_them = [&] {
        for (std::size_t i = 0; i < count; ++i)
            engine::fetch(card_rooms_.data() + entries_[static_cast<std::size_t>(named[i].node)].cards_at);
        const auto end = named.begin() + static_cast<std::ptrdiff_t>(std::exchange(count, 0));
        return std::all_of(named.begin(), end, goes_on_after);
    };
    fit_.walk(cluster_, shape, [&](int n, std::size_t left, std::int32_t level) {
        const Entry& entry = entries_[static_cast<std::size_t>(n)];
        engine::fetch(&entry);
        if (!all_eligible) engine::fetch(&entry.eligible);
        named[count++] = {n, level, left};
        return count < named.size() || look_at_them();
    });
    if (count > 0) look_at_them();
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
        int cpu = filter::position_of("cpu"), memory = filter::position_of("memory"),
            count = filter::position_of("gpu_count"), card_memory = filter::position_of("gpu_memory"),
            compute = filter::position_of("gpu_compute");
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
    if (seat.turned_away == 0) return;
    for (const auto f : filter::in_order()) {
        if (filter::at(f).order >= filter::standing_below) break;
        lack(f, seat.standing_count[f]);
    }
}

}  // namespace crater::engine
