// The tasks of a gang near each other: in the tightest rack, spine or node that holds them all, one after the
// other on the best node of it by the policy's own judgement. Required: nowhere else; preferred: one level up
// where no one holds them, and at last anywhere.
#include <algorithm>

#include "engine_impl.h"
#include "filter/filter.h"

namespace crater::engine {
namespace {

std::string area_words(TopologyLevel level, const Area& area) {
    return std::string(name_of(level)) + " " + area.name;
}

int first_held(const JobSlot& slot) {
    for (const auto& task : slot.tasks)
        if (task.life == TaskSlot::Life::held) return task.slices.node;
    return -1;
}

}  // namespace

bool Engine::Impl::fill_near(const JobSlot& slot, std::vector<Slices>& slices, Trace& trace) {
    const Topology& wanted = shapes_.at(slot.shape).topology;
    areas_.refresh(cluster_);
    refresh_bounds(slot.shape);
    for (auto level = wanted.level; level != TopologyLevel::none;
         level = wanted.required ? TopologyLevel::none : Areas::above(level))
        for (const int area : areas_for(slot, level, false)) {
            const auto mark = cluster_.mark();
            if (fill_area(slot, level, area, slices, &trace)) return true;
            give_back(slot, slices, mark);
        }
    if (!has_plugins(slot)) trace = {};  // what these said explains why it waits
    return false;
}

void Engine::Impl::refresh_bounds(int position) {
    const Shape& shape = shapes_.at(position);
    const auto nodes = static_cast<std::size_t>(cluster_.size());
    if (bounds_shape_ != position || bounds_.size() != nodes) bounds_.assign(nodes, {});
    bounds_shape_ = position;
    for (int n = 0; n < cluster_.size(); ++n) {
        Bound& bound = bounds_[static_cast<std::size_t>(n)];
        if (bound.version == cluster_.version(n)) continue;
        bound = {cluster_.version(n), room_bound(shape, cluster_, n)};
        if (bound.tasks > 0 && Judge::standing_filter(Look(shape, cluster_, n)) >= 0) bound.tasks = 0;
    }
}

std::int64_t Engine::Impl::bound(const std::vector<int>& nodes) const {
    std::int64_t tasks = 0;
    for (const int n : nodes) tasks += bounds_[static_cast<std::size_t>(n)].tasks;
    return tasks;
}

// Those that may hold all waiting tasks, the tightest first; `all`: the others too, the roomiest first. A
// gang of which some tasks hold their places keeps to the area of the first of these.
std::vector<int> Engine::Impl::areas_for(const JobSlot& slot, TopologyLevel level, bool all) {
    const int held = first_held(slot);
    const int home = held < 0 ? -1 : areas_.of(level, held);
    std::vector<std::pair<std::int64_t, int>> order;
    const auto& areas = areas_.at(level);
    for (std::size_t a = 0; a < areas.size(); ++a) {
        if (held >= 0 && static_cast<int>(a) != home) continue;
        const auto room = bound(areas[a].nodes);
        if (all || room >= slot.waiting) order.emplace_back(all ? -room : room, static_cast<int>(a));
    }
    std::sort(order.begin(), order.end());
    std::vector<int> out;
    for (const auto& [room, area] : order) out.push_back(area);
    return out;
}

// Under a spine the racks are filled one after the other, the one with most room first, so that few are
// touched.
bool Engine::Impl::fill_area(const JobSlot& slot, TopologyLevel level, int area, std::vector<Slices>& slices,
                             Trace* trace) {
    const Area& wide = areas_.at(level)[static_cast<std::size_t>(area)];
    if (wide.racks.empty()) return fill_nodes(slot, wide.nodes, slices, trace);
    std::vector<std::pair<std::int64_t, int>> order;
    for (const int rack : wide.racks) {
        const auto room = bound(areas_.at(TopologyLevel::rack)[static_cast<std::size_t>(rack)].nodes);
        if (room > 0) order.emplace_back(-room, rack);
    }
    std::sort(order.begin(), order.end());
    for (const auto& [room, rack] : order)
        if (fill_nodes(slot, areas_.at(TopologyLevel::rack)[static_cast<std::size_t>(rack)].nodes, slices,
                       trace))
            return true;
    return fill_nodes(slot, wide.loose, slices, trace);
}

// Books tentatively as many of the waiting tasks as there is room for; true when that is all of them. Without
// a trace only the room counts: no plugin is asked.
bool Engine::Impl::fill_nodes(const JobSlot& slot, const std::vector<int>& nodes, std::vector<Slices>& slices,
                              Trace* trace) {
    const Shape& shape = shapes_.at(slot.shape);
    const auto wanted = static_cast<std::size_t>(slot.waiting);
    const bool alone = shape.own_tasks_matter();
    const auto look_at = [&](int n) {
        return Look(shape, cluster_, n, When::now, alone ? own_tasks_[static_cast<std::size_t>(n)] : 0);
    };
    std::vector<Verdict> verdicts(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i)
        if (bounds_[static_cast<std::size_t>(nodes[i])].tasks > 0 || trace)
            verdicts[i] = judge_.verdict(slot.shape, look_at(nodes[i]));
    looked_ += static_cast<int>(nodes.size());
    if (trace && slices.empty()) {
        *trace = {};
        trace->shape = slot.shape;
        std::vector<std::size_t> order;
        std::array<std::int32_t, 64> lacks{};
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (verdicts[i].fits())
                order.push_back(i);
            else if (verdicts[i].filter != absent)
                ++lacks[verdicts[i].filter];
        }
        std::stable_sort(order.begin(), order.end(),
                         [&](auto a, auto b) { return verdicts[a].level > verdicts[b].level; });
        for (std::size_t i = 0; i < std::min(order.size(), trace->best.size()); ++i)
            trace->best[i] = {nodes[order[i]], verdicts[order[i]].level};
        std::size_t at = 0;
        for (std::size_t f = 0; f < lacks.size() && at < trace->lacks.size(); ++f)
            if (lacks[f] > 0) trace->lacks[at++] = {static_cast<std::int32_t>(f), lacks[f]};
        if (ranking_of(shape.policy) == Ranking::weighted)
            trace->written = std::make_shared<DecisionTrace>(words(*trace));
    }
    const auto best_by_policy = [&] {
        std::size_t best = nodes.size();
        for (std::size_t i = 0; i < nodes.size(); ++i)
            if (verdicts[i].fits() && (best == nodes.size() || verdicts[i].level > verdicts[best].level))
                best = i;
        return best;
    };
    const auto top = [&](std::size_t count) {
        std::vector<Spot> spots;
        for (std::size_t i = 0; i < nodes.size(); ++i)
            if (verdicts[i].fits()) spots.push_back({nodes[i], verdicts[i].level, verdicts[i].card});
        std::stable_sort(spots.begin(), spots.end(),
                         [](const Spot& a, const Spot& b) { return a.level > b.level; });
        if (spots.size() > count) spots.resize(count);
        return spots;
    };
    const bool asks = trace && has_plugins(slot);
    while (slices.size() < wanted) {
        std::size_t best = best_by_policy();
        if (asks && best < nodes.size()) {
            Trace later;  // the record is of the first task
            const Spot spot = ask_plugins(slot, slices, top, slices.empty() ? *trace : later);
            best = static_cast<std::size_t>(std::find(nodes.begin(), nodes.end(), spot ? spot.node : -1) -
                                            nodes.begin());
        }
        if (best == nodes.size()) return false;
        const int n = nodes[best];
        Look look = look_at(n);
        if (verdicts[best].card >= 0) look.take(verdicts[best].card);
        slices.push_back(look.slices());
        slices.back().crowd = slot.crowd;
        if (alone) ++own_tasks_[static_cast<std::size_t>(n)];
        cluster_.try_book(slices.back(), 1);
        verdicts[best] = judge_.verdict(slot.shape, look_at(n));
    }
    return true;
}

