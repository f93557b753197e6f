#include "plan/plans.h"

#include <algorithm>
#include <cstdio>
#include <queue>
#include <set>

#include "crater/base/ids.h"
#include "plan/mover.h"

namespace crater::engine {
namespace {

constexpr std::size_t starts_shown = 100, classes_tried = 500;

std::string list_words(const std::vector<std::string>& names) {
    std::string out;
    for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 4); ++i)
        out += (out.empty() ? "" : ", ") + names[i];
    return names.size() > 4 ? out + " and " + std::to_string(names.size() - 4) + " more" : out;
}

std::string seconds_words(double gpu_seconds) {
    return std::to_string(static_cast<std::int64_t>(gpu_seconds)) + " GPU-seconds";
}

}  // namespace

Result<WhatIf> Engine::Impl::what_if(const Supposed& supposed, Instant now) {
    advance(now);
    Plans plans(*this, now);
    return std::visit(plans, supposed);
}

Engine::Impl::Plans::Plans(Impl& engine, Instant now)
    : e_(engine), now_(now), mark_(engine.cluster_.mark()), tenants_(engine.tenants_) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(engine.state_hash()));
    out_.state = text;
}

Engine::Impl::Plans::~Plans() {
    e_.cluster_.undo_to(mark_);
    e_.tenants_ = tenants_;
}

Result<int> Engine::Impl::Plans::node_named(const std::string& name) const {
    const int n = e_.cluster_.find(name);
    if (n >= 0 && e_.cluster_.node(n).present) return n;
    std::vector<std::string> names;
    for (const int other : e_.cluster_.by_name())
        if (e_.cluster_.node(other).present) names.push_back(e_.cluster_.node(other).name);
    const std::string near = nearest(name, names);
    return fail(Code::not_found, "there is no node " + name, "node",
                near.empty() ? "" : "did you mean \"" + near + "\"?");
}

JobEffect& Engine::Impl::Plans::add(const JobSlot& slot, Effect effect, std::string detail) {
    ++out_.affected;
    out_.jobs.push_back({slot.info.id, effect, nodes_of(slot), {}, 0, std::move(detail)});
    return out_.jobs.back();
}

void Engine::Impl::Plans::count_loss(const JobSlot& slot, JobEffect& effect) {
    effect.lost_gpu_seconds = static_cast<double>(e_.cost_of(slot, now_)) / 1000;
    out_.lost_gpu_seconds += effect.lost_gpu_seconds;
}

std::vector<std::string> Engine::Impl::Plans::nodes_of(const JobSlot& slot) const {
    std::vector<Slices> held;
    for (const auto& task : slot.tasks)
        if (task.life == TaskSlot::Life::held) held.push_back(task.slices);
    return nodes_of(held);
}

std::vector<std::string> Engine::Impl::Plans::nodes_of(const std::vector<Slices>& slices) const {
    std::set<std::string> names;
    for (const auto& part : slices) names.insert(e_.cluster_.node(part.node).name);
    return {names.begin(), names.end()};
}

void Engine::Impl::Plans::lift(const JobSlot& slot) {
    if (slot.held == 0) return;
    Amounts freed{};
    for (const auto& task : slot.tasks) {
        if (task.life != TaskSlot::Life::held) continue;
        const Amounts part = amounts_of(task.slices);
        for (std::size_t k = 0; k < quota_kinds; ++k) freed[k] += part[k];
    }
    freed[jobs_kind] = 1;
    e_.tenants_.add(slot.tenant, freed, -1);
    e_.without(slot);
}

const std::vector<Slices>* Engine::Impl::Plans::settle(JobSlot& slot) {
    const auto mark = e_.cluster_.mark();
    Outcome& outcome = settled_.emplace_back(e_.attempt(slot));
    if (outcome.kind != Outcome::placed) {
        e_.cluster_.undo_to(mark);
        return nullptr;
    }
    Amounts taken{};
    for (const auto& slices : outcome.slices) {
        const Amounts part = amounts_of(slices);
        for (std::size_t k = 0; k < quota_kinds; ++k) taken[k] += part[k];
    }
    taken[jobs_kind] = slot.held == 0 ? 1 : 0;
    e_.tenants_.add(slot.tenant, taken, 1);
    return &outcome.slices;
}

