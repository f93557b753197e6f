// Who gives way for a gang, or for tasks of a job that may go to several nodes.
#include <algorithm>

#include "engine_impl.h"
#include "preempt/gang_victims.h"

namespace crater::engine {
namespace {

constexpr std::size_t trials_most = 64;

}  // namespace

GangVictims::Victim Engine::Impl::victim_figures(int v) const {
    GangVictims::Victim out{
        v, job(v).info.priority, able_.cost[static_cast<std::size_t>(v)], {INT64_MAX}, {}};
    for (const auto& task : job(v).tasks)
        if (task.life == TaskSlot::Life::held) out.started = std::min(out.started, task.started);
    return out;
}

// How many more tasks of the shape a node holds; `most` are enough.
std::int64_t Engine::Impl::room_for(const Shape& shape, int crowd, int n, std::int64_t most) {
    const bool alone = shape.own_tasks_matter();
    const auto mark = cluster_.mark();
    std::int64_t count = 0;
    std::vector<Slices> taken;
    taken.reserve(static_cast<std::size_t>(most));  // booked by address
    for (; count < most; ++count) {
        ++looked_;
        const Look look(shape, cluster_, n, When::now,
                        alone ? own_tasks_[static_cast<std::size_t>(n)] + count : 0);
        if (!Judge::fits(look)) break;
        taken.push_back(look.slices());
        taken.back().crowd = crowd;
        cluster_.try_book(taken.back(), 1);
    }
    cluster_.undo_to(mark);
    return count;
}

std::optional<Engine::Impl::VictimSet> Engine::Impl::victims_of_gang(JobSlot& preemptor) {
    for (const int v : stopping_) without(job(v));
    VictimSet set;
    const auto enough = [&](const std::vector<int>& jobs) {
        const auto mark = cluster_.mark();
        for (const int v : jobs) without(job(v));
        Outcome outcome = fill(preemptor, Foresight::none);
        cluster_.undo_to(mark);
        if (outcome.kind != Outcome::placed) return false;
        set.plan = std::move(outcome.slices);
        return true;
    };
    if (!stopping_.empty() && enough({})) return set;
    std::vector<int> able;
    for (const int v : able_.jobs)
        if (gives_way(v)) able.push_back(v);
    if (const auto lacking = cards_lacking(preemptor); lacking > 0) {
        auto jobs = least_by_cards(able, lacking);
        if (!jobs) return std::nullopt;
        set.jobs = *std::move(jobs);
        if (enough(set.jobs)) return set_figures(set), set;
        // Cards are not all that it lacks.
    }
    auto jobs = least_for_gang(preemptor, able);
    if (!jobs) return std::nullopt;
    set.jobs = *std::move(jobs);
    if (!enough(set.jobs)) {
        // What its tasks share on a node came out otherwise than counted: by trial, the cheapest first.
        set.jobs.clear();
        for (const int v : able) {
            set.jobs.push_back(v);
            if (set.jobs.size() > trials_most || enough(set.jobs)) break;
        }
        if (!enough(set.jobs)) return std::nullopt;
        for (auto i = set.jobs.size(); i-- > 0 && set.jobs.size() > 1;) {
            std::vector<int> rest = set.jobs;
            rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
            if (enough(rest)) set.jobs = std::move(rest);
        }
        enough(set.jobs);
    }
    set_figures(set);
    return set;
}

// For tasks of one whole card each that may go anywhere, what makes room adds up, whatever the node: how many
// cards have to become free. 0: that is not the question.
std::int64_t Engine::Impl::cards_lacking(const JobSlot& preemptor) const {
    const Shape& shape = shapes_.at(preemptor.shape);
    if (shape.cards != 1 || shape.topology.required || shape.own_tasks_matter()) return 0;
    for (int t = 0; t < cluster_.type_count(); ++t)
        if (const CardNeed& need = shape.need(cluster_, t); need.fails == CardNeed::nothing && !need.whole)
            return 0;
    std::int64_t out = preemptor.waiting;
    for (const int n : able_.nodes) {
        if (cluster_.node(n).mixed) return 0;  // a card that is cut into instances may serve several
        out -= idle_cards(n);
    }
    return std::max<std::int64_t>(0, out);
}

// Who leaves so that there are cards enough. No set with fewer is enough, so that of those that are this is
// the best.
std::optional<std::vector<int>> Engine::Impl::least_by_cards(const std::vector<int>& able,
                                                             std::int64_t lacking) const {
    std::vector<Leaver> leavers;
    for (const int v : able) leavers.push_back(leaver(v, -1));
    return cheapest_cover(std::move(leavers), lacking);
}

std::int64_t Engine::Impl::idle_cards(int n) const {
    const Node& node = cluster_.node(n);
    std::int64_t out = 0;
    for (std::size_t c = 0; c < node.cards.size(); ++c)
        out += (node.usable >> c & 1) &&
               cluster_.used().cards[static_cast<std::size_t>(node.cards_at) + c].tasks == 0;
    return out;
}

// Who leaves so that the nodes hold all of its waiting tasks; where it has to stay together, those of one
// area.
std::optional<std::vector<int>> Engine::Impl::least_for_gang(JobSlot& preemptor,
                                                             const std::vector<int>& able) {
    const Shape& shape = shapes_.at(preemptor.shape);
    const std::int64_t wanted = preemptor.waiting;
    const bool by_area = shape.near() && shape.topology.required;
    const auto level = shape.topology.level;
    if (by_area) areas_.refresh(cluster_);
    count_own_tasks(preemptor);
    GangVictims search([&](int n, const std::vector<int>& jobs) {
        const auto mark = cluster_.mark();
        for (const int v : jobs) without(job(v), n);
        const auto room = room_for(shape, preemptor.crowd, n, wanted);
        cluster_.undo_to(mark);
        return room;
    });
    std::vector<int> site_of(static_cast<std::size_t>(cluster_.size()), -1);
    for (const int n : cluster_.by_name()) {
        if (!cluster_.node(n).takes_work() || Judge::fixed_filter(Look(shape, cluster_, n)) >= 0) continue;
        const int area = by_area ? areas_.of(level, n) : -1;
        if (by_area && area < 0) continue;
        const auto room = room_for(shape, preemptor.crowd, n, wanted);
        if (room == 0 && able_.on_node[static_cast<std::size_t>(n)].empty()) continue;
        site_of[static_cast<std::size_t>(n)] = search.sites();
        search.add_site(n, area, room);
    }
    for (const int v : able) {
        std::vector<int> sites;
        for (const auto& task : job(v).tasks)
            if (task.life == TaskSlot::Life::held)
                sites.push_back(site_of[static_cast<std::size_t>(task.slices.node)]);
        std::sort(sites.begin(), sites.end());
        sites.erase(std::unique(sites.begin(), sites.end()), sites.end());
        if (!sites.empty() && sites.front() < 0) sites.erase(sites.begin());
        if (!sites.empty()) search.add_victim(victim_figures(v), sites);
    }
    int home = -1;
    for (const auto& task : preemptor.tasks)
        if (by_area && home < 0 && task.life == TaskSlot::Life::held)
            home = areas_.of(level, task.slices.node);
    return search.search(wanted, by_area, home);
}

}  // namespace crater::engine
