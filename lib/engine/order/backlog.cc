#include "order/backlog.h"

#include <algorithm>

#include "crater/base/error.h"

namespace crater::engine {

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
    if (!slot) slot = std::make_unique<WaitClass>(std::move(like)), slot->place = place;
    // A job in front of equals is blocked by what blocks them, so the class stays as it is.
    CRATER_CHECK(slot->jobs.insert(job), "a job waits twice");
    ++size_;
    return *slot;
}

void Backlog::remove(int q, WaitClass& from, const Waiting& job) {
    CRATER_CHECK(from.jobs.erase(job), "a job that waits is in its class");
    --size_;
    if (from.jobs.empty()) queue(q).classes.erase(from.place);
}

bool Turn::operator<(const Turn& o) const {
    if (priority != o.priority) return priority > o.priority;
    if (place.aged() != o.place.aged()) return place.aged();
    if (!place.aged() && share != o.share) return share < o.share;
    return place < o.place;
}

std::pair<std::int64_t, std::int64_t> Backlog::rank(int q, const Turn& turn) const {
    const auto before = [](const WaitingSet& jobs, const Waiting& place) { return static_cast<std::int64_t>(jobs.rank_of(place)); };
    std::int64_t ahead = 0, length = 0;
    for (const auto& [key, members] : queue(q).classes) {
        const auto count = static_cast<std::int64_t>(members->jobs.size());
        length += count;
        if (members->priority > turn.priority) ahead += count;
        if (members->priority != turn.priority) continue;
        if (turn.place.aged() || members->share == turn.share)
            ahead += before(members->jobs, turn.place);
        else
            ahead += members->share < turn.share ? count : before(members->jobs, {.key = Waiting::aged_key + 1});
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
