// Admission: what the request leaves open is filled and rounded, and what could never start is refused with
// the shortfall in words.
#include <algorithm>

#include "admit/fill.h"
#include "engine_impl.h"
#include "explain/data_words.h"

namespace crater::engine {
namespace {

// The filter that turned the last nodes away, asked of the empty cluster condition by condition.
struct Shortfall {
    std::size_t filter = 0;
    std::string detail;
};

bool never_asked(const filter::Filter& row) {
    return row.kind == filter::Kind::state || row.kind == filter::Kind::live;
}

Shortfall shortfall_of(const Shape& shape, const Cluster& cluster) {
    std::vector<int> left;
    for (const int n : cluster.by_name())
        if (cluster.node(n).present) left.push_back(n);
    for (const auto position : filter::in_order()) {
        const auto& row = filter::at(position);
        if (!(shape.asked >> position & 1) || never_asked(row)) continue;
        std::vector<int> next;
        for (const int n : left)
            if (row.passes(Look(shape, cluster, n, When::empty))) next.push_back(n);
        if (!next.empty()) {
            left = std::move(next);
            continue;
        }
        // Told about the node that comes closest.
        int closest = left.front();
        double most = -1;
        for (const int n : left)
            if (row.measure)
                if (const double total = row.measure(Look(shape, cluster, n, When::empty)).total;
                    total > most)
                    most = total, closest = n;
        const std::string of = left.size() == 1 ? ""
                                                : " of " + std::to_string(left.size()) + " nodes " +
                                                      cluster.node(closest).name + " comes closest:";
        return {position, (left.size() == 1 ? cluster.node(closest).name : of.substr(1)) + " " +
                              row.says(Look(shape, cluster, closest, When::empty))};
    }
    return {};
}

bool fits_empty(const Shape& shape, const Cluster& cluster, int n, std::int64_t own_tasks = 0) {
    if (!cluster.node(n).present) return false;
    const Look look(shape, cluster, n, When::empty, own_tasks);
    for (const auto position : filter::in_order()) {
        const auto& row = filter::at(position);
        if ((shape.asked >> position & 1) && !never_asked(row) && !row.passes(look)) return false;
    }
    return true;
}

}  // namespace

// How many of `wanted` equal tasks the nodes could hold if they were empty.
std::int64_t Engine::Impl::empty_nodes_hold(const Shape& shape, const std::vector<int>& nodes,
                                            std::int64_t wanted) {
    std::int64_t held = 0;
    for (const int n : nodes) {
        std::vector<Slices> booked;
        while (held < wanted && fits_empty(shape, cluster_, n, static_cast<std::int64_t>(booked.size()))) {
            booked.push_back(
                Look(shape, cluster_, n, When::empty, static_cast<std::int64_t>(booked.size())).slices());
            cluster_.book_empty(booked.back(), 1);
            ++held;
        }
        for (const auto& slices : booked) cluster_.book_empty(slices, -1);
        if (held == wanted) break;
    }
    return held;
}

Result<Engine::Admitted> Engine::Impl::admit(EngineJob request) {
    CRATER_CHECK(request.spec != nullptr, "a job has a spec");
    auto spec = std::make_shared<JobSpec>(*request.spec);
    spec->type = infer_type(*spec);
    Admitted out;
    const bool any = std::any_of(cluster_.by_name().begin(), cluster_.by_name().end(),
                                 [&](int n) { return cluster_.node(n).present; });
    if (!any)
        return fail(Code::unsatisfiable, "no node has registered yet", "",
                    "start crater-agent on a server, then submit again");

    fill_request(*spec, request.profile.get(), cluster_, out.notes);
    // Who else is there does not matter on an empty cluster.
    const Shape shape = shape_of(*spec, request.queue, -1);

    const auto& order = cluster_.by_name();
    const bool fits =
        std::any_of(order.begin(), order.end(), [&](int n) { return fits_empty(shape, cluster_, n); });
    if (!fits) {
        const auto shortfall = shortfall_of(shape, cluster_);
        const auto& row = filter::at(shortfall.filter);
        const std::string text = "no node could hold a task of it even when empty; " + shortfall.detail;
        const bool scale_out = row.name == "gpu_inference_part";
        return fail(
            Code::unsatisfiable, scale_out ? "scale out instead: " + text : text, std::string(row.field),
            scale_out ? "more replicas with a smaller part each, or a whole card (exclusive: true)" : "");
    }
    if (spec->tasks > 1) {
        const auto held = empty_nodes_hold(shape, order, spec->tasks);
        if (held < spec->tasks)
            return fail(Code::unsatisfiable,
                        "its " + std::to_string(spec->tasks) +
                            " tasks start together, and the whole cluster, when empty, holds " +
                            std::to_string(held),
                        "tasks", "fewer tasks, or smaller ones");
        CRATER_TRY_VOID(check_topology(*spec, shape));
    }
    Amounts amounts = least_amounts(shape);
    for (auto& amount : amounts) amount = saturating_product(amount, spec->tasks);
    amounts[jobs_kind] = 1;
    if (const int tenant = tenants_.nearest(request.tenant); tenant >= 0)
        if (const auto ceiling = tenants_.over(tenant, amounts, true)) {
            const auto& row = quota_table()[ceiling.kind];
            return fail(Code::unsatisfiable,
                        "asks for " + row.words(ceiling.asked) + ", tenant " + tenants_.path(ceiling.tenant) +
                            " may hold at most " + row.words(ceiling.cap),
                        std::string(row.field), "ask for less, or have the quota raised");
        }
    // Caches fill and empty while jobs wait, so that this is no reason to refuse it.
    const auto has_data = [&](int n) {
        return cluster_.node(n).present && shape.data->all_in(cluster_.node(n).data);
    };
    if (shape.data && shape.data->required && std::none_of(order.begin(), order.end(), has_data))
        out.notes.push_back("it waits until some node has all of its data in its cache: " +
                            cached_where_words(*shape.data, cluster_));
    request.spec = std::move(spec);
    out.job = std::move(request);
    return out;
}

}  // namespace crater::engine
