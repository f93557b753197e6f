#include "forecast/simulation.h"

#include <algorithm>
#include <functional>

namespace crater::engine {
namespace {

constexpr std::size_t nodes_sampled = 256;
constexpr std::int64_t never_ms = INT64_MAX;

std::int64_t end_of(std::int64_t now, std::int64_t length) {
    return length == never_ms ? never_ms : now + length;
}

}  // namespace

bool Simulation::fits(const SimNode& node, const SimNeed& need) const {
    return need.serves[static_cast<std::size_t>(node.kind)] && node.idle >= need.cards &&
           (need.part == 0 || node.open >= need.part || node.idle > 0) && node.cpu >= need.cpu &&
           node.memory >= need.memory;
}

int Simulation::count(const SimNode& node, const SimNeed& need) const {
    if (!fits(node, need)) return 0;
    std::int64_t out = need.tasks;
    if (need.cards > 0) out = std::min<std::int64_t>(out, node.idle / need.cards);
    if (need.part > 0)
        out = std::min<std::int64_t>(out, node.open / need.part + node.idle * (1000 / need.part));
    if (need.cpu > 0) out = std::min(out, node.cpu / need.cpu);
    if (need.memory > 0) out = std::min(out, node.memory / need.memory);
    return static_cast<int>(out);
}

void Simulation::take(int n, int position, std::int64_t end) {
    const SimNeed& need = needs_[static_cast<std::size_t>(position)];
    SimNode& node = nodes_[static_cast<std::size_t>(n)];
    node.cpu -= need.cpu, node.memory -= need.memory, node.idle -= need.cards;
    if (need.part > 0) {
        if (node.open < need.part) --node.idle, node.open += 1000;
        node.open -= need.part;
    }
    if (end == never_ms) return;
    running_[static_cast<std::size_t>(n)].push_back({end, position});
    events_.push_back({end, n, position});
    std::push_heap(events_.begin(), events_.end(), std::greater<>());
}

void Simulation::give(int n, int position) {
    const SimNeed& need = needs_[static_cast<std::size_t>(position)];
    SimNode& node = nodes_[static_cast<std::size_t>(n)];
    node.cpu += need.cpu, node.memory += need.memory, node.idle += need.cards;
    node.open += need.part;
    if (node.open >= 1000 && need.part > 0) node.open -= 1000, ++node.idle;
}

// Whether those who keep the node find what they need there in time.
bool Simulation::leaves_places(int n, const SimNeed& need, std::int64_t end) const {
    for (const auto& [kept, whose] : kept_) {
        if (kept != n || whose->place.at >= end) continue;
        SimNode then = nodes_[static_cast<std::size_t>(n)];
        then.idle -= need.cards, then.cpu -= need.cpu, then.memory -= need.memory;
        if (need.part > 0 && then.open < need.part) --then.idle, then.open += 1000;
        then.open -= need.part;
        for (const auto& other : running_[static_cast<std::size_t>(n)]) {
            if (other.end > whose->place.at) continue;
            const SimNeed& gone = needs_[static_cast<std::size_t>(other.need)];
            then.idle += gone.cards, then.cpu += gone.cpu, then.memory += gone.memory, then.open += gone.part;
        }
        if (then.open >= 1000) then.idle += then.open / 1000, then.open %= 1000;
        const SimNeed& wanted = needs_[static_cast<std::size_t>(whose->need)];
        const auto tasks =
            static_cast<int>(std::count(whose->place.nodes.begin(), whose->place.nodes.end(), n));
        if (count(then, wanted) < std::min(tasks, wanted.tasks)) return false;
    }
    return true;
}

// The fullest node that takes it.
int Simulation::find(const SimNeed& need, std::int64_t end, const std::vector<int>* among) {
    int best = -1;
    std::int64_t least = never_ms;
    const auto look = [&](int n) {
        const SimNode& node = nodes_[static_cast<std::size_t>(n)];
        const auto left = (std::int64_t{node.idle} << 32) + node.open;
        if (left >= least || !fits(node, need)) return;
        if (is_kept_[static_cast<std::size_t>(n)] && !leaves_places(n, need, end)) {
            kept_off_ = true;
            return;
        }
        least = left, best = n;
    };
    if (among)
        for (const int n : *among) look(n);
    else
        for (std::size_t n = 0; n < nodes_.size(); ++n) look(static_cast<int>(n));
    return best;
}

bool Simulation::start(Group& group, std::int64_t now, std::int64_t length, const std::vector<int>* among) {
    const SimNeed& need = needs_[static_cast<std::size_t>(group.need)];
    const std::int64_t end = end_of(now, length);
    if (need.tasks == 1) {
        const int n = find(need, end, among);
        if (n < 0) return false;
        take(n, group.need, end);
        return true;
    }
    // A gang may be kept from starting by its last task only: what it took is given back.
    std::int64_t room = 0;
    for (const auto& node : nodes_) room += count(node, need);
    if (room < need.tasks) return false;
    std::vector<int> taken;
    for (int t = 0; t < need.tasks; ++t) {
        const int n = find(need, end, nullptr);
        if (n < 0) break;
        take(n, group.need, never_ms);
        taken.push_back(n);
    }
    for (const int n : taken) give(n, group.need);
    if (static_cast<int>(taken.size()) < need.tasks) return false;
    for (const int n : taken) take(n, group.need, end);
    return true;
}

void Simulation::keep_place(Group& group, std::int64_t now) {
    const SimNeed& need = needs_[static_cast<std::size_t>(group.need)];
    // A part of a large cluster is enough to see when room comes.
    const std::size_t stride = std::max<std::size_t>(1, nodes_.size() / nodes_sampled);
    std::vector<std::pair<std::int64_t, int>> room;  // (when the node has room for one more, node)
    std::vector<Running> ends;
    for (auto n = static_cast<std::size_t>(group.head()) % stride; n < nodes_.size(); n += stride) {
        if (!need.serves[static_cast<std::size_t>(nodes_[n].kind)] || (is_kept_[n] && need.tasks == 1))
            continue;
        SimNode then = nodes_[n];
        ends = running_[n];
        std::sort(ends.begin(), ends.end(), [](const Running& a, const Running& b) { return a.end < b.end; });
        int have = 0;
        const auto see = [&](std::int64_t at) {
            for (const int c = count(then, need); have < c; ++have)
                room.emplace_back(at, static_cast<int>(n));
            return have >= need.tasks;
        };
        if (see(now)) continue;
        for (const auto& end : ends) {
            const SimNeed& gone = needs_[static_cast<std::size_t>(end.need)];
            then.idle += gone.cards, then.cpu += gone.cpu, then.memory += gone.memory, then.open += gone.part;
            if (then.open >= 1000 && gone.part > 0) then.open -= 1000, ++then.idle;
            if (see(end.end)) break;
        }
    }
    const auto wanted = std::max<std::size_t>(1, static_cast<std::size_t>(need.tasks) / stride);
    group.place = {};
    if (room.size() < wanted) return;
    std::nth_element(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(wanted - 1), room.end());
    group.place.at = room[wanted - 1].first;
    for (std::size_t i = 0; i < wanted; ++i) group.place.nodes.push_back(room[i].second);
}

void Simulation::run(const std::vector<SimHeld>& held, const std::vector<SimWaiting>& waiting,
                     std::vector<std::int64_t>& starts) {
    starts.assign(waiting.size(), -1);
    nodes_ = first_;
    running_.resize(nodes_.size());
    for (auto& here : running_) here.clear();
    is_kept_.assign(nodes_.size(), 0);
    events_.clear();
    kept_.clear();
    for (const auto& task : held) {
        if (task.end == never_ms) continue;
        running_[static_cast<std::size_t>(task.node)].push_back({task.end, task.need});
        events_.push_back({task.end, task.node, task.need});
    }
    std::make_heap(events_.begin(), events_.end(), std::greater<>());
    std::vector<Group> groups;
    std::vector<int> group_of(needs_.size(), -1);
    for (std::size_t i = 0; i < waiting.size(); ++i) {
        int& g = group_of[static_cast<std::size_t>(waiting[i].need)];
        if (g < 0) g = static_cast<int>(groups.size()), groups.emplace_back().need = waiting[i].need;
        groups[static_cast<std::size_t>(g)].jobs.push_back(static_cast<int>(i));
    }
    std::vector<Group*> order;  // by their heads
    for (auto& group : groups) order.push_back(&group);
    std::vector<int> freed;
    std::int64_t now = 0;
    while (!order.empty()) {
        for (auto& [n, whose] : kept_) is_kept_[static_cast<std::size_t>(n)] = 0;
        kept_.clear();
        std::size_t places = 0;
        for (std::size_t i = 0; i < order.size();) {
            Group& group = *order[i];
            const auto job = static_cast<std::size_t>(group.head());
            kept_off_ = false;
            if (start(group, now, waiting[job].length, group.searched ? &freed : nullptr)) {
                starts[job] = now;
                if (group.place.at >= 0)
                    for (Group* other : order) other->searched &= !other->kept_off;
                group.place = {};
                ++group.next;
                if (group.next == group.jobs.size()) {
                    order.erase(order.begin() + static_cast<std::ptrdiff_t>(i));
                    continue;
                }
                // Its next stands further back.
                std::size_t to = i;
                for (; to + 1 < order.size() && order[to + 1]->head() < group.head(); ++to)
                    order[to] = order[to + 1];
                order[to] = &group;
                continue;
            }
            group.searched = true;
            group.kept_off |= kept_off_;
            if (places < depth_) {
                if (group.place.at <= now) keep_place(group, now);
                if (group.place.at > now) {
                    ++places;
                    for (const int n : group.place.nodes)
                        kept_.emplace_back(n, &group), is_kept_[static_cast<std::size_t>(n)] = 1;
                }
            }
            ++i;
        }
        if (events_.empty()) break;
        freed.clear();
        now = events_.front().at;
        while (!events_.empty() && events_.front().at == now) {
            const Event event = events_.front();
            std::pop_heap(events_.begin(), events_.end(), std::greater<>());
            events_.pop_back();
            auto& here = running_[static_cast<std::size_t>(event.node)];
            const auto it = std::find_if(here.begin(), here.end(), [&](const Running& r) {
                return r.end == event.at && r.need == event.need;
            });
            if (it != here.end()) *it = here.back(), here.pop_back();
            give(event.node, event.need);
            if (freed.empty() || freed.back() != event.node) freed.push_back(event.node);
        }
    }
}

}  // namespace crater::engine
