// Cards in real use above the safety watermark: what their agents could have given back they have; now a task
// makes room.
#include <algorithm>
#include <bit>

#include "engine_impl.h"
#include "explain/words.h"

namespace crater::engine {
namespace {

bool is_on(const Slices& slices, std::size_t card) {
    return std::any_of(slices.cards.begin(), slices.cards.end(),
                       [&](const CardSlice& slice) { return slice.card == static_cast<std::int16_t>(card); });
}

}  // namespace

// Who makes room and comes back to such a card is left alone for longer each time.
Millis Engine::Impl::left_alone(const JobSlot& slot) const {
    constexpr std::int64_t doublings_most = 12;
    return cluster_.settings().watermark_grace *
           (std::int64_t{1} << std::min(slot.info.preemptions, doublings_most));
}

std::vector<Preemption> Engine::Impl::relieve_cards(Instant now) {
    std::vector<Preemption> out;
    advance(now);
    const Millis grace = cluster_.settings().watermark_grace;
    if (!cluster_.sampled() || grace.count() == 0) return above_since_.clear(), out;
    std::erase_if(above_since_, [&](const auto& entry) {
        return !(cluster_.node(entry.first.first).live.above_watermark >> entry.first.second & 1);
    });
    for (const int n : cluster_.by_name()) {
        const Node& host = cluster_.node(n);
        for (Mask left = host.takes_work() ? host.live.above_watermark : 0; left; left &= left - 1) {
            const auto card = static_cast<std::size_t>(std::countr_zero(left));
            Instant& since = above_since_.try_emplace({n, card}, now).first->second;
            if (now < since + grace) continue;
            JobSlot* slot = who_makes_room(n, card, now);
            if (!slot) continue;
            since = now;  // what comes of it is seen only after a while
            auto to = place_elsewhere(*slot);
            const std::int64_t memory = cluster_.type(host.cards[card].type).memory;
            std::string words = "Card " + std::to_string(host.cards[card].index) + " of " + host.name +
                                " has " + used_words(host.live.memory_on(card), memory) +
                                " in real use, above the safety watermark; of the jobs there that may "
                                "be stopped this one has the lowest priority. ";
            words += to.empty() ? "No other place is free for it: it waits"
                                : "It moves to " + cluster_.node(to.front().node).name;
            out.push_back({slot->info.id, {}, words + "."});
            if (to.empty())
                start_stop(*slot);
            else
                start_move(*slot, std::move(to));
        }
    }
    return out;
}

// Nobody while somebody on the card stops already, nor where it is one job's alone: elsewhere it would use as
// much.
JobSlot* Engine::Impl::who_makes_room(int n, std::size_t card, Instant now) {
    std::vector<int> jobs;
    bool training = false;
    for (const auto& held : held_on_[static_cast<std::size_t>(n)]) {
        const JobSlot& slot = job(held.job);
        if (!is_on(slot.tasks[static_cast<std::size_t>(held.task)].slices, card)) continue;
        if (slot.stopping) return nullptr;
        training |= slot.type == JobType::training;
        if (std::find(jobs.begin(), jobs.end(), held.job) == jobs.end()) jobs.push_back(held.job);
    }
    if (jobs.size() < 2) return nullptr;
    std::erase_if(jobs, [&](int p) {
        const JobSlot& slot = job(p);
        return !slot.info.preemptible || slot.info.preemptions >= cluster_.settings().preemption_budget ||
               now < last_start(slot) + std::max(cluster_.settings().min_run_time, left_alone(slot)) ||
               (training && slot.type == JobType::inference);
    });
    const auto rank = [&](int p) {
        return std::tuple(job(p).info.priority, cost_of(job(p), now), std::string_view(job(p).info.id));
    };
    const auto least =
        std::min_element(jobs.begin(), jobs.end(), [&](int a, int b) { return rank(a) < rank(b); });
    return least == jobs.end() ? nullptr : &job(*least);
}

// Where all tasks of a job could go if it held nothing; empty when there is no such place, or it is not
// looked for.
std::vector<Slices> Engine::Impl::place_elsewhere(const JobSlot& slot) {
    const Shape& shape = shapes_.at(slot.shape);
    std::vector<Slices> to;
    if (shape.own_tasks_matter() || shape.near() || slot.waiting > 0) return to;
    to.reserve(static_cast<std::size_t>(slot.held));  // booked by address
    const auto mark = cluster_.mark();
    without(slot);
    while (to.size() < static_cast<std::size_t>(slot.held)) {
        Trace seen;
        const Spot spot = seats_.best(slot.shape, looked_, predicts() ? &seen : nullptr);
        if (!spot) break;
        if (predicts()) {
            auto slices =
                screened(slot.shape, {slot.position, slot.info.profile.get(), &to}, seen, spot.card, looked_);
            if (!slices) break;
            to.push_back(std::move(*slices));
        } else {
            Look look(shape, cluster_, spot.node);
            if (spot.card >= 0) look.take(spot.card);
            to.push_back(look.slices());
        }
        to.back().crowd = slot.crowd;
        cluster_.try_book(to.back(), 1);
    }
    cluster_.undo_to(mark);
    if (to.size() < static_cast<std::size_t>(slot.held)) to.clear();
    return to;
}

}  // namespace crater::engine
