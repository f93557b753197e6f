// Trying to place all waiting tasks of a job: one after the other on the best node, whole or not at all.
#include "engine_impl.h"
#include "place/level.h"

namespace crater::engine {

// What one task takes of the quota at the very least, before it is known which card it gets.
Amounts Engine::Impl::least_amounts(const Shape& shape) const {
    Amounts out{};
    std::int64_t compute = -1, memory = -1;
    for (int t = 0; shape.cards > 0 && t < cluster_.type_count(); ++t) {
        const CardNeed& need = shape.need(cluster_, t);
        if (need.fails != CardNeed::nothing || cluster_.type(t).memory == 0) continue;
        if (compute < 0 || need.compute < compute) compute = need.compute;
        if (memory < 0 || need.memory < memory) memory = need.memory;
    }
    out[0] = std::max<std::int64_t>(0, compute) * shape.cards;
    out[1] = saturating_product(std::max<std::int64_t>(0, memory), shape.cards);
    out[2] = shape.cpu;
    out[3] = shape.memory;
    out[4] = shape.disk_size;
    out[5] = shape.disk_iops;
    return out;
}

Ceiling Engine::Impl::least_ceiling(const JobSlot& slot) {
    if (!tenants_.capped(slot.tenant)) return {};
    Amounts amounts = least_amounts(shapes_.at(slot.shape));
    for (auto& amount : amounts) amount = saturating_product(amount, slot.waiting);
    amounts[jobs_kind] = slot.held == 0 ? 1 : 0;
    return tenants_.over(slot.tenant, amounts);
}

Engine::Impl::Outcome Engine::Impl::attempt(JobSlot& slot) {
    if (const auto ceiling = least_ceiling(slot)) return {Outcome::over_quota, {}, ceiling};
    const auto mark = cluster_.mark();
    // Its own pledge was kept for this moment.
    for (const auto& slices : slot.pledge) cluster_.try_book(slices, -1);
    Outcome outcome = fill(slot);
    if (outcome.kind == Outcome::placed || outcome.kind == Outcome::over_quota) return outcome;

    // Slices kept for a job of lower priority are not kept from this one.
    if (!lower_pledges(slot)) return outcome;
    for (const int p : preemptors_)
        if (job(p).pledge_priority < slot.info.priority)
            for (const auto& slices : job(p).pledge) cluster_.try_book(slices, -1);
    Outcome again = fill(slot);
    if (again.kind == Outcome::placed) {
        // The others keep waiting for theirs, on books that are over for now.
        for (const int p : preemptors_)
            if (job(p).pledge_priority < slot.info.priority)
                for (const auto& slices : job(p).pledge) cluster_.try_book(slices, 1);
        return again;
    }
    cluster_.undo_to(mark);
    for (const auto& slices : slot.pledge) cluster_.try_book(slices, -1);
    return again;
}

Engine::Impl::Outcome Engine::Impl::fill(JobSlot& slot, Foresight foresight) {
    const Shape& shape = shapes_.at(slot.shape);
    const auto mark = cluster_.mark();
    Outcome out;
    out.slices = std::move(spare_slices_);
    out.slices.clear();
    out.slices.reserve(static_cast<std::size_t>(slot.waiting));  // booked by address
    Amounts charged{};
    // A job that wants nodes for itself shares them with its own tasks: what a node looks like to it is true
    // for no other job.
    const bool alone = shape.own_tasks_matter();
    const bool foresees = predicts() && !alone && foresight == Foresight::predict;
    const bool asks = !alone && has_plugins(slot);
    std::unique_ptr<Column> own_view;
    std::optional<Trace> later;  // of a task that is not the first
    if (alone) own_view = std::make_unique<Column>(), count_own_tasks(slot);
    if (shape.near() && fill_near(slot, out.slices, out.trace)) out.kind = Outcome::placed;
    if (shape.topology.required && out.slices.empty()) return out;
    for (int i = static_cast<int>(out.slices.size()); i < slot.waiting; ++i) {
        Spot spot;
        if (alone) {
            looked_ += own_view->refresh(slot.shape, judge_, &own_tasks_);
            spot.node = own_view->best();
            if (i == 0) out.trace = take_down(slot.shape, *own_view);
        } else {
            Trace* seen = i == 0 ? &out.trace : foresees || asks ? &later.emplace() : nullptr;
            spot = seats_.best(slot.shape, looked_, seen);
            const auto top = [&](std::size_t count) { return seats_.top(slot.shape, count, looked_); };
            if (spot && asks) spot = ask_plugins(slot, out.slices, top, *seen);
        }
        if (!spot) {
            out.kind = Outcome::no_room;
            break;
        }
        if (i == 0 && !out.trace.written && ranking_of(shape.policy) == Ranking::weighted)
            out.trace.written = std::make_shared<DecisionTrace>(words(out.trace));
        if (foresees) {
            auto slices = screened(slot.shape, {slot.position, slot.info.profile.get(), &out.slices, asks},
                                   i == 0 ? out.trace : *later, spot.card, looked_);
            if (!slices) {
                out.kind = Outcome::predicted;
                if (i > 0) out.trace.predicted = later->predicted;
                break;
            }
            out.slices.push_back(std::move(*slices));
        } else {
            fetch(&held_on_[static_cast<std::size_t>(spot.node)]);
            Slices& slices = out.slices.emplace_back();
            if (alone || !seats_.take(slot.shape, spot, slices)) {
                Look look(shape, cluster_, spot.node, When::now,
                          alone ? own_tasks_[static_cast<std::size_t>(spot.node)] : 0);
                if (spot.card >= 0) look.take(spot.card);
                slices = look.slices();
            }
        }
        out.slices.back().crowd = slot.crowd;
        if (alone) ++own_tasks_[static_cast<std::size_t>(spot.node)];
        cluster_.try_book(out.slices.back(), 1);
        out.kind = Outcome::placed;
    }
    if (out.kind == Outcome::placed && tenants_.capped(slot.tenant)) {
        for (const Slices& slices : out.slices) {
            const Amounts amounts = amounts_of(slices);
            for (std::size_t k = 0; k < quota_kinds; ++k) charged[k] += amounts[k];
        }
        charged[jobs_kind] = slot.held == 0 ? 1 : 0;
        if ((out.ceiling = tenants_.over(slot.tenant, charged))) out.kind = Outcome::over_quota;
    }
    if (out.kind != Outcome::placed) cluster_.undo_to(mark);
    return out;
}

void Engine::Impl::count_own_tasks(const JobSlot& slot) {
    own_tasks_.assign(static_cast<std::size_t>(cluster_.size()), 0);
    for (const auto& task : slot.tasks)
        if (task.life == TaskSlot::Life::held) ++own_tasks_[static_cast<std::size_t>(task.slices.node)];
}

}  // namespace crater::engine
