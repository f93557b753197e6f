// Somebody else: who goes first, whose end would do, and who would give way to a higher priority.
#include <algorithm>
#include <set>

#include "explain/changes.h"
#include "explain/found.h"

namespace crater::engine {
namespace {

constexpr std::size_t holders_tried = 64;  // of a quota
// A search over all jobs that would give way is short on so many nodes.
constexpr int small_cluster = 256;

}  // namespace

// Whether a class of a queue that is served no later than its own is considered before it.
bool Engine::Impl::Changes::goes_first(int queue, const WaitClass& members) const {
    if (queue != slot_.queue || members.priority > slot_.info.priority) return true;
    const Waiting& head = members.head();
    return head.job != slot_.position && engine::turn_of(members, head) < e_.turn_of(slot_);
}

// What the first of a class takes of its quota at least.
Amounts Engine::Impl::Changes::needs_of(const WaitClass& members) const {
    Amounts out = e_.least_amounts(e_.shapes_.at(members.shape));
    const JobSlot* const head = members.only >= 0 ? &e_.job(members.only) : nullptr;  // others hold nothing
    for (auto& amount : out) amount = saturating_product(amount, head ? head->waiting : members.tasks);
    out[jobs_kind] = !head || head->held == 0 ? 1 : 0;
    return out;
}

// The classes that are considered before it, of its own queue those of a higher priority first: of each shape
// one, and of those that their quota holds back the ones that need least.
void Engine::Impl::Changes::look_ahead() {
    ahead_known_ = true;
    std::vector<char> seen;          // by shape: one that has the quota goes first
    std::vector<std::size_t> least;  // of those that are held back, none needs as much as another
    for (const int q : e_.backlog_.in_order()) {
        for (const auto& [key, members] : e_.backlog_.queue(q).classes) {
            const auto& [lower, tenant, shape, tasks, profile, length, preemptible, only] = key;
            if (q == slot_.queue && -lower < slot_.info.priority) break;
            const bool capped = e_.tenants_.capped(tenant);
            if (const auto shapes = static_cast<std::size_t>(shape) + 1; seen.size() < shapes)
                seen.resize(2 * shapes);
            char& known = seen[static_cast<std::size_t>(shape)];
            if ((known && !capped) || !goes_first(q, *members)) continue;
            Ahead one{shape, tenant, false, {}};
            if (capped)
                one.needs = needs_of(*members),
                one.held_back = static_cast<bool>(e_.tenants_.over(tenant, one.needs));
            if (!one.held_back) {
                if (!std::exchange(known, 1)) ahead_.push_back(one);
                continue;
            }
            const bool another_needs_less = std::any_of(least.begin(), least.end(), [&](std::size_t i) {
                const Ahead& other = ahead_[i];
                return other.tenant == one.tenant && std::equal(other.needs.begin(), other.needs.end(),
                                                                one.needs.begin(), std::less_equal<>());
            });
            if (another_needs_less) continue;
            least.push_back(ahead_.size());
            ahead_.push_back(one);
        }
        if (q == slot_.queue) break;
    }
}

bool Engine::Impl::Changes::overtakes(const Ahead& one, std::span<const int> ranks) {
    if (one.held_back) return !e_.tenants_.over(one.tenant, one.needs);
    looks_ += static_cast<std::int64_t>(ranks.size());
    const Shape& shape = e_.shapes_.at(one.shape);
    return std::any_of(ranks.begin(), ranks.end(), [&](int rank) {
        return Judge::fits(Look(shape, e_.cluster_, e_.cluster_.by_name()[static_cast<std::size_t>(rank)]));
    });
}

// On these nodes, where something became free, or anywhere, where its quota did.
bool Engine::Impl::Changes::overtaken(std::span<const int> ranks) {
    if (overtook_ < ahead_.size() && overtakes(ahead_[overtook_], ranks)) return true;
    for (std::size_t i = 0; i < ahead_.size(); ++i) {
        if (!afford()) return true;
        if (overtakes(ahead_[i], ranks)) return overtook_ = i, true;
    }
    return false;
}

bool Engine::Impl::Changes::may_take(std::span<const int> ranks, const JobSlot& holder) const {
    const bool whole = shape_.cards > 0 && shape_.gpu_memory == 0 && shape_.part == 1000;
    return std::any_of(ranks.begin(), ranks.end(), [&](int rank) {
        const Room& room = e_.rooms_.at(static_cast<std::size_t>(rank));
        std::int64_t cpu = room.cpu, memory = room.memory, cards = room.idle_count;
        for (const auto& task : holder.tasks) {
            if (task.life != TaskSlot::Life::held || e_.cluster_.rank(task.slices.node) != rank) continue;
            if (task.slices.node_exclusive) return true;
            cpu += task.slices.cpu, memory += task.slices.memory,
                cards += static_cast<std::int64_t>(task.slices.cards.size());
        }
        return cpu >= shape_.cpu && memory >= shape_.memory &&
               (!whole || room.mixed || cards >= shape_.cards);
    });
}

// The job whose end alone would start it; of several the one that loses least. Where others go first that
// could use what it frees, it is no such job.
void Engine::Impl::Changes::job_end() {
    if (shape_.topology.required || (slot_.waiting > 1 && e_.predicts())) return;
    if (slot_.in_class && slot_.in_class->jobs.begin()->job != slot_.position) return;
    const Cluster& cluster = e_.cluster_;
    std::vector<int> fitting, nearest = found_.nearest;
    for (std::size_t rank = 0; rank < survey_.size(); ++rank)
        if (survey_.fits(rank)) fitting.push_back(static_cast<int>(rank));
    if (thorough_) {
        nearest.clear();
        for (std::size_t rank = 0; rank < survey_.size(); ++rank)
            if (survey_.right_kind(rank) && survey_.at(rank)) nearest.push_back(static_cast<int>(rank));
    }
    std::vector<std::pair<std::int64_t, int>> holders;  // by cost
    std::set<int> seen;
    const auto consider = [&](int position) {
        const JobSlot& holder = e_.job(position);
        if (position != slot_.position && !holder.stopping && seen.insert(position).second)
            holders.emplace_back(e_.cost_of(holder, now_), position);
    };
    if (outcome_.kind == Outcome::over_quota) {
        for (const auto& [amount, position] :
             e_.quota_holders(outcome_.ceiling.tenant, outcome_.ceiling.kind)) {
            if (amount < outcome_.ceiling.asked - (outcome_.ceiling.cap - outcome_.ceiling.held)) break;
            if (!thorough_ && holders.size() == holders_tried) break;
            consider(position);
        }
    } else {
        for (const int rank : nearest)
            for (const auto& held :
                 e_.held_on_[static_cast<std::size_t>(cluster.by_name()[static_cast<std::size_t>(rank)])])
                consider(held.job);
    }
    std::sort(holders.begin(), holders.end(), [&](const auto& a, const auto& b) {
        return a.first != b.first ? a.first < b.first : e_.job(a.second).info.id < e_.job(b.second).info.id;
    });
    for (const auto& [cost, position] : holders) {
        const JobSlot& holder = e_.job(position);
        Amounts freed{};
        std::vector<int> freed_on;
        for (const auto& task : holder.tasks) {
            if (task.life != TaskSlot::Life::held) continue;
            const Amounts part = amounts_of(task.slices);
            for (std::size_t k = 0; k < quota_kinds; ++k) freed[k] += part[k];
            freed_on.push_back(cluster.rank(task.slices.node));
        }
        freed[jobs_kind] = 1;
        std::sort(freed_on.begin(), freed_on.end());
        freed_on.erase(std::unique(freed_on.begin(), freed_on.end()), freed_on.end());
        if (fitting.empty() && !may_take(freed_on, holder)) continue;
        if (!afford()) return;
        const auto mark = e_.cluster_.mark();
        const auto ends = [&](const auto& then) {
            e_.tenants_.add(holder.tenant, freed, -1);
            const bool yes = within_quota(shape_, slot_.waiting) && (e_.without(holder), then());
            e_.cluster_.undo_to(mark);
            e_.tenants_.add(holder.tenant, freed, 1);
            return yes;
        };
        unsure_ = false;
        const bool starts_then = ends([&] { return starts(shape_, freed_on, fitting); });
        more_ |= unsure_;
        if (!starts_then) continue;
        if (!ahead_known_) look_ahead();  // as it is before anybody ends
        if (ends([&] { return overtaken(freed_on); })) continue;
        out_.changes.push_back({"job_end", "the end of job " + holder.info.id, 0, 0, {}, holder.info.id});
        return;
    }
    cut_ |= nearest.size() < survey_.size() || holders.size() == holders_tried;
}

// The lowest priority at which others would be stopped for it.
void Engine::Impl::Changes::higher_priority() {
    if (outcome_.kind != Outcome::no_room || e_.yielding_.empty() || !slot_.victims.empty()) return;
    std::vector<int> levels;  // one above each priority that holds something and gives way
    for (const auto& [priority, jobs] : e_.yielding_)
        if (priority >= slot_.info.priority && priority < 1000) levels.push_back(priority + 1);
    if (levels.empty()) return;
    if (!thorough_ && e_.cluster_.size() > small_cluster) {
        cut_ = true;
        return;
    }
    const int own = slot_.info.priority;
    // Who looks for victims lifts pledges by itself, those below the priority in question.
    const auto lifted = e_.cluster_.mark();
    e_.book_pledges(slot_, 1);
    const auto enough = [&](int priority) {
        slot_.info.priority = priority;
        const bool found = e_.choose_victims(slot_, now_, nullptr).has_value();
        slot_.info.priority = own;
        return found;
    };
    std::size_t low = 0, high = levels.size();
    while (low < high) {
        const auto middle = (low + high) / 2;
        if (enough(levels[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    e_.cluster_.undo_to(lifted);
    if (low == levels.size()) return;
    out_.changes.push_back({"priority",
                            "priority " + std::to_string(levels[low]) + " instead of " + std::to_string(own) +
                                ": jobs of lower priority would be stopped for it",
                            static_cast<double>(own),
                            static_cast<double>(levels[low]),
                            "",
                            {}});
}

}  // namespace crater::engine
