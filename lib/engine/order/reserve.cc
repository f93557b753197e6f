// Cards that a queue keeps for its own jobs. What each queue holds for good (with jobs that may not be
// preempted), at least its reserve, adds up to no more than there is; so the reserve is only ever lent to
// preemptible work, and its owner takes it back at once. SPEC 3.6.
#include <algorithm>

#include "engine_impl.h"

namespace crater::engine {
namespace {

std::int64_t compute_of(const std::vector<Slices>& parts) {
    std::int64_t compute = 0;
    for (const auto& slices : parts)
        for (const auto& slice : slices.cards) compute += slice.compute;
    return compute;
}

}  // namespace

void Engine::Impl::refresh_reserves() {
    if (reserves_.known && reserves_.holdings == holdings_) return;
    reserves_ = {true, holdings_, 0, {}};
    reserves_.queues.resize(static_cast<std::size_t>(backlog_.queue_count()));
    for (int q = 0; q < backlog_.queue_count(); ++q)
        reserves_.queues[static_cast<std::size_t>(q)].kept = backlog_.queue(q).spec.reserved_gpu * 1000;
    for (int n = 0; n < cluster_.size(); ++n) {
        if (cluster_.node(n).present)
            reserves_.cards += static_cast<std::int64_t>(cluster_.node(n).cards.size()) * 1000;
        for (const auto& held : held_on_[static_cast<std::size_t>(n)]) {
            const JobSlot& slot = job(held.job);
            auto& queue = reserves_.queues[static_cast<std::size_t>(slot.queue)];
            for (const auto& slice : slot.tasks[static_cast<std::size_t>(held.task)].slices.cards) {
                queue.held += slice.compute;
                if (!slot.info.preemptible) queue.for_good += slice.compute;
            }
        }
    }
}

// Whether the job may have these slices beside what queues keep for themselves.
bool Engine::Impl::reserve_allows(const JobSlot& slot, const std::vector<Slices>& slices) {
    if (!reserving_ || slot.info.preemptible) return true;
    const auto more = compute_of(slices);
    if (more == 0) return true;
    refresh_reserves();
    std::int64_t sum = 0;
    for (std::size_t q = 0; q < reserves_.queues.size(); ++q) {
        const auto& queue = reserves_.queues[q];
        const bool its = static_cast<int>(q) == slot.queue;
        if (its && queue.for_good + more <= queue.kept) return true;
        sum += std::max(queue.kept, queue.for_good + (its ? more : 0));
    }
    return sum <= reserves_.cards;
}

// Whether its waiting tasks are within what its queue keeps: then it takes back what is lent.
bool Engine::Impl::within_reserve(const JobSlot& slot) {
    if (!reserving_) return false;
    refresh_reserves();
    const auto& queue = reserves_.queues[static_cast<std::size_t>(slot.queue)];
    return queue.kept > 0 &&
           queue.held + least_amounts(shapes_.at(slot.shape))[0] * slot.waiting <= queue.kept;
}

// Jobs of a queue that holds no more than its reserve make no way for those of others.
bool Engine::Impl::in_own_reserve(const JobSlot& victim) {
    if (!reserving_) return false;
    refresh_reserves();
    const auto& queue = reserves_.queues[static_cast<std::size_t>(victim.queue)];
    return queue.kept > 0 && queue.held <= queue.kept;
}

}  // namespace crater::engine