JobSlot Engine::Impl::Plans::again(const JobSlot& slot) {
    JobSlot out = slot;
    for (auto& task : out.tasks) task.life = TaskSlot::Life::waiting, task.slices = {};
    out.waiting = static_cast<int>(out.tasks.size());
    out.held = 0;
    out.pledge.clear();
    out.victims.clear();
    out.waited_for_by.clear();
    out.in_class = nullptr;
    return out;
}

// ---- one job ----------------------------------------------------------------------------------------------

Result<WhatIf> Engine::Impl::Plans::operator()(const SupposeSubmit& plan) {
    CRATER_CHECK(plan.job != nullptr, "the plan names a job");
    Supposition supposed(e_, *plan.job);
    victims_or_why(supposed.slot);
    return std::move(out_);
}

Result<WhatIf> Engine::Impl::Plans::operator()(const SupposePreempt& plan) {
    const int position = e_.position_of(plan.job);
    if (position < 0)
        return fail(Code::not_found, "there is no job " + plan.job + " that waits or runs", "job");
    JobSlot& slot = e_.job(position);
    if (slot.info.blocked) {
        e_.explain_dependency(slot, out_.why.emplace());
        out_.summary = out_.why->summary;
        return std::move(out_);
    }
    if (slot.waiting > 0) {
        victims_or_why(slot);
        return std::move(out_);
    }
    JobEffect& stops = add(slot, Effect::stops, "its slices are free for others");
    count_loss(slot, stops);
    lift(slot);
    out_.possible = true;
    who_starts({});
    const auto starts = out_.affected - 1;
    out_.summary = "Job " + slot.info.id + " would stop and lose " + seconds_words(out_.lost_gpu_seconds) +
                   " of work and restart; " +
                   (starts == 0 ? "nobody who waits would start in its place."
                                : count_words(starts, "waiting job", "waiting jobs") + " would start.");
    return std::move(out_);
}

// It starts, or others are stopped for it, or this is why it waits.
void Engine::Impl::Plans::victims_or_why(JobSlot& slot) {
    const std::string id = slot.info.id.empty() ? "It" : "Job " + slot.info.id;
    const auto mark = e_.cluster_.mark();
    if (const auto* slices = settle(slot)) {
        out_.possible = true;
        JobEffect& starts = add(slot, Effect::starts, {});
        starts.to = nodes_of(*slices);
        out_.summary = id + " would start now on " + list_words(starts.to) + "; nobody is stopped for it.";
        return;
    }
    const bool no_room = settled_.back().kind == Outcome::no_room;
    e_.cluster_.undo_to(mark);
    const auto set = no_room && slot.victims.empty() ? e_.choose_victims(slot, now_, nullptr) : std::nullopt;
    if (!set) {
        add(slot, Effect::waits, {});
        out_.why = e_.explain(slot, now_, {});
        out_.estimate = out_.why->estimate;
        out_.summary = id + " would wait: " + out_.why->summary;
        return;
    }
    out_.possible = true;
    for (const int v : set->jobs) {
        std::string reason = e_.reason_for(slot, *set, e_.job(v));
        if (slot.info.id.empty()) reason.replace(0, std::string_view("Job ").size(), "It");
        count_loss(e_.job(v), add(e_.job(v), Effect::stops, std::move(reason)));
    }
    add(slot, Effect::starts, "when they have stopped").to = nodes_of(set->plan);
    out_.summary = id + " would start on " + list_words(out_.jobs.back().to) + " when " +
                   count_words(static_cast<std::int64_t>(set->jobs.size()), "job", "jobs") +
                   " of lower priority " + (set->jobs.size() == 1 ? "has" : "have") +
                   " stopped, which costs " + seconds_words(out_.lost_gpu_seconds) + " of work and restart.";
}

// ---- a node -----------------------------------------------------------------------------------------------

Result<WhatIf> Engine::Impl::Plans::operator()(const SupposeDrain& plan) {
    CRATER_TRY(n, node_named(plan.node));
    if (plan.evict) {
        empty_node(n, false);
        return std::move(out_);
    }
    std::set<std::string> seen;
    for (const auto& held : e_.held_on_[static_cast<std::size_t>(n)])
        if (seen.insert(e_.job(held.job).info.id).second)
            add(e_.job(held.job), Effect::keeps, "runs on until it ends");
    std::sort(out_.jobs.begin(), out_.jobs.end(), [](const auto& a, const auto& b) { return a.job < b.job; });
    out_.possible = true;
    out_.summary =
        "Node " + plan.node + " would take no new work; " +
        (seen.empty() ? "nothing runs there."
                      : count_words(static_cast<std::int64_t>(seen.size()), "job runs", "jobs run") +
                            " there on until they end.");
    return std::move(out_);
}

