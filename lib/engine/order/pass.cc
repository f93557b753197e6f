// One pass: queues by priority, classes of equal jobs by their first job, and for each the question whether
// it can start.
#include <algorithm>
#include <map>

#include "engine_impl.h"
#include "order/turns.h"
#include "state/placement_fact.h"

namespace crater::engine {
namespace {

constexpr Millis prediction_kept{5000};
// Keys grow all the time; whether others have to give way by now is looked at so often.
constexpr Millis push_again{60'000};
constexpr Millis use_kept{600'000};
// So often places are offered to classes that sleep.
constexpr Millis places_again{10'000};

template <class Refresh>
WaitClass* first_of(Sleepers& group, Refresh refresh) {
    WaitClass* first = nullptr;
    for (WaitClass* members : group.classes) {
        refresh(*members);
        if (!first || goes_before(*members, *first)) first = members;
    }
    return first;
}

}  // namespace

// Whether somebody of lower priority runs who might give way; whatever the priority, where queues take back
// what they lent.
bool Engine::Impl::somebody_yields(int priority) const {
    return !yielding_.empty() && (reserving_ || yielding_.begin()->first < priority);
}

// Whether anything happened since classes of one shape fell asleep that could let one of them start.
bool Engine::Impl::worth_rousing(int queue, int shape, Sleepers& group, Instant now) {
    if (group.retry_at && group.retry_at <= now) return true;
    const bool news = group.gains_seen != gains_;
    if (somebody_yields(group.top_priority) && (news || group.victims_seen != victims_seen_)) return true;
    if (order_preempts(queue) && !elders_.levels.empty() && group.pushed_at + push_again <= now) return true;
    if (!news) return false;
    if (!preemptors_.empty() || shapes_.at(shape).own_tasks_matter() || group.gains_seen < gained_base_)
        return true;
    if (gains_for(shape, group.gains_seen)) return true;
    group.gains_seen = gains_;
    return false;
}

// Whether a node where something became free since can take a task of the shape.
bool Engine::Impl::gains_for(int shape, std::uint64_t since) {
    if (seats_.has_seat(shape)) return static_cast<bool>(seats_.best(shape, looked_));
    for (auto g = since; g < gains_; ++g) {
        ++looked_;
        const int n = gained_nodes_[static_cast<std::size_t>(g - gained_base_)];
        if (Judge::fits(Look(shapes_.at(shape), cluster_, n))) return true;
    }
    return false;
}

// Whether anything happened since the class was blocked that could let its first job start.
bool Engine::Impl::worth_a_look(int queue, WaitClass& members, Instant now) {
    Blocked& blocked = members.blocked;
    const auto retry = [&] {
        const bool in_time = blocked.retry_at && blocked.retry_at <= now;
        return in_time || (somebody_yields(members.priority) && blocked.victims_seen != victims_seen_);
    };
    switch (blocked.why) {
        case Blocked::no: return true;
        case Blocked::quota: return tenants_.eased(blocked.tenant) != blocked.eased_seen;
        case Blocked::reserved:
            if (blocked.places_seen != reservations_.version()) return true;
            break;
        case Blocked::room: break;
    }
    if (retry()) return true;
    if (const auto key = members.head().key; order_lets_push(queue, members.priority, key)) {
        if (key < blocked.key_seen || blocked.pushed_at + push_again <= now) return true;
    }
    if (blocked.gains_seen == gains_) return false;
    if (somebody_yields(members.priority)) return true;
    const bool alike =
        members.only < 0 && preemptors_.empty() && !shapes_.at(members.shape).own_tasks_matter();
    if (!alike || blocked.gains_seen < gained_base_ || gains_for(members.shape, blocked.gains_seen))
        return true;
    blocked.gains_seen = gains_;
    return false;
}

Plan Engine::Impl::pass(Instant now, const PassLimits& limits) {
    Plan plan;
    looked_ = 0;
    wake_at_.reset();
    advance(now);
    tell_time(now);
    promote_aged();
    refresh_elders(now);
    if (const auto news = pricing_.reprice(); news != Pricing::News::none) {
        seats_.levels_changed();
        plan.learned = news == Pricing::News::prices;
    }
    if (now - use_told_ >= use_kept) plan.learned |= tenants_.in_use(), use_told_ = now;
    const auto gains_before = gains_, places_before = reservations_.version();
    reservations_.begin_pass(cluster_.size());
    plan.placements.reserve(
        std::min(backlog_.size(), static_cast<std::size_t>(std::max(0, limits.placements_max))));
    int considered = 0;
    const auto spent = [&] {
        const int scans = looked_ / std::max(1, cluster_.size());
        return static_cast<int>(plan.placements.size()) >= limits.placements_max ||
               considered + scans >= limits.evaluations_max;
    };
    // Shapes of which no node can take a task, by what was free then: of their other classes nobody has to be
    // tried.
    std::map<int, std::uint64_t> full;
    const auto no_room = [&](int q, WaitClass& members) {
        const auto seen = full.find(members.shape);
        if (seen == full.end() || seen->second != gains_ || members.only >= 0 || !preemptors_.empty())
            return false;
        return !somebody_yields(members.priority) &&
               !order_lets_push(q, members.priority, members.head().key);
    };
    const bool places_due = now - places_given_ >= places_again;
    if (places_due) places_given_ = now;
    for (const int q : backlog_.in_order()) {
        rouse(q, now);
        if (places_due) rouse_for_places(q);
        Turns turns([&, by_use = order_of(q) == Order::fair](int tenant) {
            return by_use ? tenants_.used(tenant) : 0;
        });
        for (WaitClass* members : backlog_.queue(q).awake) {
            members->look = worth_a_look(q, *members, now);
            if (members->look || keeps_place(*members)) turns.put(*members);
        }
        while (!turns.empty()) {
            if (spent()) {
                plan.more = true;
                break;
            }
            WaitClass* members = &turns.take();
            JobSlot& first = job(members->head().job);
            if (first.stopping) continue;  // gives up the part it holds, and waits for all of it then
            if (members->look && no_room(q, *members)) {
                members->blocked = {.why = Blocked::room,
                                    .gains_seen = gains_,
                                    .victims_seen = victims_seen_,
                                    .key_seen = first.place.key,
                                    .pushed_at = now};
                members->look = false;
            }
            if (!members->look) {
                keep_place(first, now);
                continue;
            }
            const bool last = members->jobs.size() == 1;
            ++considered;
            // A class ends with its last job: it must not be touched after that.
            const int shape_position = members->shape;
            const bool go_on = consider(first, *members, now, plan);
            if (!go_on) keep_place(first, now);
            if (go_on && !(last && first.in_class != members)) turns.put(*members);
            const auto group = backlog_.queue(q).asleep.find(shape_position);
            const bool others = group != backlog_.queue(q).asleep.end();
            if (go_on && !others) continue;  // whoever is next finds out
            const Shape& shape = shapes_.at(shape_position);
            const bool known = !shape.near() && !shape.own_tasks_matter() && seats_.has_seat(shape_position);
            if (known && !seats_.best(shape_position, looked_)) {
                full[shape_position] = gains_;
                if (others) group->second.gains_seen = gains_;
                continue;
            }
            if (!others) continue;
            // The next of those that sleep for want of room for this shape.
            WaitClass* next = first_of(group->second, [&](WaitClass& one) { refresh_share(one, q); });
            backlog_.rouse(q, *next);
            next->look = true;
            turns.put(*next);
        }
        if (plan.more) break;
    }
    break_deadlock(now, plan);
    for (int q = 0; q < backlog_.queue_count(); ++q) backlog_.lull(q);
    set_wake(now);
    // A pledge that ended may have freed what somebody needs who was looked at before.
    dirty_ = plan.more || gains_ != gains_before || reservations_.version() != places_before;
    plan.learned |= run_times_.worth_keeping();
    return plan;
}

// Of a shape for which a node has room now the class that comes first wakes, and the others after it while
// there is room
// (`pass`); all of them where time or others that may give way are the reason.
void Engine::Impl::rouse(int q, Instant now) {
    std::vector<WaitClass*> up;
    for (auto& [shape, group] : backlog_.queue(q).asleep) {
        if (!worth_rousing(q, shape, group, now)) continue;
        const bool in_time = group.retry_at && group.retry_at <= now;
        const bool pushes =
            order_preempts(q) && !elders_.levels.empty() && group.pushed_at + push_again <= now;
        if (in_time || pushes || somebody_yields(group.top_priority) || !preemptors_.empty()) {
            up.insert(up.end(), group.classes.begin(), group.classes.end());
            continue;
        }
        WaitClass* first = first_of(group, [&](WaitClass& members) { refresh_share(members, q); });
        first->blocked.gains_seen = std::min(first->blocked.gains_seen, group.gains_seen);
        up.push_back(first);
    }
    for (WaitClass* members : up) backlog_.rouse(q, *members);
}

// Of those that sleep the first ones wake for which a place may be kept by now.
void Engine::Impl::rouse_for_places(int q) {
    std::vector<WaitClass*> up;
    for (auto& [shape, group] : backlog_.queue(q).asleep)
        if (WaitClass* first = first_of(group, [&](WaitClass& members) { refresh_share(members, q); });
            keeps_place(*first))
            up.push_back(first);
    const auto most = std::min(up.size(), static_cast<std::size_t>(cluster_.settings().backfill_depth));
    std::partial_sort(up.begin(), up.begin() + static_cast<std::ptrdiff_t>(most), up.end(),
                      [](const WaitClass* a, const WaitClass* b) { return goes_before(*a, *b); });
    up.resize(most);
    for (WaitClass* members : up) backlog_.rouse(q, *members);
}

// When something could be decided though nothing happens until then.
void Engine::Impl::set_wake(Instant now) {
    const auto wake = [&](Instant at) {
        if (at > now && (!wake_at_ || at < *wake_at_)) wake_at_ = at;
    };
    for (int q = 0; q < backlog_.queue_count(); ++q) {
        const WaitQueue& queue = backlog_.queue(q);
        // Somebody was placed since, who will have run for long enough one day.
        if (order_preempts(q) && !queue.classes.empty() && elders_.holdings != holdings_)
            wake(elders_.at + elders_kept);
        bool elders = false;  // a key may be above the factor by then, and is looked at again after a while
        if (!queue.classes.empty())
            for (auto it = elders_.levels.lower_bound({q, INT_MIN});
                 it != elders_.levels.end() && it->first.first == q; ++it) {
                if (it->second.next) wake(it->second.next);
                elders |= it->second.grows || it->second.most >= 0;
            }
        for (const WaitClass* members : queue.awake) {
            if (const Instant at = members->blocked.retry_at) wake(at);
            if (members->blocked.why == Blocked::reserved) wake(reservations_.first());
            if (elders && members->blocked.why == Blocked::room)
                wake(std::max(now, members->blocked.pushed_at) + push_again);
        }
        for (const auto& [shape, group] : queue.asleep) {
            if (group.retry_at) wake(group.retry_at);
            if (elders) wake(std::max(now, group.pushed_at) + push_again);
        }
        // Who has waited too long by then may push others aside.
        if (!queue.ageing.empty() && !yielding_.empty()) wake(queue.ageing.begin()->first);
    }
    if (partly_held().size() > 1) wake(deadlock_looked_ + deadlock_looked_for);
    if (const auto opens = cluster_.next_opening(now); opens && backlog_.size() > 0) wake(*opens);
}

// Decides about the first job of a class. True when the next of its class should be looked at.
bool Engine::Impl::consider(JobSlot& slot, WaitClass& members, Instant now, Plan& plan) {
    const auto mark = cluster_.mark();
    // What was booked while trying is what is held, unless pledges were lifted for the trial.
    bool plain = slot.pledge.empty() && preemptors_.empty();
    Outcome outcome = attempt(slot);
    Blocked& blocked = members.blocked;
    if (outcome.kind == Outcome::placed && !reserve_allows(slot, outcome.slices)) {
        cluster_.undo_to(mark);
        blocked = {.why = Blocked::room,
                   .gains_seen = gains_,
                   .victims_seen = victims_seen_,
                   .key_seen = slot.place.key,
                   .pushed_at = now};
        return false;
    }
    if (outcome.kind == Outcome::placed && delays(slot, outcome.slices, now)) {
        cluster_.undo_to(mark);
        outcome = place_beside(slot, now);
        plain = false;
        if (outcome.kind == Outcome::no_room || outcome.kind == Outcome::predicted) {
            blocked = {.why = Blocked::reserved,
                       .gains_seen = gains_,
                       .victims_seen = victims_seen_,
                       .places_seen = reservations_.version()};
            return false;
        }
    }
    if (outcome.kind == Outcome::placed) {
        if (plain)
            cluster_.keep(mark);
        else
            cluster_.undo_to(mark);
        blocked = {};
        commit(slot, outcome, plain ? Booked::yes : Booked::no, now, plan);
        return true;
    }
    cluster_.undo_to(mark);
    if (outcome.kind == Outcome::over_quota) {
        blocked = {};
        blocked.why = Blocked::quota;
        blocked.tenant = outcome.ceiling.tenant;
        blocked.eased_seen = tenants_.eased(blocked.tenant);
        return false;
    }
    if (outcome.kind == Outcome::predicted) {
        // Nobody is stopped for what is only foreseen.
        if (slot.victims.empty() && !slot.pledge.empty()) drop_pledge(slot);
        blocked = {.why = Blocked::room,
                   .gains_seen = gains_,
                   .victims_seen = victims_seen_,
                   .key_seen = slot.place.key,
                   .pushed_at = now};
        // Samples come all the time; what they foretell is looked at now and then.
        if (cluster_.sampled()) blocked.retry_at = now + prediction_kept;
        return false;
    }
    // While its victims stop it waits for them; when they are gone and others were quicker, it may choose
    // again.
    Instant retry_at;
    if (!slot.victims.empty() && slot.pledge.empty()) renew_pledge(slot);
    if (slot.victims.empty()) {
        if (!slot.pledge.empty()) drop_pledge(slot);
        if (somebody_yields(slot.info.priority) ||
            order_lets_push(slot.queue, slot.info.priority, slot.place.key))
            if (auto set = choose_victims(slot, now, &retry_at)) {
                const auto reasons = reasons_for(slot, *set);
                if (preempt(slot, std::move(*set), reasons, plan)) return true;
            }
    }
    blocked = {.why = Blocked::room,
               .gains_seen = gains_,
               .victims_seen = victims_seen_,
               .retry_at = retry_at,
               .key_seen = slot.place.key,
               .pushed_at = now};
    return false;
}

void Engine::Impl::commit(JobSlot& slot, Outcome& outcome, Booked booked, Instant now, Plan& plan) {
    estimates_.started(slot.position, now);
    delist(slot);
    drop_pledge(slot);
    const auto decision = ++decisions_;
    int t = next_task(slot, 0);
    for (auto& slices : outcome.slices) {
        tenants_.charge_anyway(slot.tenant, amounts_of(slices));  // checked in the attempt
        const auto fact = placement_fact(slot.id_hash, t, cluster_.node(slices.node), slices);
        hold(slot, t, std::move(slices), fact, now, booked, decision);
        t = next_task(slot, t + 1);
    }
    plan.placements.emplace_back(slot.info.id, static_cast<std::int64_t>(outcome.slices.size()), decision,
                                 std::move(outcome.trace));
    spare_slices_ = std::move(outcome.slices);
}

std::vector<std::pair<std::int64_t, Allocation>> Engine::Impl::allocations(const Placement& placement) const {
    std::vector<std::pair<std::int64_t, Allocation>> out;
    const int position = position_of(placement.job);
    if (position < 0) return out;
    const auto& tasks = job(position).tasks;
    for (std::size_t t = 0; t < tasks.size(); ++t)
        if (tasks[t].life == TaskSlot::Life::held && tasks[t].decision == placement.decision)
            out.emplace_back(static_cast<std::int64_t>(t), cluster_.to_allocation(tasks[t].slices));
    return out;
}

}  // namespace crater::engine
