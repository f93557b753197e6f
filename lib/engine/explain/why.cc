// Why a job waits, in one sentence and in detail.
#include <algorithm>
#include <array>
#include <tuple>

#include "engine_impl.h"

namespace crater::engine {
namespace {

constexpr std::size_t nodes_shown = 1000, holders_shown = 10;

}  // namespace

Result<Why> Engine::Impl::why(const std::string& id, Instant now) {
    const int position = position_of(id);
    if (position < 0) return fail(Code::not_found, "there is no job " + id, "job");
    JobSlot& slot = job(position);
    Why out;
    if (slot.info.blocked) {
        out.binding = "dependency";
        out.summary = "Waits for the jobs it depends on to end.";
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
    advance(now);
    refresh_shares(slot.queue);
    std::tie(out.rank, out.queue_length) = backlog_.rank(slot.queue, *slot.in_class, slot.place);

    const auto mark = cluster_.mark();
    Outcome outcome = attempt(slot);
    cluster_.undo_to(mark);
    if (outcome.kind == Outcome::over_quota) {
        explain_quota(slot, outcome.ceiling, out);
        return out;
    }
    for (const auto& slices : slot.pledge) cluster_.try_book(slices, -1);
    explain_nodes(slot, out);
    if (outcome.kind == Outcome::no_room) explain_topology(slot, out);
    cluster_.undo_to(mark);
    if (outcome.kind == Outcome::predicted) explain_prediction(slot, outcome.trace, out);
    if (outcome.kind == Outcome::placed && !reserve_allows(slot, outcome.slices)) {
        out.binding = "reserve";
        out.summary = "Fits now, on cards that queues keep for their own jobs (reserved_gpu); these are lent to preemptible jobs only.";
    } else if (outcome.kind == Outcome::placed) {
        out.binding = "order";
        const auto ahead = out.rank - 1;
        out.summary = ahead > 0 ? "Fits now; " + count_words(ahead, "job is", "jobs are") +
                                      " ahead of it in queue " + slot.info.queue + "."
                                : "Fits now and starts with the next decision.";
    } else if (!slot.victims.empty()) {
        out.binding = "preemption";
        out.summary = "Waits for " +
                      count_words(static_cast<std::int64_t>(slot.victims.size()), "job", "jobs") +
                      " to stop; what they free is kept for it.";
        for (const int v : slot.victims) out.holders.push_back({job(v).info.id, {}, "is stopping"});
    }
    return out;
}

void Engine::Impl::explain_quota(const JobSlot& slot, const Ceiling& ceiling, Why& out) {
    const auto& row = quota_table()[ceiling.kind];
    const std::string tenant = tenants_.path(ceiling.tenant);
    out.binding = "quota";
    out.summary = "Needs " + row.words(ceiling.asked) + "; tenant " + tenant + " may hold " +
                  row.words(ceiling.cap) + " and holds " + row.words(ceiling.held) + " now.";
    out.requirements.push_back({"quota_" + std::string(row.name), std::string(row.name),
                                static_cast<double>(ceiling.asked),
                                static_cast<double>(std::max<std::int64_t>(0, ceiling.cap - ceiling.held)),
                                static_cast<double>(ceiling.cap), tenant, 0, true});
    // Who of the tenant holds most of it.
    std::vector<std::pair<std::int64_t, const JobSlot*>> holders;
    for (const auto& other : jobs_) {
        if (!other || other->held == 0 || other->position == slot.position) continue;
        const auto& path = other->info.tenant;
        if (path != tenant && !path.starts_with(tenant + "/")) continue;
        std::int64_t amount = ceiling.kind == jobs_kind ? 1 : 0;
        for (const auto& task : other->tasks)
            if (task.life == TaskSlot::Life::held) amount += amounts_of(task.slices)[ceiling.kind];
        if (amount > 0) holders.emplace_back(amount, other.get());
    }
    std::sort(holders.begin(), holders.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second->info.id < b.second->info.id;
    });
    for (std::size_t i = 0; i < std::min(holders_shown, holders.size()); ++i)
        out.holders.push_back({holders[i].second->info.id, {}, row.words(holders[i].first)});
}

void Engine::Impl::explain_nodes(const JobSlot& slot, Why& out) {
    const Shape& shape = shapes_.at(slot.shape);
    const auto filters = filter::table();
    count_own_tasks(slot);
    Column view;
    view.refresh(slot.shape, judge_, shape.own_tasks_matter() ? &own_tasks_ : nullptr);
    const auto look_at = [&](int n) {
        return Look(shape, cluster_, n, When::now, own_tasks_[static_cast<std::size_t>(n)]);
    };
    struct Tally {
        std::int64_t nodes = 0;
        int first = -1;
    };
    std::array<Tally, 64> tallies{};
    std::int64_t fitting = 0, right_kind = 0, present = 0;
    for (std::size_t rank = 0; rank < view.size(); ++rank) {
        const int n = cluster_.by_name()[rank];
        const Verdict verdict = view.at(static_cast<int>(rank));
        if (!verdict.fits() && verdict.filter == absent) continue;
        ++present;
        right_kind += view.right_kind(static_cast<int>(rank));
        fitting += verdict.fits();
        NodeVerdict shown{cluster_.node(n).name, {}, {}};
        if (!verdict.fits()) {
            Tally& tally = tallies[verdict.filter];
            if (tally.nodes++ == 0) tally.first = n;
            shown.filter = filters[verdict.filter]->name;
            if (out.nodes.size() < nodes_shown) shown.detail = filters[verdict.filter]->says(look_at(n));
        }
        if (out.nodes.size() < nodes_shown) out.nodes.push_back(std::move(shown));
    }
    // What binds is what the nodes of the right kind lack; only where there are none, the kind itself.
    std::size_t binding = filters.size();
    for (const bool of_right_kind : {true, false}) {
        for (const auto f : filter::in_order()) {
            if (tallies[f].nodes == 0 || (filters[f]->kind != filter::Kind::fixed) != of_right_kind) continue;
            if (binding == filters.size() || tallies[f].nodes > tallies[binding].nodes) binding = f;
        }
        if (binding < filters.size()) break;
    }
    for (std::size_t f = 0; f < filters.size(); ++f) {
        if (tallies[f].nodes == 0) continue;
        const Look look = look_at(tallies[f].first);
        out.rejections.push_back(
            {std::string(filters[f]->name), tallies[f].nodes, look.node.name, filters[f]->says(look)});
    }
    std::stable_sort(out.rejections.begin(), out.rejections.end(),
                     [](const auto& a, const auto& b) { return a.nodes > b.nodes; });
    add_requirements(shape, view, out);

    if (present == 0) {
        out.binding = "node_state";
        out.summary = "No node has registered yet.";
        return;
    }
    if (binding == filters.size()) return;
    const auto& row = *filters[binding];
    out.binding = row.name;
    for (auto& requirement : out.requirements) requirement.binding = requirement.name == row.name;
    out.summary = sentence(shape, row, fitting, right_kind, slot.waiting, out);
    add_holders(slot, out.binding, view, out);
}

// "Needs a card with 16 GiB free; the 4 nodes of its kind have at most 10 GiB free on one card."
std::string Engine::Impl::sentence(const Shape& shape, const filter::Filter& row, std::int64_t fitting,
                                   std::int64_t right_kind, int tasks, const Why& facts) const {
    const Requirement* bar = nullptr;
    for (const auto& requirement : facts.requirements)
        if (requirement.binding) bar = &requirement;
    const std::string kind = right_kind == 1
                                 ? "the 1 node of its kind has"
                                 : "the " + std::to_string(right_kind) + " nodes of its kind have";
    const auto whole = [](double v) { return static_cast<std::int64_t>(v); };
    if (fitting > 0 && tasks > 1)
        return "Its " + std::to_string(tasks) + " tasks start together; " +
               count_words(fitting, "node has", "nodes have") +
               " room now, but not for all of them. Short of: " + std::string(row.help);
    std::string what;
    if (bar && row.kind != filter::Kind::fixed) {
        const auto needs = whole(bar->needs), has = whole(bar->best_has);
        if (row.name == "gpu_memory")
            what = (shape.cards == 1 ? "a card with " : std::to_string(shape.cards) + " cards with ") +
                   mib_words(needs) + " free; " + kind + " at most " + mib_words(has) + " free on one card";
        else if (row.name == "gpu_count")
            what = count_words(needs, "whole card", "whole cards") + " on one node; " + kind + " at most " +
                   std::to_string(has) + " free on one";
        else if (row.name == "cpu")
            what = core_words(whole(bar->needs * 1000 + 0.5)) + " on one node; " + kind + " at most " +
                   core_words(whole(bar->best_has * 1000 + 0.5)) + " free";
        else if (bar->unit == "bytes")
            what = bytes_words(needs) + " of " + (row.name == "memory" ? "memory" : "disk space") +
                   " on one node; " + kind + " at most " + bytes_words(has) + " free";
        else if (bar->unit == "bytes/s")
            what = rate_words(needs) + " of " + (row.name == "disk_bandwidth" ? "disk" : "memory") +
                   " bandwidth; " + kind + " at most " + rate_words(has) + " free";
        else if (bar->unit == "IOPS")
            what = std::to_string(needs) + " IOPS on one disk; " + kind + " at most " + std::to_string(has) +
                   " free";
    }
    if (!what.empty()) return "Needs " + what + ".";
    for (const auto& rejection : facts.rejections)
        if (rejection.filter == row.name) {
            std::string text = rejection.first_node + ": " + rejection.detail;
            if (rejection.nodes > 1)
                text +=
                    "; " + count_words(rejection.nodes - 1, "other node likewise", "other nodes likewise");
            return text + ".";
        }
    return std::string(row.help);
}

// For each amount asked for, the node that has most of it free.
void Engine::Impl::add_requirements(const Shape& shape, const Column& view, Why& out) const {
    struct Bar {
        const filter::Filter* row;
        Requirement best;
    };
    std::vector<Bar> bars;
    for (const auto position : filter::in_order()) {
        const auto& row = filter::at(position);
        if (!(shape.asked >> position & 1) || !row.measure) continue;
        // A card is asked for whole or by its memory; the other bar would say nothing.
        if (row.name == "gpu_count" && shape.gpu_memory > 0 && !shape.gpu_exclusive) continue;
        if (row.name == "gpu_memory" && shape.gpu_memory == 0 && shape.part == 1000) continue;
        bars.push_back({&row, {std::string(row.name), {}, 0, -1, 0, {}, 0, false}});
    }
    for (std::size_t rank = 0; rank < view.size(); ++rank) {
        const int n = cluster_.by_name()[rank];
        if (!cluster_.node(n).present) continue;
        const bool right = view.right_kind(static_cast<int>(rank));
        const Look look(shape, cluster_, n);
        for (auto& [row, best] : bars) {
            if (!row->passes(look)) ++best.nodes_short;
            if (!right && row->kind != filter::Kind::fixed) continue;
            const auto measure = row->measure(look);
            best.unit = measure.unit;
            best.needs = std::max(best.needs, measure.needs);
            if (measure.has > best.best_has)
                best.best_has = measure.has, best.best_total = measure.total, best.best_node = look.node.name;
        }
    }
    for (auto& bar : bars)
        if (bar.best.best_has >= 0) out.requirements.push_back(std::move(bar.best));
}

namespace {

// How much of what is missing the slices hold, and in words.
struct Share {
    std::int64_t amount = 0;
    std::string (*words)(const Node&, const Slices&) = nullptr;
};
std::string words_of_cards(const Node& node, const Slices& s) {
    const auto whole =
        std::count_if(s.cards.begin(), s.cards.end(), [](const auto& c) { return c.exclusive; });
    if (whole > 0 || s.cards.empty()) return count_words(whole, "card", "cards");
    return mib_words(s.cards.front().memory) + " on card " +
           std::to_string(node.cards[static_cast<std::size_t>(s.cards.front().card)].index);
}
Share share_of(const Slices& s, std::string_view missing) {
    if (missing.starts_with("gpu")) {
        std::int64_t memory = 0;
        for (const auto& slice : s.cards) memory += slice.memory;
        return {memory, words_of_cards};
    }
    if (missing == "cpu") return {s.cpu, [](const Node&, const Slices& x) { return core_words(x.cpu); }};
    if (missing == "memory")
        return {s.memory, [](const Node&, const Slices& x) { return bytes_words(x.memory) + " of memory"; }};
    if (missing == "memory_bandwidth")
        return {s.bandwidth, [](const Node&, const Slices& x) { return rate_words(x.bandwidth); }};
    if (missing == "disk_space")
        return {s.disk_size,
                [](const Node&, const Slices& x) { return bytes_words(x.disk_size) + " of disk"; }};
    if (missing == "disk_iops")
        return {s.disk_iops,
                [](const Node&, const Slices& x) { return std::to_string(x.disk_iops) + " IOPS"; }};
    if (missing == "disk_bandwidth")
        return {s.disk_bandwidth, [](const Node&, const Slices& x) { return rate_words(x.disk_bandwidth); }};
    if (missing == "node_exclusive")
        return {1, [](const Node&, const Slices& x) {
                    return std::string(x.node_exclusive ? "the whole node" : "a task");
                }};
    return {};
}

}  // namespace

void Engine::Impl::add_holders(const JobSlot& slot, const std::string& binding, const Column& view,
                               Why& out) const {
    struct Row {
        Share share;
        const JobSlot* holder;
        const Slices* slices;
    };
    std::vector<Row> rows;
    for (std::size_t rank = 0; rank < view.size(); ++rank) {
        if (!view.right_kind(static_cast<int>(rank))) continue;
        for (const auto& held : held_on_[static_cast<std::size_t>(cluster_.by_name()[rank])]) {
            const Slices& slices = job(held.job).tasks[static_cast<std::size_t>(held.task)].slices;
            const Share share = share_of(slices, binding);
            if (held.job != slot.position && share.amount > 0)
                rows.push_back({share, &job(held.job), &slices});
        }
    }
    const auto shown = std::min(holders_shown, rows.size());
    std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(shown), rows.end(),
                      [&](const Row& a, const Row& b) {
                          if (a.share.amount != b.share.amount) return a.share.amount > b.share.amount;
                          if (a.holder != b.holder) return a.holder->info.id < b.holder->info.id;
                          return cluster_.rank(a.slices->node) < cluster_.rank(b.slices->node);
                      });
    for (std::size_t i = 0; i < shown; ++i) {
        const Node& node = cluster_.node(rows[i].slices->node);
        out.holders.push_back(
            {rows[i].holder->info.id, node.name, rows[i].share.words(node, *rows[i].slices)});
    }
}

