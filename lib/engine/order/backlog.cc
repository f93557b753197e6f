#include "order/backlog.h"

#include <algorithm>

#include "crater/base/error.h"
#include "state/fetch.h"

namespace crater::engine {
namespace {

void leave(std::vector<WaitClass*>& list, WaitClass& members) {
    list[members.at] = list.back();
    list[members.at]->at = members.at;
    list.pop_back();
}

}  // namespace

int Backlog::intern(const std::string& name) {
    if (const int known = find(name); known >= 0) return known;
    const auto position = static_cast<int>(queues_.size());
    queues_.push_back(std::make_unique<WaitQueue>());
    queues_.back()->spec.name = name;
    positions_.emplace(name, position);
    return position;
}

int Backlog::find(const std::string& name) const {
    const auto it = positions_.find(name);
    return it == positions_.end() ? -1 : it->second;
}

std::vector<int> Backlog::in_order() const {
    std::vector<int> out;
    for (const auto& [name, position] : positions_) out.push_back(position);
    std::stable_sort(out.begin(), out.end(), [&](int a, int b) {
        return queue(a).spec.priority.value > queue(b).spec.priority.value;
    });
    return out;
}

WaitClass& Backlog::add(int q, WaitClass like, Waiting job) {
    const auto place = queue(q).classes.try_emplace(like.key()).first;
    auto& slot = place->second;
    if (!slot) {
        slot = std::make_unique<WaitClass>(std::move(like));
        slot->place = place;
        slot->at = queue(q).awake.size();
        queue(q).awake.push_back(slot.get());
    }
    // A job in front of equals is blocked by what blocks them; but others may have to give way to it.
    CRATER_CHECK(slot->jobs.insert(job), "a job waits twice");
    if (slot->asleep && slot->head().job == job.job) rouse(q, *slot);
    ++size_;
    ++queue(q).waiting[slot->priority];
    return *slot;
}

void Backlog::remove(int q, WaitClass& from, const Waiting& job) {
    CRATER_CHECK(from.jobs.erase(job), "a job that waits is in its class");
    --size_;
    if (const auto count = queue(q).waiting.find(from.priority); --count->second == 0)
        queue(q).waiting.erase(count);
    if (!from.jobs.empty()) return;
    rouse(q, from);
    leave(queue(q).awake, from);
    queue(q).classes.erase(from.place);
}

void Backlog::rouse(int q, WaitClass& members) {
    if (!members.asleep) return;
    const auto group = queue(q).asleep.find(members.shape);
    leave(group->second.classes, members);
    if (group->second.classes.empty()) queue(q).asleep.erase(group);
    members.asleep = false;
    members.at = queue(q).awake.size();
    queue(q).awake.push_back(&members);
}

void Backlog::rouse_all(int q) {
    while (!queue(q).asleep.empty()) rouse(q, *queue(q).asleep.begin()->second.classes.back());
}

void Backlog::lull(int q) {
    auto& awake = queue(q).awake;
    for (auto i = awake.size(); i-- > 0;) {
        WaitClass& members = *awake[i];
        const Blocked& blocked = members.blocked;
        if (blocked.why != Blocked::room || members.only >= 0 || members.kept_for >= 0) continue;
        leave(awake, members);
        Sleepers& group = queue(q).asleep[members.shape];
        members.asleep = true;
        members.at = group.classes.size();
        const bool first = group.classes.empty();
        group.classes.push_back(&members);
        group.gains_seen = std::min(group.gains_seen, blocked.gains_seen);
        group.victims_seen = std::min(group.victims_seen, blocked.victims_seen);
        if (blocked.retry_at && (!group.retry_at || blocked.retry_at < group.retry_at))
            group.retry_at = blocked.retry_at;
        if (first || blocked.pushed_at < group.pushed_at) group.pushed_at = blocked.pushed_at;
        group.top_priority = std::max(group.top_priority, members.priority);
    }
}

std::pair<std::int64_t, std::int64_t> Backlog::rank(int q, const Turn& turn) const {
    const auto before = [](const WaitingSet& jobs, const Waiting& place) {
        return static_cast<std::int64_t>(jobs.rank_of(place));
    };
    std::int64_t ahead = 0, length = 0;
    for (const auto& [priority, count] : queue(q).waiting) {
        length += count;
        if (priority > turn.priority) ahead += count;
    }
    // There are many classes, and they lie anywhere: those that come next are fetched meanwhile.
    constexpr std::size_t soon = 6;
    std::vector<const WaitClass*> equals;
    for (const auto& [key, members] : of_priority(q, turn.priority)) equals.push_back(members.get());
    for (std::size_t i = 0; i < equals.size(); ++i) {
        if (i + 2 * soon < equals.size()) fetch(equals[i + 2 * soon], sizeof(WaitClass));
        if (i + soon < equals.size()) equals[i + soon]->jobs.fetch();
        const WaitClass& members = *equals[i];
        if (turn.place.aged() || members.share == turn.share)
            ahead += before(members.jobs, turn.place);
        else
            ahead += members.share < turn.share ? static_cast<std::int64_t>(members.jobs.size())
                                                : before(members.jobs, {.key = Waiting::aged_key + 1});
    }
    return {ahead + 1, length};
}

std::vector<std::pair<int, Waiting>> Backlog::ordered(int q) const {
    std::vector<Turn> all;
    for (const auto& [key, members] : queue(q).classes)
        for (const auto& job : members->jobs) all.push_back(turn_of(*members, job));
    std::sort(all.begin(), all.end());
    std::vector<std::pair<int, Waiting>> out;
    for (const auto& turn : all) out.emplace_back(turn.priority, turn.place);
    return out;
}

}  // namespace crater::engine
