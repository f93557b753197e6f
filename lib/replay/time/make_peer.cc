// Schedulers to compare with, by name.
#include "crater/base/ids.h"
#include "peers.h"

namespace crater::replay {
namespace {

struct Row {
    std::string_view name;
    PeerRules rules;
};
constexpr Row rows[] = {
    {"fifo", {PeerOrder::arrival, Passing::nobody}},
    {"easy", {PeerOrder::arrival, Passing::easy}},
    {"sjf", {PeerOrder::shortest, Passing::easy}},
    {"sjf_aged", {PeerOrder::shortest, Passing::easy, false, Fit::tightest, Millis(200 * 3'600'000LL)}},
    {"srtf", {PeerOrder::remaining, Passing::anybody, true}},
    {"las2", {PeerOrder::two_queues, Passing::anybody, true}},
    {"whole_card", {PeerOrder::arrival, Passing::anybody, false, Fit::first}},
};

}  // namespace

std::vector<std::string> timed_peer_names() {
    std::vector<std::string> out;
    for (const auto& row : rows) out.emplace_back(row.name);
    return out;
}

Result<std::unique_ptr<TimedDecider>> make_timed_peer(const std::string& name, const Workload& workload,
                                                      const TimedOptions& options) {
    for (const auto& row : rows) {
        if (row.name != name) continue;
        if (row.rules.preempts && workload.fleet.nodes > 1)
            return fail(Code::invalid, shown(name) + " is measured on a pool without nodes", "order",
                        "peer:" + name + "@flat");
        return std::make_unique<TimedPeer>(workload, row.rules, options.resume_cost);
    }
    std::string all;
    for (const auto& row : rows) all += (all.empty() ? "" : ", ") + std::string(row.name);
    const auto close = nearest(name, timed_peer_names());
    return fail(Code::invalid, shown(name) + " is no scheduler; there are " + all, "order",
                close.empty() ? "" : "did you mean '" + close + "'?");
}

}  // namespace crater::replay
