// Why a job waits, in one sentence and in detail.
#include <algorithm>

#include "engine_impl.h"
#include "explain/changes.h"
#include "explain/found.h"

namespace crater::engine {
namespace {

constexpr std::size_t quota_holders_shown = 10;

}  // namespace

Result<Why> Engine::Impl::why(const std::string& id, Instant now, const WhyQuestion& question) {
    const int position = position_of(id);
    if (position < 0) return fail(Code::not_found, "there is no job " + id, "job");
    JobSlot& slot = job(position);
    Why out;
    if (slot.info.blocked) {
        explain_dependency(slot, out);
        return out;
    }
    if (slot.waiting == 0) {
        out.summary = slot.held > 0 ? "Does not wait: all of its tasks have a place." : "Does not wait.";
        return out;
    }
    if (!slot.in_class) {
        out.binding = "preemption";
        out.summary = "Gives up the part that it holds, and waits for all of it then.";
        return out;
    }
    refresh_shares(slot.queue, slot.info.priority);
    return explain(slot, now, question);
}

// Also of a job that is only supposed to wait.
Why Engine::Impl::explain(JobSlot& slot, Instant now, const WhyQuestion& question) {
    Why out;
    advance(now);
    if (slot.queue >= 0) std::tie(out.rank, out.queue_length) = backlog_.rank(slot.queue, turn_of(slot));

    const Shape& shape = shapes_.at(slot.shape);
    const auto mark = cluster_.mark();
    lift_pledges(slot);
    std::optional<Survey> own;
    const Survey& survey = survey_of(slot, own);
    std::vector<int> fitting;
    for (std::size_t rank = 0; rank < survey.size(); ++rank)
        if (survey.fits(rank)) fitting.push_back(static_cast<int>(rank));
    std::deque<Slices> slices;
    const auto lifted = cluster_.mark();
    const auto room = fill_up(slot, shape, fitting, slot.waiting, slices);
    cluster_.undo_to(lifted);

    Outcome outcome;
    outcome.ceiling = least_ceiling(slot);
    if (outcome.ceiling) {
        outcome.kind = Outcome::over_quota;
    } else if (room >= slot.waiting) {
        cluster_.undo_to(mark);
        outcome = attempt(slot);
        cluster_.undo_to(mark);
        lift_pledges(slot);
    }
    const Found found = explain_nodes(slot, survey, room, question, out);
    switch (outcome.kind) {
        case Outcome::placed: {
            const auto ahead = out.rank - 1;
            out.binding = "order";
            out.holders.clear();
            if (!reserve_allows(slot, outcome.slices)) {
                out.binding = "reserve";
                out.summary =
                    "Fits now, on cards that queues keep for their own jobs (reserved_gpu); these are lent to preemptible jobs only.";
            } else if (slot.in_class && slot.in_class->blocked.why == Blocked::reserved)
                out.summary =
                    "Fits now, but would delay a job that comes before it and for which the place is kept.";
            else
                out.summary = ahead > 0 ? "Fits now; " + count_words(ahead, "job is", "jobs are") +
                                              " ahead of it in queue " + slot.info.queue + "."
                                        : "Fits now and starts with the next decision.";
            break;
        }
        case Outcome::over_quota: explain_quota(slot, outcome.ceiling, out); break;
        case Outcome::predicted: explain_prediction(slot, outcome.trace, found, out); break;
        case Outcome::no_room:
            if (!explain_topology(slot, out) && room >= slot.waiting) explain_plugins(outcome.trace, out);
    }
    if (outcome.kind == Outcome::no_room && !slot.victims.empty()) {
        out.binding = "preemption";
        out.summary = "Waits for " +
                      count_words(static_cast<std::int64_t>(slot.victims.size()), "job", "jobs") +
                      " to stop; what they free is kept for it.";
        out.holders.clear();
        for (const int v : slot.victims) out.holders.push_back({job(v).info.id, {}, "is stopping"});
    } else if (question.changes && outcome.kind != Outcome::placed) {
        Changes(*this, slot, survey, found, outcome, room, now, question.thorough, out).find();
    }
    cluster_.undo_to(mark);
    return out;
}

// A node that holds its own tasks is another to it than to jobs like it.
const Survey& Engine::Impl::survey_of(const JobSlot& slot, std::optional<Survey>& own) {
    const Shape& shape = shapes_.at(slot.shape);
    count_own_tasks(slot);
    const Survey& of_shape = surveys_.of(slot.shape, shape, cluster_);
    if (slot.held == 0 || !shape.own_tasks_matter()) return of_shape;
    own = of_shape;
    own->see_own(shape, cluster_, own_tasks_);
    return *own;
}

void Engine::Impl::book_pledges(const JobSlot& slot, int sign) {
    for (const auto& slices : slot.pledge) cluster_.try_book(slices, sign);
    if (!lower_pledges(slot)) return;
    for (const int p : preemptors_)
        if (job(p).pledge_priority < slot.info.priority)
            for (const auto& slices : job(p).pledge) cluster_.try_book(slices, sign);
}

std::int64_t Engine::Impl::fill_up(const JobSlot& slot, const Shape& shape, std::span<const int> ranks,
                                   std::int64_t wanted, std::deque<Slices>& slices, std::int64_t* looks) {
    const bool alone = shape.own_tasks_matter();
    std::int64_t placed = 0;
    for (const int rank : ranks) {
        const int n = cluster_.by_name()[static_cast<std::size_t>(rank)];
        for (auto own = alone ? own_tasks_[static_cast<std::size_t>(n)] : 0; placed < wanted;
             ++own, ++placed) {
            if (looks && --*looks < 0) return -1;
            const Look look(shape, cluster_, n, When::now, own);
            if (!Judge::fits(look)) break;
            slices.push_back(look.slices());
            slices.back().crowd = slot.crowd;
            cluster_.try_book(slices.back(), 1);
        }
        if (placed == wanted) break;
    }
    return placed;
}

void Engine::Impl::explain_dependency(const JobSlot& slot, Why& out) const {
    std::vector<std::string> names = slot.info.spec->after_ok;
    names.insert(names.end(), slot.info.spec->after_any.begin(), slot.info.spec->after_any.end());
    std::int64_t open = 0;
    for (const auto& name : names) {
        if (position_of(name) < 0) continue;  // it ended
        ++open;
        if (out.holders.size() < quota_holders_shown) out.holders.push_back({name, {}, "has to end first"});
    }
    out.binding = "dependency";
    out.summary = "Waits for the jobs it depends on to end.";
    const auto needs = static_cast<double>(std::max<std::int64_t>(open, 1));
    out.requirements.push_back({"dependency", "jobs", needs, 0, needs, {}, 0, true});
}

void Engine::Impl::explain_quota(const JobSlot& slot, const Ceiling& ceiling, Why& out) {
    const auto& row = quota_table()[ceiling.kind];
    const std::string tenant = tenants_.path(ceiling.tenant);
    out.binding = "quota";
    out.summary = "Needs " + row.words(ceiling.asked) + "; tenant " + tenant + " may hold " +
                  row.words(ceiling.cap) + " and holds " + row.words(ceiling.held) + " now.";
    for (auto& requirement : out.requirements) requirement.binding = false;
    out.requirements.push_back({"quota_" + std::string(row.name), std::string(row.name),
                                static_cast<double>(ceiling.asked),
                                static_cast<double>(std::max<std::int64_t>(0, ceiling.cap - ceiling.held)),
                                static_cast<double>(ceiling.cap), tenant, 0, true});
    out.holders.clear();
    for (const auto& [amount, position] : quota_holders(ceiling.tenant, ceiling.kind)) {
        if (position == slot.position) continue;
        if (out.holders.size() == quota_holders_shown) break;
        out.holders.push_back({job(position).info.id, {}, row.words(amount)});
    }
}

// Who of the tenant, and of those below it, holds most of it.
const std::vector<std::pair<std::int64_t, int>>& Engine::Impl::quota_holders(int tenant, std::size_t kind) {
    auto& known = quota_holders_;
    if (known.tenant == tenant && known.kind == kind && known.holdings == holdings_) return known.jobs;
    known = {tenant, kind, holdings_, {}};
    const std::string& path = tenants_.path(tenant);
    for (int t = 0; t < tenants_.count(); ++t) {
        if (t != tenant && !tenants_.path(t).starts_with(path + "/")) continue;
        for (const int position : running_.of(t)) {
            std::int64_t amount = kind == jobs_kind ? 1 : 0;
            for (const auto& task : job(position).tasks)
                if (task.life == TaskSlot::Life::held) amount += amounts_of(task.slices)[kind];
            if (amount > 0) known.jobs.emplace_back(amount, position);
        }
    }
    std::sort(known.jobs.begin(), known.jobs.end(), [&](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : job(a.second).info.id < job(b.second).info.id;
    });
    return known.jobs;
}

// It fits, by what is declared. Which nodes were turned down, and what would happen on the best.
void Engine::Impl::explain_prediction(const JobSlot& slot, const Trace& trace, const Found&, Why& out) const {
    const std::vector<Slices> none;
    for (auto& shown : out.nodes) {
        std::string detail;
        if (!shown.filter.empty() ||
            slices_below(slot.shape, cluster_.find(shown.node),
                         {slot.position, slot.info.profile.get(), &none}, detail, -1))
            continue;
        shown.filter = "predicted_use";
        shown.detail = std::move(detail);
    }
    for (auto& requirement : out.requirements) requirement.binding = false;
    const auto& [nodes, first, detail] = trace.predicted;
    out.holders.clear();
    for (const auto& held : held_on_[static_cast<std::size_t>(first)])
        if (out.holders.size() < quota_holders_shown)
            out.holders.push_back({job(held.job).info.id, cluster_.node(first).name, "runs there"});
    out.rejections.insert(out.rejections.begin(),
                          {"predicted_use", nodes, cluster_.node(first).name, detail});
    out.binding = "predicted_use";
    out.summary = "Would fit, but " + detail;
    if (nodes > 1)
        out.summary += "; " + count_words(nodes - 1, "other candidate likewise", "other candidates likewise");
    out.summary += ".";
}

// There is room, but the plugins of its queue turned down every node that has it.
void Engine::Impl::explain_plugins(const Trace& trace, Why& out) const {
    if (!trace.written) return;
    out.rejections.insert(out.rejections.begin(), trace.written->rejections.begin(),
                          trace.written->rejections.end());
    for (auto& requirement : out.requirements) requirement.binding = false;
    out.holders.clear();
    out.binding = "plugin";
    out.summary = "There is room, but the placement plugins of its queue turned it down";
    if (!trace.written->rejections.empty())
        out.summary += ": " + trace.written->rejections.front().first_node + ": " +
                       trace.written->rejections.front().detail;
    out.summary += ".";
}

std::vector<Preemption> Engine::Impl::would_preempt(const std::string& id, Instant now) {
    std::vector<Preemption> out;
    const int position = position_of(id);
    if (position < 0) return out;
    JobSlot& slot = job(position);
    if (slot.waiting == 0) return out;
    const auto mark = cluster_.mark();
    const Outcome outcome = attempt(slot);
    cluster_.undo_to(mark);
    if (outcome.kind != Outcome::no_room) return out;
    if (const auto set = choose_victims(slot, now, nullptr))
        for (const int v : set->jobs)
            out.push_back({job(v).info.id, slot.info.id, reason_for(slot, *set, job(v))});
    return out;
}

}  // namespace crater::engine