Result<WhatIf> Engine::Impl::Plans::operator()(const SupposeLoss& plan) {
    CRATER_TRY(n, node_named(plan.node));
    empty_node(n, true);
    return std::move(out_);
}

void Engine::Impl::Plans::empty_node(int n, bool lost) {
    const Node& node = e_.cluster_.node(n);
    const bool was_draining = node.draining, was_lost = node.lost;
    std::vector<int> leaving;
    for (const auto& held : e_.held_on_[static_cast<std::size_t>(n)])
        if (std::find(leaving.begin(), leaving.end(), held.job) == leaving.end()) leaving.push_back(held.job);
    std::sort(leaving.begin(), leaving.end(), [&](int a, int b) {
        const EngineJob &x = e_.job(a).info, &y = e_.job(b).info;
        return std::tuple(-x.priority, x.submitted, std::string_view(x.id)) <
               std::tuple(-y.priority, y.submitted, std::string_view(y.id));
    });
    e_.cluster_.set_flags(n, true, false);
    for (const int v : leaving) lift(e_.job(v));
    std::int64_t moved = 0;
    for (const int v : leaving) {
        JobSlot probe = again(e_.job(v));
        const auto* slices = settle(probe);
        JobEffect& effect =
            add(e_.job(v), slices ? Effect::moves : Effect::waits,
                slices ? "starts again from its last checkpoint" : "loses its place and finds no other now");
        if (slices) effect.to = nodes_of(*slices), ++moved;
        count_loss(e_.job(v), effect);
    }
    e_.cluster_.undo_to(mark_);
    e_.cluster_.set_flags(n, was_draining, was_lost);
    out_.possible = moved == static_cast<std::int64_t>(leaving.size());
    const auto stay = static_cast<std::int64_t>(leaving.size()) - moved;
    out_.summary =
        std::string(lost ? "If node " + node.name + " were lost, "
                         : "Node " + node.name + " would be emptied: ") +
        (leaving.empty() ? "nobody would lose a place."
                         : count_words(moved, "job", "jobs") + " would start again elsewhere and " +
                               std::to_string(stay) + " would wait; " + seconds_words(out_.lost_gpu_seconds) +
                               " of work and restart are lost.");
}

// ---- who waits --------------------------------------------------------------------------------------------

bool Engine::Impl::Plans::of_tenant(const JobSlot& slot, const std::string& path) const {
    return path.empty() || slot.info.tenant == path || slot.info.tenant.starts_with(path + "/");
}

void Engine::Impl::Plans::who_starts(const std::string& below) {
    struct Line {
        const WaitClass* members;
        WaitingSet::const_iterator next;
        bool operator<(const Line& o) const {
            return engine::turn_of(*o.members, *o.next) < engine::turn_of(*members, *next);
        }
    };
    std::size_t tried = 0, started = 0;
    for (const int q : e_.backlog_.in_order()) {
        std::priority_queue<Line> order;
        for (const auto& [key, members] : e_.backlog_.queue(q).classes)
            if (of_tenant(e_.job(members->jobs.begin()->job), below))
                order.push({members.get(), members->jobs.begin()});
        while (!order.empty() && started < starts_shown && tried < classes_tried) {
            Line line = order.top();
            order.pop();
            JobSlot& slot = e_.job(line.next->job);
            ++tried;
            const auto* slices = settle(slot);
            if (!slices) continue;  // what holds back one of a class holds back all
            ++started;
            add(slot, Effect::starts, {}).to = nodes_of(*slices);
            if (++line.next != line.members->jobs.end()) order.push(line);
        }
    }
}