// It fits, by what is declared. Which nodes were turned down, and what would happen on the best.
void Engine::Impl::explain_prediction(const JobSlot& slot, const Trace& trace, Why& out) const {
    const std::vector<Slices> none;
    for (auto& shown : out.nodes) {
        std::string detail;
        if (!shown.filter.empty() || slices_below(slot.shape, cluster_.find(shown.node), {slot.position, slot.info.profile.get(), &none}, detail, -1))
            continue;
        shown.filter = "predicted_use";
        shown.detail = std::move(detail);
    }
    for (auto& requirement : out.requirements) requirement.binding = false;
    const auto& [nodes, first, detail] = trace.predicted;
    out.holders.clear();
    out.rejections.insert(out.rejections.begin(), {"predicted_use", nodes, cluster_.node(first).name, detail});
    out.binding = "predicted_use";
    out.summary = "Would fit, but " + detail;
    if (nodes > 1) out.summary += "; " + count_words(nodes - 1, "other candidate likewise", "other candidates likewise");
    out.summary += ".";
}

DecisionTrace Engine::Impl::would_place(const EngineJob& request, Instant now) {
    CRATER_CHECK(request.spec != nullptr, "a job has a spec");
    advance(now);
    const int q = backlog_.find(request.queue);
    // A queue that is not there yet would be one of the defaults; what has not learned anything yet decides like best fit.
    const Policy wanted = q < 0 ? QueueSpec{}.policy : backlog_.queue(q).spec.policy;
    const bool blank = kind_of(wanted) == Kind::learned && !pricing_.knows(wanted);
    JobSlot slot;
    slot.crowd = cluster_.crowds().take(*request.spec);
    slot.shape = shapes_.take(make_shape(*request.spec, blank ? Policy::best_fit : wanted, cluster_,
                                         {slot.crowd, cluster_.maintained(), q < 0 ? 0 : queue_overcommit(q)}));
    slot.waiting = static_cast<int>(request.spec->tasks);
    const int position = slot.shape;
    const Shape& shape = shapes_.at(position);
    Column view;
    view.refresh(position, judge_);
    const bool foresees = predicts() && !shape.node.exclusive;
    Trace trace = take_down(position, view);
    // The tasks of a gang go one after the other; without room for the last there is no candidate.
    const auto mark = cluster_.mark();
    std::vector<Slices> slices;
    slices.reserve(static_cast<std::size_t>(std::max<std::int64_t>(0, request.spec->tasks)));
    own_tasks_.assign(static_cast<std::size_t>(cluster_.size()), 0);
    Trace near;
    bool whole = true;
    // As a decision would: of the best, the first that would stay below the watermark.
    const auto place = [&](Trace& among) -> std::optional<Slices> {
        const int best = view.best();
        if (best < 0) return std::nullopt;
        int looked = 0;
        if (foresees) return screened(position, {-1, request.profile.get(), &slices}, among, view.at(cluster_.rank(best)).card, looked);
        return Look(shape, cluster_, best, When::now, own_tasks_[static_cast<std::size_t>(best)]).slices();
    };
    std::optional<DecisionTrace> out;
    if (shape.near() && fill_near(slot, slices, near))
        out = words(near);
    else if (shape.near())
        whole = !shape.topology.required;
    for (auto i = static_cast<std::int64_t>(slices.size()); i < request.spec->tasks && whole; ++i) {
        view.refresh(position, judge_, &own_tasks_);
        if (i > 0 && foresees) trace = take_down(position, view);
        auto found = place(trace);
        if (!out) out = words(trace);
        if (!(whole = found.has_value())) break;
        slices.push_back(std::move(*found));
        slices.back().crowd = slot.crowd;
        ++own_tasks_[static_cast<std::size_t>(slices.back().node)];
        cluster_.try_book(slices.back(), 1);
    }
    cluster_.undo_to(mark);
    shapes_.drop(position);
    if (!out) out = words(trace);
    cluster_.crowds().drop(slot.crowd);
    if (!whole) out->candidates.clear();
    return std::move(*out);
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
