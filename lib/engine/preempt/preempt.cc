// Who gives way: the set with the lowest highest priority, then the least cost, the fewest jobs, the latest
// start, of which no member can be left out. SPEC 3.6.
#include <algorithm>
#include <climits>
#include <tuple>

#include "engine_impl.h"

namespace crater::engine {

// What stopping the job throws away: its cards times the seconds since it started, or since its last
// checkpoint (none where it saves when it is told to stop), and what a restart takes. Work without cards
// counts a thousandth of its cores.
std::int64_t Engine::Impl::cost_of(const JobSlot& victim, Instant now) const {
    std::int64_t cost = 0;
    for (const auto& task : victim.tasks) {
        if (task.life != TaskSlot::Life::held) continue;
        const Millis unsaved =
            victim.info.saves_on_stop ? Millis{0} : now - std::max(task.started, victim.checkpointed);
        const auto seconds = std::clamp<std::int64_t>(unsaved.count() / 1000, 0, 10LL * 365 * 86400) +
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

// Strictly lower priority; or the same, in a queue whose order decides between the two (by their keys:
// `gives_way`). What a queue lent of its reserve goes back whatever the priority.
bool Engine::Impl::may_yield(const JobSlot& victim, const JobSlot& preemptor, bool takes_back) {
    if (!victim.info.preemptible || victim.stopping || victim.held == 0 || &victim == &preemptor)
        return false;
    if (victim.type == JobType::inference && preemptor.type == JobType::training) return false;
    if (victim.info.preemptions >= cluster_.settings().preemption_budget) return false;
    if (victim.queue != preemptor.queue) {
        if (in_own_reserve(victim)) return false;
        if (takes_back) return true;
    }
    if (victim.info.priority < preemptor.info.priority) return true;
    return victim.info.priority == preemptor.info.priority && victim.queue == preemptor.queue &&
           order_preempts(victim.queue);
}

// Jobs that may be pushed aside, on nodes that could serve the preemptor at all: by priority, then cheapest
// first, then the latest start.
void Engine::Impl::find_candidates(const JobSlot& preemptor, Instant now) {
    const Settings& settings = cluster_.settings();
    const Shape& shape = shapes_.at(preemptor.shape);
    const bool training = preemptor.type == JobType::training;
    const bool takes_back = within_reserve(preemptor);
    const int queue = order_preempts(preemptor.queue) || takes_back ? preemptor.queue : -1;
    yields_above_ = yields_above(preemptor.queue, preemptor.place.key);
    if (yields_above_ == INT64_MAX) --yields_above_;  // strictly lower priorities are above any
    if (able_.shape == preemptor.shape && able_.priority == preemptor.info.priority && able_.queue == queue &&
        able_.training == training && able_.takes_back == takes_back && able_.now == now &&
        able_.holdings == holdings_)
        return;
    able_.shape = preemptor.shape;
    able_.priority = preemptor.info.priority;
    able_.queue = queue;
    able_.training = training;
    able_.takes_back = takes_back;
    able_.now = now;
    able_.retry_at = {};
    able_.holdings = holdings_;
    able_.jobs.clear();
    able_.nodes.clear();
    const auto nodes = static_cast<std::size_t>(cluster_.size());
    able_.on_node.resize(nodes);
    for (auto& here : able_.on_node) here.clear();
    able_.in_vain.assign(nodes, 0);
    able_.best_on.assign(nodes, {});
    // Those of jobs that are no candidates are never read.
    able_.cost.resize(jobs_.size());
    able_.key.resize(jobs_.size());
    able_.asked.resize(jobs_.size());
    ++able_.round;
    std::vector<int> seen;
    for (int n = 0; n < cluster_.size(); ++n) {
        if (!cluster_.node(n).takes_work() || Judge::fixed_filter(Look(shape, cluster_, n)) >= 0) continue;
        able_.nodes.push_back(n);
        for (const auto& held : held_on_[static_cast<std::size_t>(n)]) {
            auto& asked = able_.asked[static_cast<std::size_t>(held.job)];
            if (asked == able_.round) continue;
            asked = able_.round;
            if (may_yield(job(held.job), preemptor, takes_back)) seen.push_back(held.job);
        }
    }

    struct Able {
        int priority;
        std::int64_t cost;
        Instant started;
        std::string_view id;
        int job;
    };
    std::vector<Able> order;
    for (const int v : seen) {
        const JobSlot& victim = job(v);
        const bool lent = takes_back && victim.queue != preemptor.queue;
        const bool lower = lent || victim.info.priority < preemptor.info.priority;
        Instant free_at = now;
        if (!lower)
            free_at = yields_for_order_at(victim);
        else if (!lent)
            free_at = last_start(victim) + settings.min_run_time;
        able_.key[static_cast<std::size_t>(v)] = lower ? INT64_MAX : order_key(victim, now);
        if (free_at <= now)
            order.push_back({victim.info.priority, cost_of(victim, now), started(victim), victim.info.id, v});
        else if (lower && (!able_.retry_at || free_at < able_.retry_at))
            able_.retry_at = free_at;
    }
    std::sort(order.begin(), order.end(), [](const Able& a, const Able& b) {
        return std::tie(a.priority, a.cost, b.started, a.id) < std::tie(b.priority, b.cost, a.started, b.id);
    });
    for (const Able& one : order) {
        able_.jobs.push_back(one.job);
        able_.cost[static_cast<std::size_t>(one.job)] = one.cost;
        for (const auto& task : job(one.job).tasks) {
            if (task.life != TaskSlot::Life::held) continue;
            auto& here = able_.on_node[static_cast<std::size_t>(task.slices.node)];
            if (here.empty() || here.back() != one.job) here.push_back(one.job);
        }
    }
}

// Books a job's held slices off, as if it had stopped.
void Engine::Impl::without(const JobSlot& victim) {
    for (const auto& task : victim.tasks)
        if (task.life == TaskSlot::Life::held) cluster_.try_book(task.slices, -1);
}

// What it holds of one node only.
void Engine::Impl::without(const JobSlot& victim, int n) {
    for (const auto& task : victim.tasks)
        if (task.life == TaskSlot::Life::held && task.slices.node == n) cluster_.try_book(task.slices, -1);
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
    // Who was stopped a moment ago does not come back to stop others.
    if (preemptor.info.preemptions > 0 && preemptor.info.waits_since) {
        const Instant again = preemptor.info.waits_since + cluster_.settings().order_min_run_time;
        if (now < again) {
            if (retry_at) *retry_at = again;
            return std::nullopt;
        }
    }
    const bool lower = !yielding_.empty() && yielding_.begin()->first < preemptor.info.priority;
    if (!lower && !order_preempts(preemptor.queue) && (yielding_.empty() || !within_reserve(preemptor)))
        return std::nullopt;
    find_candidates(preemptor, now);
    if (retry_at) *retry_at = able_.retry_at;

    const auto mark = cluster_.mark();
    // Slices kept for jobs of lower priority are not kept from this one.
    if (lower_pledges(preemptor))
        for (const int p : preemptors_)
            if (job(p).pledge_priority < preemptor.info.priority)
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
    if (tenants_.over(preemptor.tenant, amounts) || !reserve_allows(preemptor, set->plan))
        return std::nullopt;
    return set;
}

// One task goes to one node, so the victims are all on that node, and each node is its own small problem,
// whose answer holds while nothing changes there.
std::optional<Engine::Impl::VictimSet> Engine::Impl::victims_on_one_node(const JobSlot& preemptor) {
    const Shape& shape = shapes_.at(preemptor.shape);
    count_own_tasks(preemptor);
    if (auto none = what_stops_already(shape)) return none;
    const VictimSet* best = nullptr;
    int where = -1;
    for (const int n : cluster_.by_name()) {
        const auto& here = able_.on_node[static_cast<std::size_t>(n)];
        const auto first = std::find_if(here.begin(), here.end(), [&](int v) { return gives_way(v); });
        if (first == here.end()) continue;
        // The first alone is the least that this node can offer.
        const std::tuple least(job(*first).info.priority, able_.cost[static_cast<std::size_t>(*first)]);
        if (best && least > std::tuple(best->priority, best->cost)) continue;
        auto& known = able_.best_on[static_cast<std::size_t>(n)];
        const std::tuple now(cluster_.version(n), yields_above_, own_tasks_[static_cast<std::size_t>(n)]);
        if (!known.of || *known.of != now) known = {now, least_of_node(n, here, shape)};
        if (!known.set || (best && !better(*known.set, *best))) continue;
        best = &*known.set;
        where = n;
    }
    if (!best) return std::nullopt;
    VictimSet out = *best;
    const auto mark = cluster_.mark();
    without_stopping(where);
    for (const int v : out.jobs) without(job(v), where);
    out.plan = {
        Look(shape, cluster_, where, When::now, own_tasks_[static_cast<std::size_t>(where)]).slices()};
    cluster_.undo_to(mark);
    return out;
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

// The best set of one node. `here`: its candidates by priority, then cost.
std::optional<Engine::Impl::VictimSet> Engine::Impl::least_of_node(int n, const std::vector<int>& here,
                                                                   const Shape& shape) {
    const auto own = own_tasks_[static_cast<std::size_t>(n)];
    const auto start = cluster_.mark();
    without_stopping(n);
    const auto fits_without = [&](const std::vector<int>& jobs) {
        const auto mark = cluster_.mark();
        for (const int v : jobs) without(job(v), n);
        ++looked_;
        const bool fits = Judge::fits(Look(shape, cluster_, n, When::now, own));
        cluster_.undo_to(mark);
        return fits;
    };
    bool impossible = false;
    auto jobs = cards_of_node(n, here, shape, impossible);
    if (!impossible && (!jobs || !fits_without(*jobs))) {
        // Cards are not all that it lacks.
        GangVictims search(
            [&](int, const std::vector<int>& leave) { return std::int64_t{fits_without(leave)}; });
        search.add_site(n, -1, 0);
        for (const int v : here)
            if (gives_way(v)) search.add_victim(victim_figures(v), {0});
        jobs = search.search(1, false, -1);
    }
    cluster_.undo_to(start);
    if (!jobs) return std::nullopt;
    VictimSet out;
    out.jobs = *jobs;
    set_figures(out);
    return out;
}

// Who leaves a node so that there are whole cards enough, were that all. Fewer are never enough: what also
// fits is the best.
std::optional<std::vector<int>> Engine::Impl::cards_of_node(int n, const std::vector<int>& here,
                                                            const Shape& shape, bool& impossible) {
    const Node& node = cluster_.node(n);
    if (shape.cards == 0 || node.mixed || node.card_type < 0 || !shape.need(cluster_, node.card_type).whole)
        return std::nullopt;
    const auto wanted = shape.cards - idle_cards(n);
    if (wanted <= 0) return std::nullopt;
    std::vector<Leaver> leavers;
    for (const int v : here)
        if (gives_way(v)) leavers.push_back(leaver(v, n));
    auto out = cheapest_cover(std::move(leavers), wanted);
    impossible = !out;
    return out;
}

// With the cards that it holds of a node; of all, -1.
Leaver Engine::Impl::leaver(int v, int n) const {
    const auto its = victim_figures(v);
    Leaver out{v, its.priority, its.cost, its.started, 0};
    for (const auto& task : job(v).tasks)
        if (task.life == TaskSlot::Life::held && (n < 0 || task.slices.node == n))
            out.cards += static_cast<std::int64_t>(task.slices.cards.size());
    return out;
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
    std::string text = able_.takes_back && victim.queue != preemptor.queue
                           ? "Queue " + preemptor.info.queue + " takes back cards of its reserve for job " +
                                 preemptor.info.id + "; stopping this one, to which they were lent, "
                       : by_order
                           ? "Queue " + preemptor.info.queue + " serves job " + preemptor.info.id +
                                 " first by its order (" + order_words(preemptor, victim) +
                                 "), and this one may be preempted; stopping it "
                           : "Job " + preemptor.info.id + " has priority " +
                                 std::to_string(preemptor.info.priority) + ", this one " +
                                 std::to_string(victim.info.priority) + " and may be preempted; stopping it ";
    const auto others = static_cast<std::int64_t>(set.jobs.size()) - 1;
    text += others == 0 ? "alone makes room"
                        : "and " + count_words(others, "other job", "other jobs") + " makes room";
    return text + " at the least cost: " + std::to_string(set.cost / 1000) +
           " GPU-seconds of work and restart.";
}

std::vector<std::string> Engine::Impl::reasons_for(const JobSlot& preemptor, const VictimSet& set) const {
    std::vector<std::string> out;
    for (const int v : set.jobs) out.push_back(reason_for(preemptor, set, job(v)));
    return out;
}

// `reasons`: of each of the set's jobs.
bool Engine::Impl::preempt(JobSlot& preemptor, VictimSet set, const std::vector<std::string>& reasons,
                           Plan& plan) {
    // It also waits for what stops already on the nodes it will go to.
    std::vector<int> victims = set.jobs;
    for (const auto& slices : set.plan)
        for (const auto& held : held_on_[static_cast<std::size_t>(slices.node)])
            if (job(held.job).stopping) victims.push_back(held.job);
    std::sort(victims.begin(), victims.end());
    victims.erase(std::unique(victims.begin(), victims.end()), victims.end());
    if (victims.empty()) return false;
    for (std::size_t i = 0; i < set.jobs.size(); ++i) {
        JobSlot& victim = job(set.jobs[i]);
        victim.stopping = true;
        stopping_.push_back(victim.position);
        for (const auto& task : victim.tasks)
            if (const auto n = static_cast<std::size_t>(task.slices.node);
                task.life == TaskSlot::Life::held && n < able_.best_on.size())
                able_.best_on[n] = {};
        plan.preemptions.push_back({victim.info.id, preemptor.info.id, reasons[i]});
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
    // What a queue takes back of its reserve is for nobody else, whatever the priority.
    preemptor.pledge_priority = within_reserve(preemptor) ? INT_MAX : preemptor.info.priority;
    ++pledged_priorities_[preemptor.pledge_priority];
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
