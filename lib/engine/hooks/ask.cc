// Asking the hooks of a queue and counting what they say.
#include <algorithm>

#include "crater/base/error.h"
#include "crater/engine/hooks.h"

namespace crater::engine {
namespace {

std::string term_name(const PlacementHook& hook) { return "plugin " + std::string(hook.name()); }

// Takes out whom the hook turned away, and says how many that were.
void turn_away(const PlacementHook& hook, const HookAnswer& answer, std::span<const NodeView> nodes,
               Hooked& out) {
    if (answer.keep.empty()) return;
    Rejection rejection{.filter = term_name(hook), .first_node = {}, .detail = {}};
    std::erase_if(out.ranked, [&](const Hooked::Candidate& candidate) {
        if (answer.keep[candidate.position]) return false;
        const std::string& name = nodes[candidate.position].inventory->name;
        if (rejection.nodes++ == 0 || name < rejection.first_node) rejection.first_node = name;
        return true;
    });
    if (rejection.nodes == 0) return;
    rejection.detail = "the plugin " + std::string(hook.name()) + " turned it away";
    out.rejections.push_back(std::move(rejection));
}

void add_terms(const HookUse& use, const HookAnswer& answer, Hooked& out) {
    if (answer.score.empty()) return;
    for (Hooked::Candidate& candidate : out.ranked)
        candidate.terms.push_back({term_name(*use.hook), answer.score[candidate.position], use.weight});
}

double weighed(double policy, const std::vector<ScoreTerm>& terms) {
    double sum = policy, weights = 1;
    for (const ScoreTerm& term : terms) sum += term.weight * term.value, weights += term.weight;
    return sum / weights;
}

}  // namespace

std::vector<HookUse> hooks_of(const QueueSpec& queue, HookSource* source) {
    std::vector<HookUse> out;
    if (!source) return out;
    for (const PluginUse& plugin : queue.plugins)
        if (PlacementHook* hook = source->find(plugin.name)) out.push_back({hook, plugin.weight});
    return out;
}

Hooked ask_hooks(std::span<const HookUse> hooks, const JobView& job, std::span<const NodeView> nodes) {
    Hooked out;
    for (std::size_t i = 0; i < nodes.size(); ++i) out.ranked.push_back({.position = i, .terms = {}});
    for (const HookUse& use : hooks) {
        const HookAnswer answer = use.hook->ask(job, nodes);
        if (!answer.given) continue;
        CRATER_CHECK(answer.keep.empty() || answer.keep.size() == nodes.size());
        CRATER_CHECK(answer.score.empty() || answer.score.size() == nodes.size());
        turn_away(*use.hook, answer, nodes, out);
        add_terms(use, answer, out);
    }
    for (Hooked::Candidate& candidate : out.ranked)
        candidate.score = weighed(nodes[candidate.position].score, candidate.terms);
    std::stable_sort(out.ranked.begin(), out.ranked.end(),
                     [](const auto& a, const auto& b) { return a.score > b.score; });
    return out;
}

}  // namespace crater::engine