Result<WhatIf> Engine::Impl::Plans::operator()(const SupposeQuota& plan) {
    const std::string& path = plan.tenant.path;
    const int known = e_.tenants_.find(path);
    // Who waits, and is within the caps that hold now.
    std::vector<JobSlot*> heads;
    std::vector<bool> within;
    for (const int q : e_.backlog_.in_order())
        for (const auto& [key, members] : e_.backlog_.queue(q).classes) {
            JobSlot& head = e_.job(members->jobs.begin()->job);
            if (!of_tenant(head, path)) continue;
            heads.push_back(&head);
            within.push_back(!e_.least_ceiling(head));
        }
    const Amounts held = known < 0 ? Amounts{} : e_.tenants_.held(known);
    e_.tenants_.set(plan.tenant);
    std::string above;
    for (std::size_t k = 0; k < quota_kinds; ++k) {
        const auto& row = quota_table()[k];
        const auto cap = row.cap(plan.tenant.hard);
        if (cap >= 0 && held[k] > cap)
            above +=
                (above.empty() ? "" : "; ") + row.words(held[k]) + " held, " + row.words(cap) + " allowed";
    }
    std::int64_t running = 0, longer = 0;
    if (!above.empty())
        for (int t = 0; t < e_.tenants_.count(); ++t) {
            if (e_.tenants_.path(t) != path && !e_.tenants_.path(t).starts_with(path + "/")) continue;
            std::vector<int> jobs = e_.running_.of(t);
            std::sort(jobs.begin(), jobs.end(),
                      [&](int a, int b) { return e_.job(a).info.id < e_.job(b).info.id; });
            for (const int v : jobs)
                add(e_.job(v), Effect::keeps, "runs on; nothing is stopped for a quota"), ++running;
        }
    for (std::size_t i = 0; i < heads.size(); ++i) {
        if (!within[i] || !e_.least_ceiling(*heads[i])) continue;
        const auto alike = static_cast<std::int64_t>(heads[i]->in_class->jobs.size());
        longer += alike;
        add(*heads[i], Effect::waits_longer,
            (alike > 1 ? "and " + count_words(alike - 1, "other job like it: ", "other jobs like it: ")
                       : std::string()) +
                "above the new quota now");
    }
    const auto before = out_.affected;
    who_starts(path);
    const auto starts = out_.affected - before;
    out_.affected = running + longer + starts;
    out_.possible = true;
    out_.summary = "With this quota " + count_words(starts, "waiting job", "waiting jobs") + " of tenant " +
                   path + " would start and " + count_words(longer, "other", "others") +
                   " would be held back" +
                   (above.empty() ? "."
                                  : "; it is exceeded (" + above + "), and the " +
                                        count_words(running, "running job goes", "running jobs go") + " on.");
    return std::move(out_);
}

// ---- moving -----------------------------------------------------------------------------------------------

Result<WhatIf> Engine::Impl::Plans::operator()(const SupposeDefrag& plan) {
    if (!plan.options.job.empty()) {
        const int position = e_.position_of(plan.options.job);
        if (position < 0)
            return fail(Code::not_found, "there is no job " + plan.options.job + " that waits", "job");
        if (e_.job(position).waiting == 0)
            return fail(Code::conflict, "the job " + plan.options.job + " does not wait", "job");
    }
    const auto found = e_.rearrange(plan.options, now_);
    if (!found) {
        out_.summary =
            plan.options.job.empty()
                ? "No move is worth its cost: what is free lies together as well as it can."
                : "No plan of at most " + count_words(plan.options.max_moves, "move", "moves") +
                      " lets job " + plan.options.job +
                      " start: nobody who may be moved makes room, or there is no other place for them.";
        return std::move(out_);
    }
    out_.possible = true;
    out_.gained_gpus = found->gained;
    for (const auto& move : found->moves) {
        JobEffect& effect = add(e_.job(move.job), Effect::moves,
                                "stops with its grace period and goes on from its last checkpoint");
        effect.to = nodes_of(move.to);
        count_loss(e_.job(move.job), effect);
    }
    std::string gain = "what is free would be worth ";
    if (found->starts >= 0) {
        add(e_.job(found->starts), Effect::starts, "when they have moved").to = nodes_of(found->place);
        gain = "job " + e_.job(found->starts).info.id + " would start with ";
    }
    char cards[32];
    std::snprintf(cards, sizeof cards, "%.1f", found->gained);
    out_.summary = "With " + count_words(static_cast<std::int64_t>(found->moves.size()), "move", "moves") +
                   ", " + gain + cards + " GPUs" + (found->starts < 0 ? " more" : "") + "; it costs " +
                   seconds_words(out_.lost_gpu_seconds) + " of work and restart" +
                   (found->cut ? ". The search was cut off; a shorter plan may exist." : ".");
    return std::move(out_);
}

}  // namespace crater::engine
