#include "fragmentation.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace crater::replay {
namespace {

constexpr double covered = 0.95;  // of the pods
constexpr std::size_t known_max = 1 << 20;

}  // namespace

std::vector<TypicalPod> typical_pods(const Trace& trace) {
    using Kind = std::tuple<int, int, int, std::string>;  // cpu, milli, cards, models
    std::map<Kind, std::pair<int, const Request*>> counts;
    for (const int pod : trace.pods) {
        const auto& request = trace.requests[static_cast<std::size_t>(pod)];
        auto& [count, example] = counts[{request.cpu, request.per_card, request.cards, request.models}];
        ++count;
        example = &request;
    }
    std::vector<std::tuple<int, Kind, const Request*>> order;
    for (const auto& [kind, found] : counts) order.emplace_back(found.first, kind, found.second);
    std::sort(order.begin(), order.end(), std::greater<>());

    const auto all = static_cast<double>(trace.pods.size());
    std::vector<TypicalPod> out;
    double sum = 0;
    for (const auto& [count, kind, request] : order) {
        if (sum >= covered * all) break;
        out.push_back({request->cpu, request->cards, request->per_card, request->accepts, count / all});
        sum += count;
    }
    for (auto& pod : out) pod.part /= sum / all;
    return out;
}

double Fragmentation::of(const ServerState& server) {
    const Key key = key_of(server);
    if (const auto it = known_.find(key); it != known_.end()) return it->second;
    if (known_.size() >= known_max) known_.clear();
    return known_[key] = compute(server);
}

double Fragmentation::compute(const ServerState& server) const {
    // Why free GPU is of no use to a pod: too few cards and cores; too few cards; too few cores; the pod
    // wants no card; and of those that fit, the cards that are too small for them.
    double both = 0, cards = 0, cores = 0, no_card_fits = 0, no_card_lacks = 0, model = 0;
    const double idle = server.gpu;
    for (const auto& pod : pods_) {
        int enough = 0, small = 0;
        for (int c = 0; c < server.cards; ++c) {
            const int left = server.left[static_cast<std::size_t>(c)];
            if (left >= pod.per_card)
                ++enough;
            else
                small += left;
        }
        const bool has_cores = server.cpu >= pod.cpu, has_cards = enough >= pod.cards;
        if (pod.cards == 0)
            (has_cores ? no_card_fits : no_card_lacks) += pod.part * idle;
        else if (!(pod.accepts >> server.model & 1))
            model += pod.part * idle;
        else if (has_cores && has_cards)
            cards += pod.part * static_cast<double>(small);
        else
            (has_cards ? cores : has_cores ? cards : both) += pod.part * idle;
    }
    return both + cards + cores + no_card_fits + no_card_lacks + model;
}

// Ten bits for each card; which is which does not matter.
Fragmentation::Key Fragmentation::key_of(const ServerState& server) {
    const auto left = left_in_order(server);
    Key key;
    for (std::size_t c = 0; c < 6; ++c) key.cards = key.cards << 10 | static_cast<std::uint64_t>(left[c]);
    key.rest = static_cast<std::uint64_t>(left[6]) << 10 | static_cast<std::uint64_t>(left[7]);
    key.rest = key.rest << 38 | static_cast<std::uint64_t>(server.cpu) << 6 |
               static_cast<std::uint64_t>(server.model);
    return key;
}

std::size_t Fragmentation::Hash::operator()(const Key& key) const {
    std::uint64_t h = (key.cards ^ key.cards >> 31) * 0x9E3779B97F4A7C15u;
    h = (h ^ key.rest ^ h >> 29) * 0xBF58476D1CE4E5B9u;
    return h ^ h >> 32;
}

}  // namespace crater::replay
