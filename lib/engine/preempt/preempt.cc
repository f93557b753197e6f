// Who gives way: the set with the lowest highest priority, then the least cost, the fewest jobs, the latest start, of which no
// member can be left out. SPEC 3.6.
#include <algorithm>
#include <set>

#include "engine_impl.h"

namespace crater::engine {
namespace {

constexpr std::int64_t restart_cost_s = 300;
// Up to this many candidates the best set is searched exactly; beyond, the set grows by cost and is then trimmed.
constexpr std::size_t exact_max = 10;

}  // namespace

// What stopping the job throws away: its cards times the seconds since it started and a restart takes. Work without cards counts
// a thousandth of its cores.
std::int64_t Engine::Impl::cost_of(const JobSlot& victim, Instant now) const {
    std::int64_t cost = 0;
    for (const auto& task : victim.tasks) {
        if (task.life != TaskSlot::Life::held) continue;
        const auto seconds = std::clamp<std::int64_t>((now - task.started).count() / 1000, 0, 10LL * 365 * 86400) + restart_cost_s;
        std::int64_t amount = 0;
        for (const auto& slice : task.slices.cards) amount += slice.compute;
        cost += amount > 0 ? amount * seconds : task.slices.cpu * seconds / 1000;
    }
    return cost;
}

void Engine::Impl::set_figures(VictimSet& set, Instant now) const {
    std::sort(set.jobs.begin(), set.jobs.end(), [&](int a, int b) { return job(a).info.id < job(b).info.id; });
    set.priority = 0;
    set.cost = 0;
    set.started = {INT64_MAX};
    for (const int v : set.jobs) {
        set.priority = std::max(set.priority, job(v).info.priority);
        set.cost += cost_of(job(v), now);
        for (const auto& task : job(v).tasks)
            if (task.life == TaskSlot::Life::held) set.started = std::min(set.started, task.started);
    }
}

bool Engine::Impl::better(const VictimSet& a, const VictimSet& b) const {
    if (a.priority != b.priority) return a.priority < b.priority;
    if (a.cost != b.cost) return a.cost < b.cost;
    if (a.jobs.size() != b.jobs.size()) return a.jobs.size() < b.jobs.size();
    if (a.started != b.started) return a.started > b.started;
    for (std::size_t i = 0; i < a.jobs.size(); ++i)
        if (a.jobs[i] != b.jobs[i]) return job(a.jobs[i]).info.id < job(b.jobs[i]).info.id;
    return false;
}

// Jobs that may be pushed aside, on nodes that could serve the preemptor at all, cheapest first within a priority.
std::vector<int> Engine::Impl::candidates(const JobSlot& preemptor, Instant now, Instant* retry_at) {
    const Settings& settings = cluster_.settings();
    const Shape& shape = shapes_.at(preemptor.shape);
    std::set<int> seen;
    for (int n = 0; n < cluster_.size(); ++n) {
        if (held_on_[static_cast<std::size_t>(n)].empty() || !cluster_.node(n).takes_work()) continue;
        if (fixed_filter(Look(shape, cluster_, n)) >= 0) continue;
        for (const auto& held : held_on_[static_cast<std::size_t>(n)]) {
            const JobSlot& victim = job(held.job);
            if (!victim.can_yield_to(preemptor) || victim.info.preemptions >= settings.preemption_budget) continue;
            Instant started;
            for (const auto& task : victim.tasks)
                if (task.life == TaskSlot::Life::held) started = std::max(started, task.started);
            if (const Instant free_at = started + settings.min_run_time; free_at > now) {
                if (retry_at && (!*retry_at || free_at < *retry_at)) *retry_at = free_at;
                continue;
            }
            seen.insert(held.job);
        }
    }
    std::vector<std::pair<std::int64_t, int>> order;
    for (const int v : seen) order.emplace_back(cost_of(job(v), now), v);
    std::sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
        const EngineJob &x = job(a.second).info, &y = job(b.second).info;
        return std::tuple(x.priority, a.first, std::string_view(x.id)) < std::tuple(y.priority, b.first, std::string_view(y.id));
    });
    std::vector<int> out;
    for (const auto& [cost, v] : order) out.push_back(v);
    return out;
}

