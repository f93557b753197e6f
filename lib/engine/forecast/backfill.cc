// Backfill: the blocked first of its kind keeps a place, on the nodes where it fits at the earliest; whoever
// comes after it may start now only if it delays none of these places. Kept for the first `backfill_depth`
// kinds of each domain in the order of the pass: with each more, those who come later wait longer behind
// large ones (on the Philly jobs a depth of 1, 4, 16 lengthens the mean wait by 10, 12, 55 % over none).
//
// A place rests on by when nine in ten of what runs there are over. Where what runs has no end in sight there
// is none, and then nobody is held back: a job never keeps what it could not use. A place stays as it is
// while it still holds, and moves only to an earlier time, or when what it waits for takes longer.
#include <algorithm>

#include "engine_impl.h"

namespace crater::engine {
namespace {

constexpr std::uint64_t nodes_compared = 64;  // that changed; beyond, it is looked for anew

}  // namespace

// Those that keep none may in this pass: when one that comes before starts. Who may be stopped again for its
// queue's order gets its place by that order too, and is promised none.
bool Engine::Impl::keeps_place(const WaitClass& members) const {
    if (cluster_.settings().backfill_depth == 0 || (timed_ == 0 && run_times_.empty())) return false;
    if (members.preemptible && order_preempts(job(members.head().job).queue)) return false;
    return members.blocked.why == Blocked::room || members.blocked.why == Blocked::reserved;
}

// The types of cards that serve it; work without cards is a domain of its own.
std::uint64_t Engine::Impl::domain_of(const Shape& shape) const {
    if (shape.cards == 0) return 0;
    std::uint64_t out = 0;
    for (int t = 0; t < cluster_.type_count(); ++t)
        if (shape.need(cluster_, t).fails == CardNeed::nothing) out |= std::uint64_t{1} << t % 64;
    return out;
}

// The first of a kind, in the order of the pass: what is kept for it is in force for those who come after.
void Engine::Impl::keep_place(JobSlot& slot, Instant now) {
    if (!slot.in_class) return;
    WaitClass& members = *slot.in_class;
    if (members.kept_for >= 0 && members.kept_for != slot.position) reservations_.leave(members.kept_for);
    members.kept_for = -1;
    const auto depth = static_cast<std::size_t>(cluster_.settings().backfill_depth);
    const auto domain = domain_of(shapes_.at(slot.shape));
    if (!keeps_place(members) || !slot.pledge.empty() || !slot.victims.empty() ||
        reservations_.in_force(domain) >= depth)
        return leave_place(slot);

    const Reservation* kept = reservations_.of(slot.position);
    std::optional<Reservation> found;
    bool moves = !kept;
    if (kept && *kept && !still_good(*kept, slot, now)) moves = true;
    if (moves) {
        // So many in one pass and no more: the others are looked for in the next ones.
        if (!reservations_.may_search(16 + depth)) return leave_place(slot);
        found = earliest(slot, now);
    } else if ((found = better_place(*kept, slot, now)))
        moves = true;
    if (moves) {
        // What fits now by the books waits for something else: no place is worth keeping.
        if (!found || found->at <= now) found = Reservation{.job = slot.position};
        found->domain = domain;
        reservations_.keep(std::move(*found));
    }
    reservations_.looked(slot.position, gains_, reservations_.moves_end());
    reservations_.enforce(slot.position);
    members.kept_for = slot.position;
}

void Engine::Impl::leave_place(const JobSlot& slot) {
    if (reservations_.none()) return;
    const auto before = reservations_.version();
    reservations_.leave(slot.position);
    dirty_ |= reservations_.version() != before;
    if (slot.in_class && slot.in_class->kept_for == slot.position) slot.in_class->kept_for = -1;
}

// Whether the slices will be free, beside those kept for jobs that come before.
bool Engine::Impl::still_good(const Reservation& place, const JobSlot& slot, Instant now) {
    if (place.at <= now || static_cast<int>(place.slices.size()) != slot.waiting) return false;
    // Most are as they were.
    std::uint64_t look = 1;
    for (const auto& slices : place.slices)
        look = look * 0x9e3779b97f4a7c15ULL +
               (cluster_.version(slices.node) ^ reservations_.look_of(slices.node) << 1);
    if (look == place.good_for && now < place.good_until) return true;
    Instant late = never;
    std::vector<int> nodes;
    for (const auto& slices : place.slices)
        if (nodes.empty() || nodes.back() != slices.node) nodes.push_back(slices.node);
    const bool good = std::all_of(nodes.begin(), nodes.end(), [&](int n) {
        const Node& node = cluster_.node(n);
        if (!node.takes_work() || Judge::fixed_filter(Look(shapes_.at(slot.shape), cluster_, n)) >= 0)
            return false;
        for (const auto& window : node.windows)
            if (window.end > place.at &&
                window.start < (place.until == never ? place.at + Millis{1} : place.until))
                return false;
        const auto mark = cluster_.mark();
        const auto& ends = ends_on(n, slot, now);
        if (!ends.empty()) late = std::min(late, ends.front().at);
        book_later(n, place.at, place.until, ends, slot);
        for (const auto& slices : place.slices)
            if (slices.node == n) cluster_.try_book(slices, 1);
        const bool full = over_full(n, place.slices);
        cluster_.undo_to(mark);
        return !full;
    });
    if (good && !yields_to(slot)) reservations_.good(slot.position, look, late);
    return good;
}

// An earlier one, on nodes where something became free since it was looked for.
std::optional<Reservation> Engine::Impl::better_place(const Reservation& place, const JobSlot& slot,
                                                      Instant now) {
    const auto gains = gains_ - place.gains_seen, moves = reservations_.moves_end() - place.moves_seen;
    if (gains + moves == 0) return {};
    const bool one_by_one = slot.waiting == 1 && gains + moves <= nodes_compared &&
                            place.gains_seen >= gained_base_ &&
                            place.moves_seen >= reservations_.moves_begin();
    if (!one_by_one) {
        auto found = earliest(slot, now);
        return found && found->at < place.at ? found : std::nullopt;
    }
    std::optional<Reservation> best;
    const auto compare = [&](int n) {
        if (auto found = earliest_on(n, slot, now, best ? best->at : place.at)) best = std::move(found);
    };
    for (auto g = place.gains_seen; g < gains_; ++g)
        compare(gained_nodes_[static_cast<std::size_t>(g - gained_base_)]);
    for (auto m = place.moves_seen; m < reservations_.moves_end(); ++m) compare(reservations_.move(m));
    return best;
}

// Whether slices that are booked for the job leave too little for a place that is kept. Where nobody knows
// how long it runs, it runs for ever.
bool Engine::Impl::delays(const JobSlot& slot, const std::vector<Slices>& slices, Instant now) {
    if (!reservations_.in_force()) return false;
    const Millis length = left_of(slot);
    const Instant end = length == Millis::max() ? never : now + length;
    int before = -1;
    for (const auto& s : slices) {
        if (s.node == before) continue;
        before = s.node;
        if (crowds_out(s.node, slot, slices, end, now)) return true;
    }
    return false;
}

// Somewhere else, or beside what is kept. Nothing is booked.
Engine::Impl::Outcome Engine::Impl::place_beside(JobSlot& slot, Instant now) {
    const Millis length = left_of(slot);
    const Instant end = length == Millis::max() ? never : now + length;
    std::vector<int> kept;
    std::vector<Slices> closed;
    for (const int n : reservations_.nodes()) {
        const auto& here = reservations_.on(n);
        if (std::any_of(here.begin(), here.end(), [&](const auto* place) { return place->at < end; }))
            kept.push_back(n);
    }
    for (const int n : kept) {
        closed.emplace_back();
        closed.back().node = n;
        closed.back().node_exclusive = true;
    }
    const auto mark = cluster_.mark();
    for (const auto& slices : closed) cluster_.try_book(slices, 1);
    Outcome out = attempt(slot);
    const Shape& shape = shapes_.at(slot.shape);
    const bool plugins = hooks_ && !backlog_.queue(slot.queue).spec.plugins.empty();
    if (out.kind != Outcome::no_room || shape.topology.required || predicts() || plugins ||
        !preemptors_.empty()) {
        cluster_.undo_to(mark);
        return out;
    }
    // As many tasks as go elsewhere, the rest on those nodes, by the queue's own judgement.
    Outcome mixed;
    const auto wanted = static_cast<std::size_t>(slot.waiting);
    mixed.slices.reserve(wanted);
    mixed.trace = out.trace;
    if (!shape.own_tasks_matter())
        while (mixed.slices.size() < wanted) {
            const Spot spot = seats_.best(slot.shape, looked_);
            if (!spot) break;
            Look look(shape, cluster_, spot.node);
            if (spot.card >= 0) look.take(spot.card);
            mixed.slices.push_back(look.slices());
            mixed.slices.back().crowd = slot.crowd;
            cluster_.try_book(mixed.slices.back(), 1);
        }
    // Those nodes are open again.
    cluster_.undo_to(mark);
    for (const auto& slices : mixed.slices) cluster_.try_book(slices, 1);
    if (shape.own_tasks_matter()) count_own_tasks(slot);
    while (mixed.slices.size() < wanted) {
        std::optional<Slices> best;
        std::int32_t best_level = -1;
        for (const int n : kept) {
            const auto own = shape.own_tasks_matter() ? own_tasks_[static_cast<std::size_t>(n)] : 0;
            auto found = beside_on(n, slot, end, now, own);
            if (!found) continue;
            const auto level = judge_.verdict(slot.shape, Look(shape, cluster_, n, When::now, own)).level;
            const bool wins = level > best_level ||
                              (level == best_level && best && cluster_.rank(n) < cluster_.rank(best->node));
            if (wins) best = std::move(found), best_level = level;
        }
        if (!best) break;
        if (shape.own_tasks_matter()) ++own_tasks_[static_cast<std::size_t>(best->node)];
        mixed.slices.push_back(std::move(*best));
        cluster_.try_book(mixed.slices.back(), 1);
    }
    cluster_.undo_to(mark);
    if (mixed.slices.size() < wanted) return out;
    Amounts charged{};
    for (const Slices& slices : mixed.slices) {
        const Amounts amounts = amounts_of(slices);
        for (std::size_t k = 0; k < quota_kinds; ++k) charged[k] += amounts[k];
    }
    charged[jobs_kind] = slot.held == 0 ? 1 : 0;
    mixed.ceiling = tenants_.over(slot.tenant, charged);
    mixed.kind = mixed.ceiling ? Outcome::over_quota : Outcome::placed;
    return mixed;
}

}  // namespace crater::engine
