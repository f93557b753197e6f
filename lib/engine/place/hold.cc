// Who holds what: booking what was decided, freeing it, and the slices kept for a preemptor while its victims
// stop.
#include "engine_impl.h"

namespace crater::engine {
namespace {

constexpr std::size_t gains_kept = 1 << 16;

}  // namespace

// The tenant was charged before, in the same step as its quota was checked.
void Engine::Impl::hold(JobSlot& slot, int t, Slices&& slices, std::uint64_t fact, Instant started,
                        Booked booked, std::uint64_t decision) {
    TaskSlot& task = slot.tasks[static_cast<std::size_t>(t)];
    if (task.life == TaskSlot::Life::waiting) --slot.waiting;
    task.life = TaskSlot::Life::held;
    task.started = started;
    task.decision = decision;
    task.slices = std::move(slices);
    if (booked == Booked::no) cluster_.book(task.slices, 1);
    held_on_[static_cast<std::size_t>(task.slices.node)].push_back({slot.position, t});
    if (slot.held++ == 0) {
        Amounts one{};
        one[jobs_kind] = 1;
        tenants_.charge_anyway(slot.tenant, one);
        count_victim(slot, 1);
        running_.add(slot.tenant, slot.position);
    }
    ++holdings_;
    set_fact(task.fact, fact);
}

void Engine::Impl::release(JobSlot& slot, int t, TaskSlot::Life then) {
    TaskSlot& task = slot.tasks[static_cast<std::size_t>(t)];
    const int n = task.slices.node;
    cluster_.book(task.slices, -1);
    cluster_.emptied(task.slices);
    auto& held = held_on_[static_cast<std::size_t>(n)];
    const auto it = std::find(held.begin(), held.end(), Held{slot.position, t});
    CRATER_CHECK(it != held.end());
    *it = held.back();
    held.pop_back();
    Amounts amounts = amounts_of(task.slices);
    if (--slot.held == 0) {
        amounts[jobs_kind] = 1;
        count_victim(slot, -1);
        running_.remove(slot.tenant, slot.position);
    }
    tenants_.release(slot.tenant, amounts);
    task.life = then;
    task.slices = {};
    set_fact(task.fact, 0);
    ++holdings_;
    gained(n);
}

void Engine::Impl::count_victim(const JobSlot& slot, int sign) {
    if (!slot.info.preemptible) return;
    if (sign > 0) ++victims_seen_;
    if ((yielding_[slot.info.priority] += sign) == 0) yielding_.erase(slot.info.priority);
}

void Engine::Impl::gained(int node) {
    dirty_ = true;
    ++gains_;
    gained_nodes_.push_back(node);
    if (gained_nodes_.size() <= gains_kept) return;
    gained_base_ += gains_kept / 2;
    gained_nodes_.erase(gained_nodes_.begin(), gained_nodes_.begin() + gains_kept / 2);
}

void Engine::Impl::drop_pledge(JobSlot& slot) {
    if (preemptors_.empty()) return;
    for (const auto& slices : slot.pledge) {
        cluster_.book(slices, -1);
        gained(slices.node);
    }
    slot.pledge.clear();
    slot.moving = false;
    // The victims go on stopping; nobody waits for them in particular.
    for (const int v : slot.victims) std::erase(job(v).waited_for_by, slot.position);
    slot.victims.clear();
    if (std::erase(preemptors_, slot.position) > 0)
        if (--pledged_priorities_[slot.pledge_priority] == 0) pledged_priorities_.erase(slot.pledge_priority);
}

// A victim holds nothing any more, or is gone: who waited for it is told.
void Engine::Impl::victim_done(JobSlot& victim) {
    if (!victim.stopping) return;
    victim.stopping = false;
    std::erase(stopping_, victim.position);
    for (const int p : victim.waited_for_by) std::erase(job(p).victims, victim.position);
    victim.waited_for_by.clear();
}

}  // namespace crater::engine
