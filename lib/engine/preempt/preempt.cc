// Who gives way: the set with the lowest highest priority, then the least cost, the fewest jobs, the latest
// start, of which no member can be left out. SPEC 3.6.
#include <algorithm>

#include "engine_impl.h"

namespace crater::engine {
namespace {

// Up to this many candidates the best set is searched exactly; beyond, the set grows by cost and is then
// trimmed.
constexpr std::size_t exact_max = 10;

}  // namespace

// What stopping the job throws away: its cards times the seconds since it started, or since its last checkpoint,
// and what a restart takes. Work without cards counts a thousandth of its cores.
std::int64_t Engine::Impl::cost_of(const JobSlot& victim, Instant now) const {
    std::int64_t cost = 0;
    for (const auto& task : victim.tasks) {
        if (task.life != TaskSlot::Life::held) continue;
        const auto seconds =
            std::clamp<std::int64_t>((now - std::max(task.started, victim.checkpointed)).count() / 1000, 0, 10LL * 365 * 86400) +
            cluster_.settings().restart_cost.count() / 1000;
        std::int64_t amount = 0;
        for (const auto& slice : task.slices.cards) amount += slice.compute;
        cost += amount > 0 ? amount * seconds : task.slices.cpu * seconds / 1000;
    }
    return cost;
}

void Engine::Impl::set_figures(VictimSet& set) const {
    std::sort(set.jobs.begin(), set.jobs.end(),
              [&](int a, int b) { return job(a).info.id < job(b).info.id; });
    set.priority = 0;
    set.cost = 0;
    set.started = {INT64_MAX};
    for (const int v : set.jobs) {
        set.priority = std::max(set.priority, job(v).info.priority);
        set.cost += able_.cost[static_cast<std::size_t>(v)];
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

// Strictly lower priority; or the same, in a queue whose order decides between the two (by their keys: `gives_way`).
bool Engine::Impl::may_yield(const JobSlot& victim, const JobSlot& preemptor) const {
    if (!victim.info.preemptible || victim.stopping || victim.held == 0 || &victim == &preemptor) return false;
    if (victim.type == JobType::inference && preemptor.type == JobType::training) return false;
    if (victim.info.preemptions >= cluster_.settings().preemption_budget) return false;
    if (victim.info.priority < preemptor.info.priority) return true;
    return victim.info.priority == preemptor.info.priority && victim.queue == preemptor.queue &&
           order_preempts(victim.queue);
}

// Jobs that may be pushed aside, on nodes that could serve the preemptor at all: by priority, then cheapest
// first.
void Engine::Impl::find_candidates(const JobSlot& preemptor, Instant now) {
    const Settings& settings = cluster_.settings();
    const Shape& shape = shapes_.at(preemptor.shape);
    const bool training = preemptor.type == JobType::training;
    const int queue = order_preempts(preemptor.queue) ? preemptor.queue : -1;
    yields_above_ = yields_above(preemptor.queue, preemptor.place.key);
    if (yields_above_ == INT64_MAX) --yields_above_;  // strictly lower priorities are above any
    if (able_.shape == preemptor.shape && able_.priority == preemptor.info.priority && able_.queue == queue &&
        able_.training == training && able_.now == now && able_.holdings == holdings_)
        return;
    able_ = {};
    able_.shape = preemptor.shape;
    able_.priority = preemptor.info.priority;
    able_.queue = queue;
    able_.training = training;
    able_.now = now;
    able_.holdings = holdings_;
    able_.on_node.resize(static_cast<std::size_t>(cluster_.size()));
    able_.in_vain.resize(static_cast<std::size_t>(cluster_.size()));
    able_.cost.resize(jobs_.size());
    able_.key.resize(jobs_.size());
    std::vector<int> seen;
    for (int n = 0; n < cluster_.size(); ++n) {
        const auto& held_here = held_on_[static_cast<std::size_t>(n)];
        if (held_here.empty() || !cluster_.node(n).takes_work() ||
            Judge::fixed_filter(Look(shape, cluster_, n)) >= 0)
            continue;
        for (const auto& held : held_here)
            if (may_yield(job(held.job), preemptor)) seen.push_back(held.job);
    }
    std::sort(seen.begin(), seen.end());
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());

    std::vector<std::pair<std::int64_t, int>> order;
    for (const int v : seen) {
        const bool lower = job(v).info.priority < preemptor.info.priority;
        const auto free_at = lower ? last_start(job(v)) + settings.min_run_time : yields_for_order_at(job(v));
        if (!free_at) continue;
        able_.key[static_cast<std::size_t>(v)] = lower ? INT64_MAX : order_key(job(v), now);
        if (*free_at <= now)
            order.emplace_back(cost_of(job(v), now), v);
        else if (lower && (!able_.retry_at || *free_at < able_.retry_at))
            able_.retry_at = *free_at;
    }
    std::sort(order.begin(), order.end(), [&](const auto& x, const auto& y) {
        const EngineJob &a = job(x.second).info, &b = job(y.second).info;
        return std::tuple(a.priority, x.first, std::string_view(a.id)) <
               std::tuple(b.priority, y.first, std::string_view(b.id));
    });
    for (const auto& [cost, v] : order) {
        able_.jobs.push_back(v);
        able_.cost[static_cast<std::size_t>(v)] = cost;
        for (const auto& task : job(v).tasks) {
            if (task.life != TaskSlot::Life::held) continue;
            auto& here = able_.on_node[static_cast<std::size_t>(task.slices.node)];
            if (here.empty() || here.back() != v) here.push_back(v);
        }
    }
}

// Books a job's held slices off, as if it had stopped.
void Engine::Impl::without(const JobSlot& victim) {
    for (const auto& task : victim.tasks)
        if (task.life == TaskSlot::Life::held) cluster_.try_book(task.slices, -1);
}

// The same for all that stops on a node: its slices are for those it was told to stop for, whose pledges are
// on the books, or for anybody.
void Engine::Impl::without_stopping(int n) {
    for (const auto& held : held_on_[static_cast<std::size_t>(n)])
        if (job(held.job).stopping)
            cluster_.try_book(job(held.job).tasks[static_cast<std::size_t>(held.task)].slices, -1);
}

std::optional<Engine::Impl::VictimSet> Engine::Impl::choose_victims(JobSlot& preemptor, Instant now,
                                                                    Instant* retry_at) {
    const bool lower = !yielding_.empty() && yielding_.begin()->first < preemptor.info.priority;
    if (!lower && !order_preempts(preemptor.queue)) return std::nullopt;
    find_candidates(preemptor, now);
    if (retry_at) *retry_at = able_.retry_at;

    const auto mark = cluster_.mark();
    // Slices kept for jobs of lower priority are not kept from this one.
    if (lower_pledges(preemptor))
        for (const int p : preemptors_)
            if (job(p).info.priority < preemptor.info.priority)
                for (const auto& slices : job(p).pledge) cluster_.try_book(slices, -1);
    // One task goes where it likes, unless the others of its gang hold it.
    const bool alone = preemptor.waiting == 1 && (preemptor.held == 0 || !shapes_.at(preemptor.shape).near());
    auto set = alone ? victims_on_one_node(preemptor) : victims_of_gang(preemptor);
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

// One task goes to one node, so the victims are all on that node, and each node is its own small problem.
std::optional<Engine::Impl::VictimSet> Engine::Impl::victims_on_one_node(const JobSlot& preemptor) {
    const Shape& shape = shapes_.at(preemptor.shape);
    count_own_tasks(preemptor);
    auto best = what_stops_already(shape);
    if (best) return best;
    std::vector<int> here;
    for (const int n : cluster_.by_name()) {
        here.clear();
        for (const int v : able_.on_node[static_cast<std::size_t>(n)])
            if (gives_way(v)) here.push_back(v);
        if (!here.empty()) least_of_node(n, here, shape, best);
    }
    return best;
}

// A set without anybody: what stops already frees enough on some node.
std::optional<Engine::Impl::VictimSet> Engine::Impl::what_stops_already(const Shape& shape) {
    if (stopping_.empty()) return std::nullopt;
    const auto mark = cluster_.mark();
    for (const int n : cluster_.by_name()) {
        if (held_on_[static_cast<std::size_t>(n)].empty() ||
            able_.in_vain[static_cast<std::size_t>(n)] == cluster_.version(n))
            continue;
        const auto version = cluster_.version(n);
        without_stopping(n);
        const bool eased = cluster_.mark() > mark;
        const Look look(shape, cluster_, n, When::now, own_tasks_[static_cast<std::size_t>(n)]);
        if (eased && (++looked_, Judge::fits(look))) {
            VictimSet none;
            none.plan = {look.slices()};
            cluster_.undo_to(mark);
            return none;
        }
        cluster_.undo_to(mark);
        able_.in_vain[static_cast<std::size_t>(n)] = version;
    }
    return std::nullopt;
}

// Improves `best` by the best set of one node. `here`: its candidates by priority, then cost.
void Engine::Impl::least_of_node(int n, const std::vector<int>& here, const Shape& shape,
                                 std::optional<VictimSet>& best) {
    // The first alone is the least that this node can offer.
    if (best) {
        const auto least =
            std::tuple(job(here.front()).info.priority, able_.cost[static_cast<std::size_t>(here.front())]);
        if (least > std::tuple(best->priority, best->cost)) return;
        VictimSet alone;
        alone.jobs = {here.front()};
        set_figures(alone);
        if (!better(alone, *best)) return;
    }
    const auto own = own_tasks_[static_cast<std::size_t>(n)];
    const auto fits = [&] { return ++looked_, Judge::fits(Look(shape, cluster_, n, When::now, own)); };
    const auto offer = [&](const std::vector<int>& jobs) {
        VictimSet set;
        set.jobs = jobs;
        set_figures(set);
        if (best && !better(set, *best)) return;
        set.plan = {Look(shape, cluster_, n, When::now, own).slices()};
        best = std::move(set);
    };
    const auto start = cluster_.mark();
    without_stopping(n);
    const auto mark = cluster_.mark();
    // No priority above the one that is enough needs to be asked.
    std::vector<int> pool;
    bool enough = false;
    for (std::size_t i = 0; i < here.size() && !enough; ++i) {
        pool.push_back(here[i]);
        without(job(here[i]));
        const bool level_ends =
            i + 1 == here.size() || job(here[i + 1]).info.priority != job(here[i]).info.priority;
        enough = level_ends && fits();
    }
    cluster_.undo_to(mark);
    if (!enough) return cluster_.undo_to(start);

    if (pool.size() > exact_max) {
        // Leave out one after the other, the dearest first, as long as the rest is enough.
        std::vector<int> kept = pool;
        for (auto i = kept.size(); i-- > 0;) {
            for (std::size_t k = 0; k < kept.size(); ++k)
                if (k != i) without(job(kept[k]));
            if (fits()) kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
            cluster_.undo_to(mark);
        }
        for (const int v : kept) without(job(v));
        offer(kept);
        return cluster_.undo_to(start);
    }
    // All sets, depth first: one that is enough is not extended, one that is no better than the best is not
    // followed.
    std::vector<int> chosen;
    const auto search = [&](const auto& self, std::size_t from) -> void {
        if (!chosen.empty()) {
            VictimSet so_far;
            so_far.jobs = chosen;
            set_figures(so_far);
            if (best && !better(so_far, *best)) return;
            if (fits()) return offer(chosen);
        }
        for (std::size_t i = from; i < pool.size(); ++i) {
            const auto trial = cluster_.mark();
            without(job(pool[i]));
            chosen.push_back(pool[i]);
            self(self, i + 1);
            chosen.pop_back();
            cluster_.undo_to(trial);
        }
    };
    search(search, 0);
    cluster_.undo_to(start);
}

std::optional<Engine::Impl::VictimSet> Engine::Impl::victims_of_gang(JobSlot& preemptor) {
    for (const int v : stopping_) without(job(v));
    std::vector<Slices> plan;
    const auto enough = [&](const std::vector<int>& jobs) {
        const auto mark = cluster_.mark();
        for (const int v : jobs) without(job(v));
        Outcome outcome = fill(preemptor, Foresight::none);
        cluster_.undo_to(mark);
        if (outcome.kind != Outcome::placed) return false;
        plan = std::move(outcome.slices);
        return true;
    };
    std::optional<VictimSet> best;
    const auto offer = [&](const std::vector<int>& jobs) {
        VictimSet set;
        set.jobs = jobs;
        set_figures(set);
        set.plan = plan;
        if (!best || better(set, *best)) best = std::move(set);
    };
    if (!stopping_.empty() && enough({})) {
        best.emplace();
        best->plan = std::move(plan);
        return best;
    }
    // The lowest priority up to which giving way is enough: nobody above it needs to be asked.
    std::vector<int> able, pool;
    for (const int v : able_.jobs)
        if (gives_way(v)) able.push_back(v);
    bool found = false;
    for (std::size_t i = 0; i < able.size() && !found; ++i) {
        pool.push_back(able[i]);
        const bool level_ends =
            i + 1 == able.size() || job(able[i + 1]).info.priority != job(able[i]).info.priority;
        found = level_ends && enough(pool);
    }
    if (!found) return std::nullopt;

    if (pool.size() <= exact_max) {
        for (std::uint32_t bits = 1; bits < (1U << pool.size()); ++bits) {
            VictimSet set;
            for (std::size_t i = 0; i < pool.size(); ++i)
                if (bits >> i & 1) set.jobs.push_back(pool[i]);
            set_figures(set);
            if ((!best || better(set, *best)) && enough(set.jobs)) offer(set.jobs);
        }
        return best;
    }
    // Grow by cost until it is enough, doubling; then leave out what is not needed, the dearest first.
    std::vector<std::pair<std::int64_t, int>> by_cost;
    for (const int v : pool) by_cost.emplace_back(able_.cost[static_cast<std::size_t>(v)], v);
    std::sort(by_cost.begin(), by_cost.end(), [&](const auto& a, const auto& b) {
        return a.first != b.first ? a.first < b.first : job(a.second).info.id < job(b.second).info.id;
    });
    std::vector<int> kept;
    for (std::size_t size = 1;; size = std::min(pool.size(), size * 2)) {
        kept.clear();
        for (std::size_t i = 0; i < size; ++i) kept.push_back(by_cost[i].second);
        if (enough(kept)) break;
        CRATER_CHECK(size < pool.size(), "all candidates were enough a moment ago");
    }
    for (auto i = kept.size(); i-- > 0 && kept.size() > 1;) {
        std::vector<int> rest = kept;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
        if (enough(rest)) kept = std::move(rest);
    }
    CRATER_CHECK(enough(kept), "what was enough is enough");
    offer(kept);
    return best;
}

// The two keys that decided, in words.
std::string Engine::Impl::order_words(const JobSlot& preemptor, const JobSlot& victim) const {
    const bool shortest = order_of(preemptor.queue) == Order::shortest;
    const std::string unit = shortest ? " s to go" : " GPU-seconds received";
    const auto seconds = [&](std::int64_t key) { return std::to_string(key / 1000) + unit; };
    const std::string its = preemptor.place.aged() ? "it has waited too long" : seconds(preemptor.place.key);
    return its + " against " + seconds(able_.key[static_cast<std::size_t>(victim.position)]);
}

std::string Engine::Impl::reason_for(const JobSlot& preemptor, const VictimSet& set,
                                     const JobSlot& victim) const {
    const bool by_order = victim.info.priority == preemptor.info.priority;
    std::string text =
        by_order ? "Queue " + preemptor.info.queue + " serves job " + preemptor.info.id + " first by its order (" +
                       order_words(preemptor, victim) + "), and this one may be preempted; stopping it "
                 : "Job " + preemptor.info.id + " has priority " + std::to_string(preemptor.info.priority) +
                       ", this one " + std::to_string(victim.info.priority) + " and may be preempted; stopping it ";
    const auto others = static_cast<std::int64_t>(set.jobs.size()) - 1;
    text += others == 0 ? "alone makes room"
                        : "and " + count_words(others, "other job", "other jobs") + " makes room";
    return text + " at the least cost: " + std::to_string(set.cost / 1000) +
           " GPU-seconds of work and restart.";
}

bool Engine::Impl::preempt(JobSlot& preemptor, VictimSet set, Plan& plan) {
    // It also waits for what stops already on the nodes it will go to.
    std::vector<int> victims = set.jobs;
    for (const auto& slices : set.plan)
        for (const auto& held : held_on_[static_cast<std::size_t>(slices.node)])
            if (job(held.job).stopping) victims.push_back(held.job);
    std::sort(victims.begin(), victims.end());
    victims.erase(std::unique(victims.begin(), victims.end()), victims.end());
    if (victims.empty()) return false;
    for (const int v : set.jobs) {
        job(v).stopping = true;
        stopping_.push_back(v);
        plan.preemptions.push_back({job(v).info.id, preemptor.info.id, reason_for(preemptor, set, job(v))});
    }
    wait_for(preemptor, std::move(victims), std::move(set.plan));
    Blocked& blocked = preemptor.in_class->blocked;
    blocked.why = Blocked::room;
    blocked.gains_seen = gains_;
    blocked.victims_seen = victims_seen_;
    return true;
}

void Engine::Impl::wait_for(JobSlot& preemptor, std::vector<int> victims, std::vector<Slices> pledge) {
    delist(preemptor);
    drop_pledge(preemptor);
    preemptor.victims = std::move(victims);
    for (const int v : preemptor.victims) job(v).waited_for_by.push_back(preemptor.position);
    preemptor.pledge = std::move(pledge);
    for (auto& slices : preemptor.pledge) {
        slices.crowd = preemptor.crowd;
        slices.cores.clear();  // which cores it gets is decided when they are free
        cluster_.book(slices, 1);
    }
    preemptors_.push_back(preemptor.position);
    ++pledged_priorities_[preemptor.info.priority];
    enlist(preemptor);
}

// After a restart: where it will go once its victims are gone.
void Engine::Impl::renew_pledge(JobSlot& preemptor) {
    const auto mark = cluster_.mark();
    for (const int v : stopping_) without(job(v));
    Outcome outcome = fill(preemptor, Foresight::none);
    cluster_.undo_to(mark);
    if (outcome.kind != Outcome::placed) return drop_pledge(preemptor);
    for (auto& slices : outcome.slices) {
        slices.cores.clear();
        cluster_.book(slices, 1);
    }
    preemptor.pledge = std::move(outcome.slices);
}

}  // namespace crater::engine
