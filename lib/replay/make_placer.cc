// Policies by name.
#include <algorithm>

#include "crater/base/ids.h"
#include "engine_placer.h"
#include "peers/peer_placer.h"

namespace crater::replay {
namespace {

constexpr std::string_view engine_prefix = "engine:", own_policy = "price";

struct PeerRow {
    std::string_view name;
    std::unique_ptr<Peer> (*make)(const Trace& trace, std::uint64_t seed);
};
constexpr PeerRow peers[] = {
    {"fgd", [](const Trace& trace, std::uint64_t) { return make_fgd(trace); }},
    {"best_fit", [](const Trace&, std::uint64_t) { return make_best_fit(); }},
    {"random", [](const Trace&, std::uint64_t seed) { return make_random(seed); }},
    {"dot_product", [](const Trace&, std::uint64_t) { return make_dot_product(); }},
    {"gpu_packing", [](const Trace&, std::uint64_t) { return make_gpu_packing(); }},
    {"gpu_clustering", [](const Trace&, std::uint64_t) { return make_gpu_clustering(); }},
};

std::string joined(const std::vector<std::string>& names) {
    std::string out;
    for (const auto& name : names) out += (out.empty() ? "" : ", ") + name;
    return out;
}

Result<std::unique_ptr<Placer>> make_engine_placer(std::string_view name, const Trace& trace) {
    for (const auto& row : enum_names(Policy{}))
        if (row.name == name) return std::make_unique<EnginePlacer>(trace, row.value);
    const auto known = engine_policy_names();
    const auto close = nearest(name, known);
    return fail(Code::invalid, "the engine has no policy " + shown(name) + "; it has " + joined(known),
                "policy", close.empty() ? "" : "did you mean '" + std::string(engine_prefix) + close + "'?");
}

}  // namespace

std::vector<std::string> policy_names() {
    std::vector<std::string> out;
    for (const auto& row : peers) out.emplace_back(row.name);
    out.emplace_back(own_policy);
    return out;
}

std::vector<std::string> engine_policy_names() {
    std::vector<std::string> out;
    for (const auto& row : enum_names(Policy{})) out.emplace_back(row.name);
    return out;
}

Result<std::unique_ptr<Placer>> make_placer(const std::string& policy, const Trace& trace,
                                            std::uint64_t seed) {
    for (const auto& row : peers)
        if (row.name == policy) return std::make_unique<PeerPlacer>(trace, row.make(trace, seed));
    if (policy == own_policy) return make_engine_placer(own_policy, trace);
    if (policy.starts_with(engine_prefix))
        return make_engine_placer(std::string_view(policy).substr(engine_prefix.size()), trace);
    const auto close = nearest(policy, policy_names());
    return fail(Code::invalid,
                shown(policy) + " is no policy; there are " + joined(policy_names()) +
                    ", and engine:NAME for those of the engine",
                "policy", close.empty() ? "" : "did you mean '" + close + "'?");
}

}  // namespace crater::replay