std::optional<Engine::Impl::VictimSet> Engine::Impl::choose_victims(JobSlot& preemptor, Instant now, Instant* retry_at) {
    if (yielding_.empty() || yielding_.begin()->first >= preemptor.info.priority) return std::nullopt;
    const auto able = candidates(preemptor, now, retry_at);
    if (able.empty()) return std::nullopt;
    // Slices kept for jobs of lower priority are not kept from this one.
    const auto mark = cluster_.mark();
    for (const int p : pledged_)
        if (job(p).info.priority < preemptor.info.priority)
            for (const auto& slices : job(p).pledge) cluster_.try_book(slices, -1);
    auto set = preemptor.waiting == 1 ? victims_on_one_node(preemptor, able, now) : victims_of_gang(preemptor, able, now);
    cluster_.undo_to(mark);
    if (!set) return set;
    // Nobody is stopped for a job that its quota would then hold back.
    Amounts amounts{};
    for (const auto& slices : set->plan) {
        const Amounts part = amounts_of(slices);
        for (std::size_t k = 0; k < quota_kinds; ++k) amounts[k] += part[k];
    }
    if (tenants_.over(preemptor.tenant, amounts)) return std::nullopt;
    return set;
}

namespace {

// Books a job's held slices off, as if it had stopped.
void without(Cluster& cluster, const JobSlot& victim) {
    for (const auto& task : victim.tasks)
        if (task.life == TaskSlot::Life::held) cluster.try_book(task.slices, -1);
}

}  // namespace

// One task goes to one node, so the victims are all on that node, and each node is its own small problem.
std::optional<Engine::Impl::VictimSet> Engine::Impl::victims_on_one_node(JobSlot& preemptor, const std::vector<int>& able, Instant now) {
    const Shape& shape = shapes_.at(preemptor.shape);
    count_own_tasks(preemptor);
    std::vector<std::vector<int>> on_node(static_cast<std::size_t>(cluster_.size()));
    for (const int v : able) {  // keeps the order: cheapest first within a priority
        for (const auto& task : job(v).tasks) {
            if (task.life != TaskSlot::Life::held) continue;
            auto& list = on_node[static_cast<std::size_t>(task.slices.node)];
            if (list.empty() || list.back() != v) list.push_back(v);
        }
    }
    std::optional<VictimSet> best;
    for (const int n : cluster_.by_name()) {
        const auto& here = on_node[static_cast<std::size_t>(n)];
        if (here.empty()) continue;
        // The first alone is the least that this node can offer.
        VictimSet least;
        least.jobs = {here.front()};
        set_figures(least, now);
        if (best && !better(least, *best)) continue;
        const auto fits = [&] {
            ++looked_;
            return evaluate(Look(shape, cluster_, n, When::now, own_tasks_[static_cast<std::size_t>(n)])).fits();
        };
        const auto mark = cluster_.mark();
        for (const int v : here) without(cluster_, job(v));
        const bool possible = fits();
        cluster_.undo_to(mark);
        if (!possible) continue;

        const auto offer = [&](std::vector<int> jobs) {
            VictimSet set;
            set.jobs = std::move(jobs);
            set_figures(set, now);
            if (best && !better(set, *best)) return;
            set.plan = {Look(shape, cluster_, n, When::now, own_tasks_[static_cast<std::size_t>(n)]).slices()};
            best = std::move(set);
        };
        if (here.size() > exact_max) {
            // Leave out one after the other, the dearest first, as long as the rest is enough.
            std::vector<int> kept = here;
            for (auto i = kept.size(); i-- > 0;) {
                const auto trial = cluster_.mark();
                for (std::size_t k = 0; k < kept.size(); ++k)
                    if (k != i) without(cluster_, job(kept[k]));
                if (fits()) kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
                cluster_.undo_to(trial);
            }
            for (const int v : kept) without(cluster_, job(v));
            offer(kept);
            cluster_.undo_to(mark);
            continue;
        }
        // All sets, depth first; a set that is enough is not extended, one that is no better than the best is not followed.
        std::vector<int> chosen;
        const auto search = [&](const auto& self, std::size_t from) -> void {
            if (!chosen.empty()) {
                VictimSet so_far;
                so_far.jobs = chosen;
                set_figures(so_far, now);
                if (best && !better(so_far, *best)) return;
                if (fits()) return offer(chosen);
            }
            for (std::size_t i = from; i < here.size(); ++i) {
                const auto trial = cluster_.mark();
                without(cluster_, job(here[i]));
                chosen.push_back(here[i]);
                self(self, i + 1);
                chosen.pop_back();
                cluster_.undo_to(trial);
            }
        };
        search(search, 0);
    }
    return best;
}

