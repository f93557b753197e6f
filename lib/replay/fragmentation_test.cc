// The engine's fragmentation gradient and the one that the published results are replayed with are two pieces
// of code for one formula; to the last bit they give the same.
#include "fragmentation.h"

#include <gtest/gtest.h>

#include <tuple>

#include "crater/base/clock.h"
#include "price/fragmentation.h"

namespace crater::replay {
namespace {

namespace price = engine::price;

constexpr int models = 3, requests = 40;

// Requests at random, some more frequent than others; the names of the models are in the order of their sets.
Trace any_trace(Rng& rng) {
    Trace out;
    for (int i = 0; i < requests; ++i) {
        Request request;
        request.cpu = static_cast<int>(rng.below(20)) * 1000;
        request.cards = static_cast<int>(rng.below(4));
        const auto part = static_cast<int>(1 + rng.below(20)) * 50;
        request.per_card = request.cards == 0 ? 0 : request.cards > 1 ? whole_card : part;
        request.accepts = request.cards == 0 ? ~std::uint64_t{0} : 1 + rng.below((1 << models) - 1);
        request.models = std::to_string(request.accepts);
        out.requests.push_back(request);
        out.pods.insert(out.pods.end(), 1 + rng.below(9), i);
    }
    return out;
}

price::Demand demand_of(const Request& request) {
    price::Demand out{.cards = request.cards, .milli = request.per_card, .types = request.accepts};
    out.amounts[price::cpu] = request.cpu;
    return out;
}

ServerState any_server(Rng& rng) {
    ServerState out;
    out.cpu = static_cast<int>(rng.below(30)) * 1000;
    out.model = static_cast<int>(rng.below(models));
    out.cards = static_cast<int>(1 + rng.below(cards_max));
    for (int c = 0; c < out.cards; ++c) {
        const auto left = static_cast<int>(rng.below(21)) * 50;
        out.left[static_cast<std::size_t>(c)] = left;
        out.gpu += left;
    }
    return out;
}

TEST(Fragmentation, of_a_server_by_typical_pods_is_the_same_to_the_engine_as_to_the_replay) {
    SeededRng rng(11);
    for (int round = 0; round < 50; ++round) {
        const Trace trace = any_trace(rng);
        const auto pods = typical_pods(trace);
        std::vector<price::Arrived> arrived;
        for (const int pod : trace.pods)
            arrived.push_back({demand_of(trace.requests[static_cast<std::size_t>(pod)]), 1});
        const auto targets = price::typical(arrived);
        ASSERT_EQ(pods.size(), targets.size());
        for (std::size_t i = 0; i < pods.size(); ++i) {
            const auto& demand = targets[i].kind;
            ASSERT_EQ(std::tuple(pods[i].cpu, pods[i].cards, pods[i].per_card, pods[i].accepts),
                      std::tuple(demand.amounts[price::cpu], demand.cards, demand.milli, demand.types));
            ASSERT_EQ(pods[i].part, targets[i].share);
        }
        Fragmentation published(pods);
        price::Fragmentation ours;
        ours.set_targets(targets);
        for (int n = 0; n < 100; ++n) {
            const ServerState server = any_server(rng);
            const std::vector<std::int16_t> cards(server.left.begin(), server.left.begin() + server.cards);
            price::Free free{.type = server.model, .cards = cards};
            free.amounts[price::cpu] = server.cpu;
            ASSERT_EQ(published.of(server), ours.unusable(free));
        }
    }
}

}  // namespace
}  // namespace crater::replay
