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
    auto& slot = queue(q).classes[like.key()];
    if (!slot) slot = std::make_unique<WaitClass>(std::move(like));
    // A job in front of equals is blocked by what blocks them, so the class stays as it is.
    CRATER_CHECK(slot->jobs.insert(job).second, "a job waits twice");
    ++size_;
    return *slot;
}

void Backlog::remove(int q, WaitClass& from, const Waiting& job) {
    CRATER_CHECK(from.jobs.erase(job), "a job that waits is in its class");
    --size_;
    if (from.jobs.empty()) queue(q).classes.erase(from.key());
}

bool goes_before(const WaitClass& a, const WaitClass& b) {
    if (a.priority != b.priority) return a.priority > b.priority;
    const Waiting &x = a.head(), &y = b.head();
    if (x.aged() != y.aged()) return x.aged();
    if (!x.aged() && a.share != b.share) return a.share < b.share;
    return x < y;
}

std::pair<std::int64_t, std::int64_t> Backlog::rank(int q, const WaitClass& its, const Waiting& job) const {
    const auto before = [](const WaitingSet& jobs, const Waiting& place) {
        return static_cast<std::int64_t>(jobs.order_of_key(place));
    };
    std::int64_t ahead = 0, length = 0;
    for (const auto& [key, members] : queue(q).classes) {
        const auto count = static_cast<std::int64_t>(members->jobs.size());
        length += count;
        if (members->priority > its.priority) ahead += count;
        if (members->priority != its.priority) continue;
        if (job.aged() || members->share == its.share)
            ahead += before(members->jobs, job);
        else
            ahead += members->share < its.share ? count : before(members->jobs, {.key = Waiting::aged_key + 1});
    }
    return {ahead + 1, length};
}

std::vector<std::pair<int, Waiting>> Backlog::ordered(int q) const {
    std::vector<std::pair<const WaitClass*, Waiting>> all;
    for (const auto& [key, members] : queue(q).classes)
        for (const auto& job : members->jobs) all.emplace_back(members.get(), job);
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
        const auto turn = [](const auto& one) {
            const bool aged = one.second.aged();
            return std::tuple(-one.first->priority, !aged, aged ? 0 : one.first->share);
        };
        return turn(a) != turn(b) ? turn(a) < turn(b) : a.second < b.second;
    });
    std::vector<std::pair<int, Waiting>> out;
    for (const auto& [members, job] : all) out.emplace_back(members->priority, job);
    return out;
}

}  // namespace crater::engine