void Engine::Impl::give_back(const JobSlot& slot, std::vector<Slices>& slices, std::size_t mark) {
    if (shapes_.at(slot.shape).own_tasks_matter())
        for (const auto& part : slices) --own_tasks_[static_cast<std::size_t>(part.node)];
    cluster_.undo_to(mark);
    slices.clear();
}

// "No rack holds all 8 tasks: the best, rack r3, has room for 6." Only where that is what it waits for: with
// room for none, what the nodes lack says more.
bool Engine::Impl::explain_topology(const JobSlot& slot, Why& out) {
    const Shape& shape = shapes_.at(slot.shape);
    if (!shape.topology.required) return false;
    const auto level = shape.topology.level;
    const std::string kind(name_of(level));
    const auto bind = [&](std::string summary, std::size_t best, std::string where) {
        out.binding = "topology";
        out.summary = std::move(summary);
        out.holders.clear();
        for (auto& requirement : out.requirements) requirement.binding = false;
        out.requirements.push_back({"topology", "tasks", static_cast<double>(slot.waiting),
                                    static_cast<double>(best), static_cast<double>(slot.waiting),
                                    std::move(where), 0, true});
        return true;
    };
    areas_.refresh(cluster_);
    refresh_bounds(slot.shape);
    const auto areas = areas_for(slot, level, true);
    if (areas.empty() && areas_.at(level).empty())
        return bind(
            "No node says in which " + kind + " it stands (label " + std::string(Areas::label(level)) + ").",
            0, {});
    count_own_tasks(slot);
    std::size_t most = 0;
    int where = -1;
    for (const int area : areas) {
        // the others have no more
        if (bound(areas_.at(level)[static_cast<std::size_t>(area)].nodes) <= static_cast<std::int64_t>(most))
            break;
        const auto mark = cluster_.mark();
        std::vector<Slices> slices;
        slices.reserve(static_cast<std::size_t>(slot.waiting));
        fill_area(slot, level, area, slices, nullptr);
        if (slices.size() > most) most = slices.size(), where = area;
        give_back(slot, slices, mark);
    }
    if ((where < 0 && slot.held == 0) || most >= static_cast<std::size_t>(slot.waiting)) return false;
    const auto tasks = count_words(slot.waiting, "task", "tasks");
    if (slot.held > 0) {
        const int home = areas_.of(level, first_held(slot));
        if (home < 0) return false;
        const auto words = area_words(level, areas_.at(level)[static_cast<std::size_t>(home)]);
        return bind("Its other tasks stand in " + words + ", which has room for " + std::to_string(most) +
                        " of " + count_words(slot.waiting, "waiting task.", "waiting tasks."),
                    most, areas_.at(level)[static_cast<std::size_t>(home)].name);
    }
    const Area& best = areas_.at(level)[static_cast<std::size_t>(where)];
    return bind("No " + kind + " holds all " + tasks + ": the best, " + area_words(level, best) +
                    ", has room for " + std::to_string(most) + ".",
                most, best.name);
}

Result<void> Engine::Impl::check_topology(const JobSpec& spec, const Shape& shape) {
    const auto level = shape.topology.level;
    if (!shape.topology.required || level == TopologyLevel::none) return {};
    areas_.refresh(cluster_);
    const std::string kind(name_of(level));
    if (areas_.at(level).empty())
        return fail(
            Code::unsatisfiable, "no node says in which " + kind + " it stands", "topology.level",
            "label the nodes with " + std::string(Areas::label(level)) + ", or leave topology.required out");
    std::int64_t most = -1;
    const Area* best = nullptr;
    for (const Area& area : areas_.at(level)) {
        const auto holds = empty_nodes_hold(shape, area.nodes, spec.tasks);
        if (holds > most) most = holds, best = &area;
        if (most >= spec.tasks) return {};
    }
    return fail(Code::unsatisfiable,
                "no " + kind + " could hold its " + std::to_string(spec.tasks) +
                    " tasks even when empty; the largest, " + area_words(level, *best) + ", holds " +
                    std::to_string(most),
                "topology.level", "fewer or smaller tasks, a wider level, or topology.required: false");
}

}  // namespace crater::engine
