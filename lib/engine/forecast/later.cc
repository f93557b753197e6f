// One node as it will be: without what has ended by then, with the places that are kept on it.
#include <algorithm>
#include <bit>
#include <tuple>

#include "engine_impl.h"

namespace crater::engine {
namespace {

// What outlasts its like is given so much more, so that what rests on it moves in steps.
Instant a_while_after(Instant now, Instant begin) {
    return now + std::max(Millis{60'000}, (now - begin) / 4);
}

// What is counted from now on moves in steps too.
Instant next_minute(Instant at) { return {(at.ms / 60'000 + 1) * 60'000}; }

}  // namespace

Millis Engine::Impl::left_of(const JobSlot& slot) const {
    const auto expected = run_times_.expected(slot.info);
    if (!expected) return Millis::max();
    return std::max(Millis{1000}, expected.time.p90 - slot.info.progress);
}

Instant Engine::Impl::busy_until(const JobSlot& slot, Instant now) {
    if (slot.stopping) return next_minute(now + slot.info.spec->grace_period);
    auto& seen = reservations_.foreseen(slot.position);
    const Instant begin = started(slot);
    if (seen.from == begin && seen.until > now) return seen.until;
    const auto expected = run_times_.expected(slot.info);
    if (!expected) return never;
    seen = {begin, begin + (expected.time.p90 - slot.info.progress)};
    if (seen.until > now) return seen.until;
    const Millis age = slot.info.progress + (now - begin);
    const Instant by =
        begin + (run_times_.over_by(slot.info, Spread::one * 9 / 10, age) - slot.info.progress);
    return seen.until = std::max(by, a_while_after(now, begin));
}

void Engine::Impl::find_ends(int node, const JobSlot* waiting, Instant now, std::vector<End>& out) {
    out.clear();
    for (const auto& held : held_on_[static_cast<std::size_t>(node)]) {
        const JobSlot& slot = job(held.job);
        const Slices& slices = slot.tasks[static_cast<std::size_t>(held.task)].slices;
        End end{busy_until(slot, now), held.job, held.task, 0, slices.cpu, slices.memory};
        for (const auto& part : slices.cards) end.cards |= Mask{1} << part.card;
        if (waiting && slot.info.priority < waiting->info.priority && may_yield(slot, *waiting, false))
            end.at =
                std::min(end.at, next_minute(std::max(now, started(slot) + cluster_.settings().min_run_time) +
                                             slot.info.spec->grace_period));
        out.push_back(end);
    }
    std::sort(out.begin(), out.end(), [](const End& a, const End& b) {
        return std::tie(a.at, a.job, a.task) < std::tie(b.at, b.job, b.task);
    });
}

bool Engine::Impl::yields_to(const JobSlot& waiting) const {
    return !yielding_.empty() && yielding_.begin()->first < waiting.info.priority;
}

// What would yield to the job that waits counts as gone after its grace. Good until the next question.
const std::vector<End>& Engine::Impl::ends_on(int node, const JobSlot& waiting, Instant now) {
    if (!yields_to(waiting)) return timeline(node, now).ends;
    find_ends(node, &waiting, now, ends_);
    return ends_;
}

// By sums, whether `fill_later` can find room: what it books, added up.
bool Engine::Impl::may_fit_later(int n, const JobSlot& slot, Instant at, Instant until,
                                 const std::vector<End>& ends) const {
    const Shape& shape = shapes_.at(slot.shape);
    const Node& node = cluster_.node(n);
    Mask taken = 0;
    std::int64_t cpu = node.cpu, memory = node.memory;
    for (const auto& end : ends)
        if (end.at > at) taken |= end.cards, cpu -= end.cpu, memory -= end.memory;
    for (const auto* place : reservations_.on(n)) {
        if (place->job == slot.position || place->at >= until || place->until <= at) continue;
        for (const auto& slices : place->slices) {
            if (slices.node != n) continue;
            for (const auto& part : slices.cards) taken |= Mask{1} << part.card;
            cpu -= slices.cpu, memory -= slices.memory;
        }
    }
    if (cpu < shape.cpu || memory < shape.memory) return false;
    if (shape.cards == 0 || node.card_type < 0) return true;
    const CardNeed& need = shape.need(cluster_, node.card_type);
    return !need.whole || std::popcount(node.usable & ~taken) >= shape.cards;
}

// Books the node as it will be at `at`, with all places that are kept on it before `until`. The caller undoes
// it.
void Engine::Impl::book_later(int node, Instant at, Instant until, const std::vector<End>& ends,
                              const JobSlot& waiting) {
    for (const auto& end : ends)
        if (end.at <= at)
            cluster_.try_book(job(end.job).tasks[static_cast<std::size_t>(end.task)].slices, -1);
    for (const auto* place : reservations_.on(node)) {
        if (place->job == waiting.position || place->at >= until || place->until <= at) continue;
        for (const auto& slices : place->slices)
            if (slices.node == node) cluster_.try_book(slices, 1);
    }
}

// Whether more is booked than there is of anything that these slices take.
bool Engine::Impl::over_full(int n, const std::vector<Slices>& slices) const {
    const Node& node = cluster_.node(n);
    const Ledger& used = cluster_.used();
    const NodeUse& all = used.nodes[static_cast<std::size_t>(n)];
    if (all.exclusive > 0 && all.tasks > all.exclusive) return true;
    for (const auto& s : slices) {
        if (s.node != n) continue;
        if (s.cpu > 0 && all.cpu > node.cpu) return true;
        if (s.cpu_only && s.cpu > 0 && all.cpu_only > node.cpu - node.preprocessing) return true;
        if (s.memory > 0 && all.memory > node.memory) return true;
        for (const auto& part : s.cards) {
            const auto c = static_cast<std::size_t>(part.card);
            const CardUse& card = used.cards[static_cast<std::size_t>(node.cards_at) + c];
            if (card.exclusive > 0
                    ? card.tasks > 1
                    : card.compute > 1000 ||
                          card.memory > cluster_.card_limit(cluster_.type(node.cards[c].type).memory) ||
                          card.tasks > cluster_.settings().max_tasks_per_gpu)
                return true;
        }
        if (s.domain >= 0 && s.bandwidth > 0) {
            const auto d = static_cast<std::size_t>(s.domain);
            if (used.domains[static_cast<std::size_t>(node.domains_at) + d].bandwidth >
                node.domains[d].bandwidth)
                return true;
        }
        if (s.disk >= 0) {
            const auto k = static_cast<std::size_t>(s.disk);
            const DiskUse& disk = used.disks[static_cast<std::size_t>(node.disks_at) + k];
            if (disk.size > node.disks[k].size || disk.iops > node.disks[k].iops ||
                disk.bandwidth > node.disks[k].bandwidth)
                return true;
        }
    }
    return false;
}

// Whether slices that are booked until `end` leave too little for a place kept on the node before that. What
// is used besides changes only when something ends, and then becomes less, or when another place begins:
// those times are looked at.
bool Engine::Impl::crowds_out(int node, const JobSlot& slot, const std::vector<Slices>& slices, Instant end,
                              Instant now) {
    for (const auto* place : reservations_.on(node)) {
        if (place->job == slot.position || place->at >= end) continue;
        const auto mark = cluster_.mark();
        book_later(node, place->at, place->at + Millis{1}, ends_on(node, job(place->job), now), slot);
        const bool full = over_full(node, slices);
        cluster_.undo_to(mark);
        if (full) return true;
    }
    return false;
}

// Slices on a node where places are kept that leave them alone until `end`.
std::optional<Slices> Engine::Impl::beside_on(int node, const JobSlot& slot, Instant end, Instant now,
                                              std::int64_t own) {
    const Shape& shape = shapes_.at(slot.shape);
    if (!Judge::fits(Look(shape, cluster_, node, When::now, own))) return {};
    Mask free = ~Mask{0};
    for (const auto* place : reservations_.on(node)) {
        if (place->job == slot.position || place->at >= end) continue;
        const auto mark = cluster_.mark();
        book_later(node, place->at, place->at + Millis{1}, ends_on(node, job(place->job), now), slot);
        const Look look(shape, cluster_, node, When::later, own);
        const bool fits = Judge::fits(look);
        free &= look.cards.load;
        cluster_.undo_to(mark);
        if (!fits) return {};
    }
    Look look(shape, cluster_, node, When::now, own);
    look.keep(free);
    if (!Judge::fits(look)) return {};
    std::vector<Slices> out{look.slices()};
    out.front().crowd = slot.crowd;
    const auto mark = cluster_.mark();
    cluster_.try_book(out.front(), 1);
    const bool in_the_way = crowds_out(node, slot, out, end, now);
    cluster_.undo_to(mark);
    if (in_the_way) return {};
    return std::move(out.front());
}

// How many tasks the node takes from `at` to `until`, `wanted` at most; their slices, unbooked, are added to
// `out`, which has room for them.
int Engine::Impl::fill_later(int node, const JobSlot& slot, Instant at, Instant until,
                             const std::vector<End>& ends, int wanted, std::vector<Slices>& out) {
    for (const auto& window : cluster_.node(node).windows)
        if (window.end > at && window.start < (until == never ? at + Millis{1} : until)) return 0;
    if (!may_fit_later(node, slot, at, until, ends)) return 0;
    const auto mark = cluster_.mark();
    book_later(node, at, until, ends, slot);
    int own = 0;
    for (const auto& end : ends) own += end.job == slot.position && end.at > at;
    int filled = 0;
    while (filled < wanted) {
        const Look look(shapes_.at(slot.shape), cluster_, node, When::later, own);
        if (!Judge::fits(look)) break;
        out.push_back(look.slices());
        out.back().crowd = slot.crowd;
        cluster_.try_book(out.back(), 1);
        ++filled, ++own;
    }
    cluster_.undo_to(mark);
    return filled;
}

}  // namespace crater::engine