std::optional<Engine::Impl::VictimSet> Engine::Impl::victims_of_gang(JobSlot& preemptor, const std::vector<int>& able, Instant now) {
    std::vector<Slices> plan;
    const auto enough = [&](const std::vector<int>& jobs) {
        const auto mark = cluster_.mark();
        for (const int v : jobs) without(cluster_, job(v));
        Outcome outcome = attempt(preemptor);
        cluster_.undo_to(mark);
        if (outcome.kind != Outcome::placed) return false;
        plan = std::move(outcome.slices);
        return true;
    };
    // The lowest priority up to which giving way is enough: nobody above it needs to be asked.
    std::vector<int> pool;
    for (std::size_t i = 0; i < able.size(); ++i) {
        pool.push_back(able[i]);
        const bool level_ends = i + 1 == able.size() || job(able[i + 1]).info.priority != job(able[i]).info.priority;
        if (level_ends && enough(pool)) break;
        if (i + 1 == able.size()) return std::nullopt;
    }
    std::optional<VictimSet> best;
    const auto offer = [&](std::vector<int> jobs) {
        VictimSet set;
        set.jobs = std::move(jobs);
        set_figures(set, now);
        set.plan = plan;
        if (!best || better(set, *best)) best = std::move(set);
    };
    if (pool.size() <= exact_max) {
        for (std::uint32_t bits = 1; bits < (1U << pool.size()); ++bits) {
            VictimSet set;
            for (std::size_t i = 0; i < pool.size(); ++i)
                if (bits >> i & 1) set.jobs.push_back(pool[i]);
            set_figures(set, now);
            if ((!best || better(set, *best)) && enough(set.jobs)) offer(set.jobs);
        }
        return best;
    }
    // Grow by cost until it is enough, doubling; then leave out what is not needed, the dearest first.
    std::sort(pool.begin(), pool.end(), [&](int a, int b) {
        const auto x = cost_of(job(a), now), y = cost_of(job(b), now);
        return x != y ? x < y : job(a).info.id < job(b).info.id;
    });
    std::vector<int> kept;
    for (std::size_t size = 1;; size = std::min(pool.size(), size * 2)) {
        kept.assign(pool.begin(), pool.begin() + static_cast<std::ptrdiff_t>(size));
        if (enough(kept)) break;
        CRATER_CHECK(size < pool.size(), "all candidates were enough a moment ago");
    }
    for (auto i = kept.size(); i-- > 0;) {
        std::vector<int> rest = kept;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
        if (!rest.empty() && enough(rest)) kept = std::move(rest);
    }
    CRATER_CHECK(enough(kept));
    offer(kept);
    return best;
}

std::string Engine::Impl::reason_for(const JobSlot& preemptor, const VictimSet& set, const JobSlot& victim) const {
    std::string text = "Job " + preemptor.info.id + " has priority " + std::to_string(preemptor.info.priority) + ", this one " +
                       std::to_string(victim.info.priority) + " and may be preempted; ";
    text += set.jobs.size() == 1 ? "stopping it alone makes room" : "stopping it and " + count_words(static_cast<std::int64_t>(set.jobs.size()) - 1, "other job", "other jobs") + " makes room";
    return text + " at the least cost (" + std::to_string(set.cost / 1000) + " GPU-seconds of work and restart).";
}

void Engine::Impl::preempt(JobSlot& preemptor, VictimSet set, Plan& plan) {
    delist(preemptor);
    for (const int v : set.jobs) {
        job(v).stopping = true;
        plan.preemptions.push_back({job(v).info.id, preemptor.info.id, reason_for(preemptor, set, job(v))});
    }
    preemptor.victims = set.jobs;
    preemptor.pledge = std::move(set.plan);
    for (auto& slices : preemptor.pledge) {
        slices.cores.clear();  // which cores it gets is decided when they are free
        cluster_.book(slices, 1);
    }
    pledged_.push_back(preemptor.position);
    enlist(preemptor);
    preemptor.in_class->blocked = {.why = Blocked::room, .gains_seen = gains_, .victims_seen = victims_seen_, .retry_at = {}};
}

}  // namespace crater::engine
