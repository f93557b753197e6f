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
    CRATER_CHECK(slot->jobs.insert(job).second, "a job waits twice");
    ++size_;
    return *slot;
}

void Backlog::remove(int q, WaitClass& from, const Waiting& job) {
    auto it = from.jobs.begin();  // the first one is placed first
    if (it->job != job.job) it = from.jobs.find(job);
    CRATER_CHECK(it != from.jobs.end(), "a job that waits is in its class");
    from.jobs.erase(it);
    --size_;
    if (from.jobs.empty()) queue(q).classes.erase(from.place);
}

std::pair<std::int64_t, std::int64_t> Backlog::rank(int q, int priority, const Waiting& job) const {
    std::int64_t ahead = 0, length = 0;
    for (const auto& [key, members] : queue(q).classes) {
        const auto count = static_cast<std::int64_t>(members->jobs.size());
        length += count;
        if (members->priority > priority) ahead += count;
        if (members->priority == priority)
            ahead += std::distance(members->jobs.begin(), members->jobs.lower_bound(job));
    }
    return {ahead + 1, length};
}

std::vector<std::pair<int, Waiting>> Backlog::ordered(int q) const {
    std::vector<std::pair<int, Waiting>> out;
    for (const auto& [key, members] : queue(q).classes)
        for (const auto& job : members->jobs) out.emplace_back(members->priority, job);
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    return out;
}

}  // namespace crater::engine
