// A run by name: an order of Crater's engine, or a scheduler to compare with.
#include <algorithm>

#include "crater/base/ids.h"
#include "crater/replay/timed.h"

namespace crater::replay {
namespace {

constexpr std::string_view peer_prefix = "peer:", flat_suffix = "@flat", keep_suffix = "@keep";

bool take_suffix(std::string& name, std::string_view suffix) {
    if (!name.ends_with(suffix)) return false;
    name.resize(name.size() - suffix.size());
    return true;
}

std::string joined(const std::vector<std::string>& names) {
    std::string out;
    for (const auto& name : names) out += (out.empty() ? "" : ", ") + name;
    return out;
}

Result<Order> order_named(const std::string& name) {
    std::vector<std::string> known;
    for (const auto& row : enum_names(Order{})) {
        if (row.name == name) return row.value;
        known.emplace_back(row.name);
    }
    for (const auto& peer : timed_peer_names()) known.push_back(std::string(peer_prefix) + peer);
    const auto close = nearest(name, known);
    return fail(Code::invalid, shown(name) + " is no order; there are " + joined(known), "order",
                close.empty() ? "" : "did you mean '" + close + "'?");
}

// Some are defined on a pool without nodes only.
bool always_flat(const std::string& peer) { return peer == "srtf" || peer == "las2"; }

}  // namespace

Result<TimedFigures> run_named(const std::string& run, const Workload& workload, const TimedOptions& options,
                               const EngineChoice& engine, const Clock& clock, const Progress& progress) {
    std::string name = run;
    if (name.starts_with(peer_prefix)) {
        name.erase(0, peer_prefix.size());
        const bool flat = take_suffix(name, flat_suffix) || always_flat(name);
        Workload pool = workload;
        if (flat) {
            pool.fleet = workload.fleet.flat();
            for (auto& job : pool.jobs) job.cards = job.all_cards(), job.tasks = 1;
        }
        pool.whole_cards = true;  // a part of a card is a card to them
        CRATER_TRY(peer, make_timed_peer(name, pool, options));
        return run_timed(pool, *peer, options, clock, progress);
    }
    EngineChoice choice = engine;
    if (take_suffix(name, keep_suffix)) choice.preempt = false;
    CRATER_TRY(order, order_named(name));
    choice.order = order;
    const auto decider = make_timed_engine(workload, choice, options);
    return run_timed(workload, *decider, options, clock, progress);
}

}  // namespace crater::replay
