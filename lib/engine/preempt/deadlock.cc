// Jobs that hold a part of what they need and wait for the rest may wait for each other for ever: gangs of
// which tasks start again after a failure. Every 30 seconds it is looked whether one of them could go on if
// those behind it gave up their parts; then they do, the lowest priority first, preemptible or not. SPEC 3.6.
#include <algorithm>

#include "engine_impl.h"

namespace crater::engine {

// Those that hold a part and wait for room: the first to be served first.
std::vector<int> Engine::Impl::partly_held() const {
    std::vector<int> out;
    for (int q = 0; q < backlog_.queue_count(); ++q)
        for (const WaitClass* members : backlog_.queue(q).awake) {
            if (members->only < 0 || members->blocked.why != Blocked::room) continue;
            const JobSlot& slot = job(members->only);
            if (slot.held > 0 && !slot.stopping && slot.victims.empty()) out.push_back(members->only);
        }
    std::sort(out.begin(), out.end(), [&](int a, int b) {
        const EngineJob &x = job(a).info, &y = job(b).info;
        return std::tuple(-x.priority, x.submitted, std::string_view(x.id)) <
               std::tuple(-y.priority, y.submitted, std::string_view(y.id));
    });
    return out;
}

void Engine::Impl::break_deadlock(Instant now, Plan& plan) {
    if (now - deadlock_looked_ < deadlock_looked_for) return;
    deadlock_looked_ = now;
    const auto parts = partly_held();
    for (std::size_t first = 0; first + 1 < parts.size(); ++first) {
        JobSlot& waits = job(parts[first]);
        VictimSet set;
        const auto enough = [&] {
            const auto mark = cluster_.mark();
            for (const int v : stopping_) without(job(v));
            for (const int v : set.jobs) without(job(v));
            Outcome outcome = fill(waits, Foresight::none);
            cluster_.undo_to(mark);
            set.plan = std::move(outcome.slices);
            return outcome.kind == Outcome::placed;
        };
        if (enough()) continue;  // what stops already will do
        bool found = false;
        for (auto last = parts.size(); last-- > first + 1 && !found;) {
            set.jobs.push_back(parts[last]);
            found = enough();
        }
        if (!found) continue;
        // The highest of them stay where they can.
        for (auto i = set.jobs.size(); i-- > 0 && set.jobs.size() > 1;) {
            const int spared = set.jobs[i];
            set.jobs.erase(set.jobs.begin() + static_cast<std::ptrdiff_t>(i));
            if (!enough()) set.jobs.insert(set.jobs.begin() + static_cast<std::ptrdiff_t>(i), spared);
        }
        enough();
        std::vector<std::string> words;
        for (std::size_t i = 0; i < set.jobs.size(); ++i)
            words.push_back(
                "Job " + waits.info.id +
                " and this one each hold a part of what they need and wait for the other's; "
                "this one comes later in order and starts again when there is room for all of it.");
        preempt(waits, std::move(set), words, plan);
        return;
    }
}

}  // namespace crater::engine
