// Where a waiting job stands in its queue's order, what a running one would weigh in it, and from when on a
// job has waited too long for any order. SPEC 3.6.
#include <algorithm>

#include "engine_impl.h"

namespace crater::engine {
namespace {

// A job of which nothing is known takes a day, and so waits behind those whose owners say less.
constexpr Millis unknown_run_time{86'400'000};
// Below this (a minute; a minute of one card) jobs are alike: the last moments of a run decide nothing.
constexpr std::int64_t least_key = 60'000;
// One more of these for each time that a running job was stopped before.
constexpr std::int64_t parts_of_least_run = 4;
// A job that keeps what it gets holds up others for its whole run: it has waited too long after several times
// that.
constexpr std::int64_t long_wait_runs = 4;

// What a job goes on for that has run for `done`. One that has outlived its time is taken to need as much
// again as it is over: it does not count as nearly done for ever.
Millis remaining(Millis expected, Millis done) { return done < expected ? expected - done : done - expected; }

std::int64_t cards_of(const JobSlot& slot) {
    return std::max<std::int64_t>(1, slot.info.spec->resources.gpu.count.value) *
           static_cast<std::int64_t>(slot.tasks.size());
}

}  // namespace

Order Engine::Impl::order_of(int queue) const { return backlog_.queue(queue).spec.order; }

Millis Engine::Impl::expected_run(const JobSlot& slot) const {
    const JobSpec& spec = *slot.info.spec;
    if (slot.info.run_time && slot.info.run_time->p50.count() > 0 && spec.time_limit.count() == 0)
        return slot.info.run_time->p50;
    if (const auto known = expected_run_time(slot.info)) return known->p50;
    return spec.time_limit.count() > 0 ? std::min(spec.time_limit, unknown_run_time) : unknown_run_time;
}

Instant Engine::Impl::last_start(const JobSlot& slot) const {
    Instant started;
    for (const auto& task : slot.tasks)
        if (task.life == TaskSlot::Life::held) started = std::max(started, task.started);
    return started;
}

// In milli-GPU-seconds or milliseconds; lower goes first. What only ages (fair: the tenant's use) is not in
// it.
std::int64_t Engine::Impl::order_key(const JobSlot& slot, Instant now) const {
    switch (order_of(slot.queue)) {
        case Order::fair:
        case Order::fifo: return 0;
        case Order::shortest: {
            const Millis running = slot.held > 0 ? std::max(now - last_start(slot), Millis{0}) : Millis{0};
            return remaining(expected_run(slot), slot.info.progress + running).count();
        }
        case Order::las: break;
    }
    std::int64_t served = slot.info.served;
    for (const auto& task : slot.tasks)
        if (task.life == TaskSlot::Life::held) served += received(task, now);
    return served;
}

// Milli-GPU-seconds of a task's run until `now`.
std::int64_t Engine::Impl::received(const TaskSlot& task, Instant now) {
    std::int64_t compute = 0;
    for (const auto& slice : task.slices.cards) compute += slice.compute;
    return saturating_product(compute, std::max<std::int64_t>(0, (now - task.started).count())) / 1000;
}

Instant Engine::Impl::waits_since(const JobSlot& slot) const {
    return std::max(slot.info.submitted, slot.info.waits_since);
}

// When the job will have waited too long, or what it was willing to wait is about to be over. 0 = never. One
// that others can push aside again grows old until its first start alone: an overload has to be stored in
// jobs that wait, and those that would run longest store most in fewest. Where nobody is stopped and the
// short go first, the long wait in proportion.
Instant Engine::Impl::ages_at(const JobSlot& slot) const {
    Instant at;
    const Order order = order_of(slot.queue);
    const Millis most = cluster_.settings().order_wait_most;
    if (order == Order::fair) {
        at = waits_since(slot) + most;
    } else if (slot.info.preemptible && order_preempts(slot.queue)) {
        if (!slot.info.waits_since) at = slot.info.submitted + most;
    } else if (order != Order::fifo) {
        const Millis ran{saturating_product(slot.info.served, 1000) / cards_of(slot)};
        const Millis run = order == Order::las ? ran : std::max(expected_run(slot), ran);
        at = waits_since(slot) + std::max(most, run * long_wait_runs);
    }
    if (const Millis willing = slot.info.spec->max_queue_time; willing.count() > 0) {
        const Instant due = slot.info.submitted + Millis{willing.count() / 5 * 4};
        if (!at || due < at) at = due;
    }
    return at;
}

Waiting Engine::Impl::place_of(const JobSlot& slot) const {
    const bool aged = slot.ages_at && slot.ages_at <= clock_;
    return {aged ? Waiting::aged_key : order_key(slot, clock_), slot.info.submitted, slot.info.id,
            slot.position};
}

Turn Engine::Impl::turn_of(const JobSlot& slot) const {
    if (slot.in_class) return engine::turn_of(*slot.in_class, slot.place);
    return {slot.info.priority, order_of(slot.queue) == Order::fair ? tenants_.used(slot.tenant) : 0,
            place_of(slot)};
}

// Jobs that have waited too long by now move to the front.
void Engine::Impl::promote_aged() {
    for (int q = 0; q < backlog_.queue_count(); ++q) {
        auto& ageing = backlog_.queue(q).ageing;
        while (!ageing.empty() && ageing.begin()->first <= clock_) relist(job(ageing.begin()->second));
    }
}

// What the tenants of a fair queue used, for its classes.
void Engine::Impl::refresh_share(WaitClass& members, int queue) const {
    members.share = order_of(queue) == Order::fair ? tenants_.used(members.tenant) : 0;
}

void Engine::Impl::refresh_shares(int queue) const {
    for (const auto& [key, members] : backlog_.queue(queue).classes) refresh_share(*members, queue);
}

void Engine::Impl::refresh_shares(int queue, int priority) const {
    for (const auto& [key, members] : backlog_.of_priority(queue, priority)) refresh_share(*members, queue);
}

// ---- Giving way for the order -----------------------------------------------------------------------------

bool Engine::Impl::order_preempts(int queue) const {
    const Order order = order_of(queue);
    return order == Order::shortest || order == Order::las;
}

// Running jobs of the same queue and priority give way when their key is above this.
std::int64_t Engine::Impl::yields_above(int queue, std::int64_t key) const {
    if (!order_preempts(queue)) return INT64_MAX;
    const QueueSpec& spec = backlog_.queue(queue).spec;
    const double factor = spec.preempt_factor.value_or(spec.order == Order::las ? 10 : 3);
    const auto thousandths = static_cast<std::int64_t>(factor * 1000 + 0.5);
    return saturating_product(std::max(key, least_key), thousandths) / 1000;
}

// When a running job may give way for the order at the earliest. Each time it was stopped before earns it a
// part of the least run more: the same jobs are not stopped again and again.
Instant Engine::Impl::yields_for_order_at(const JobSlot& victim) const {
    const Millis least = cluster_.settings().order_min_run_time;
    return last_start(victim) + least + least * victim.info.preemptions / parts_of_least_run;
}

// The running jobs that might give way for their queue's order. They need not be of this very moment: exactly
// who may is asked when it comes to it.
void Engine::Impl::refresh_elders(Instant now) {
    const bool same = elders_.holdings == holdings_ && elders_.at == now;
    const bool soon = now >= elders_.at && now - elders_.at < elders_kept &&
                      cluster_.settings().order_min_run_time >= elders_kept;
    if (elders_.known && (same || soon)) return;
    elders_ = {true, now, holdings_, {}};
    bool any = false;
    std::vector<bool> preempts;
    for (int q = 0; q < backlog_.queue_count(); ++q) {
        preempts.push_back(order_preempts(q));
        any |= preempts.back() && !backlog_.queue(q).classes.empty();
    }
    if (!any) return;
    Elders::Level* level = nullptr;
    std::pair of(-1, 0);  // queue and priority of that
    for (const auto& here : held_on_)
        for (const auto& held : here) {
            const JobSlot& slot = job(held.job);
            if (!slot.first_held(held.task) || slot.stopping || !slot.info.preemptible) continue;
            if (!preempts[static_cast<std::size_t>(slot.queue)]) continue;
            const std::pair its(slot.queue, slot.info.priority);
            if (!level || its != of) of = its, level = &elders_.levels[its];
            const Instant from = yields_for_order_at(slot);
            if (from <= now)
                level->most = std::max(level->most, order_key(slot, now));
            else if (!level->next || from < level->next)
                level->next = from;
            // A key that grows may pass the factor later, without anything happening.
            level->grows = order_of(slot.queue) == Order::las;
        }
}

bool Engine::Impl::order_lets_push(int queue, int priority, std::int64_t key) const {
    if (!order_preempts(queue)) return false;
    const auto it = elders_.levels.find({queue, priority});
    return it != elders_.levels.end() && it->second.most > yields_above(queue, key);
}

}  // namespace crater::engine
