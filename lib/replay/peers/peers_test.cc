// The published formulas against figures worked out by hand.
#include "fragmentation.h"
#include "peers/peer.h"
#include "peers/peer_placer.h"
#include "tiny_test.h"

namespace crater::replay {
namespace {

constexpr std::uint64_t any = ~std::uint64_t{0};

Request part(int milli, int cpu = 4000) {
    return {.cpu = cpu, .cards = 1, .per_card = milli, .models = "", .accepts = any};
}
Request whole(int cards, int cpu = 4000) {
    return {.cpu = cpu, .cards = cards, .per_card = whole_card, .models = "", .accepts = any};
}
Request coreless() { return {.cpu = 4000, .models = "", .accepts = any}; }
ServerState server(int cards, int cpu = 32'000) {
    return empty_state({.name = "s", .cpu = cpu, .memory = 1000, .cards = cards});
}
ServerState with(ServerState state, const Request& request, int shared = 0) {
    take(state, request, cards_for(state, request, shared));
    return state;
}

TEST(BestFit, scores_what_would_be_left) {
    auto peer = make_best_fit();
    // 28000 of 128000 cores and 1500 of 8000 milli: 100 (1 - 0.109375 - 0.09375) = 79.6875
    EXPECT_EQ(peer->score(server(2), part(500)), 79);
    EXPECT_EQ(peer->score(server(2), coreless()), 76);  // 100 (1 - 0.109375 - 0.125) = 76.56
    EXPECT_EQ(peer->score(with(server(2), whole(2)), coreless()), 90);
}

TEST(DotProduct, scores_how_little_the_rest_looks_like_the_request) {
    auto peer = make_dot_product();
    // (0.25 * 0.03125 + 0.25 * 0.0625) / 2 = 0.01171875
    EXPECT_EQ(peer->score(server(2), part(500)), 98);
    EXPECT_EQ(peer->score(server(8, 128'000), whole(8, 128'000)), 0);
    EXPECT_EQ(peer->score(server(8, 128'000), coreless()), 98);  // 100 (1 - 0.03125 / 2) = 98.4
}

TEST(GpuClustering, keeps_kinds_together) {
    auto peer = make_gpu_clustering();
    EXPECT_EQ(peer->score(server(2), coreless()), 0);
    EXPECT_EQ(peer->score(server(2), part(500)), 25 + 18);
    const auto shared = with(server(2), part(500));
    EXPECT_EQ(peer->score(shared, part(300)), 75 + 20);
    EXPECT_EQ(peer->score(shared, whole(1)), 20);
    EXPECT_EQ(peer->score(with(shared, whole(1)), part(300)), 50 + 23);
}

TEST(GpuPacking, fills_cards_in_use_before_idle_cards_before_idle_servers) {
    auto peer = make_gpu_packing();
    EXPECT_EQ(peer->score(server(2), coreless()), 0);
    EXPECT_EQ(peer->score(server(2), part(500)), 31);
    EXPECT_EQ(peer->score(server(8), part(500)), 25);
    const auto used = with(server(2), part(500));
    EXPECT_EQ(peer->score(used, part(500)), 95);
    EXPECT_EQ(peer->score(used, whole(1)), 49);
    EXPECT_EQ(peer->score(with(used, part(170)), part(300)), 97);  // 330 left: 33 / 10 = 3
}

// A list in which pods of 500 milli are typical and those of 300 are not.
Trace mostly_halves() {
    Trace out;
    out.models = {"T4"};
    out.requests = {part(500, 1000), part(300, 1000)};
    out.pods.assign(19, 0);
    out.pods.push_back(1);
    return out;
}

TEST(Fgd, spares_what_a_typical_pod_can_use) {
    auto peer = make_fgd(mostly_halves());
    const auto six_hundred = with(server(1), part(400));
    EXPECT_EQ(peer->score(six_hundred, part(300)),
              42);                                     // 300 left that no half fits: 100 sigmoid(-0.3) = 42.6
    EXPECT_EQ(peer->score(server(1), part(300)), 50);  // nothing lost
    EXPECT_EQ(peer->score(six_hundred, part(600)), 50);
    EXPECT_EQ(peer->score(with(server(1), part(700)), part(300)),
              57);  // what was lost already goes: 100 sigmoid(0.3) = 57.4
}

TEST(Fgd, chooses_the_card_that_loses_least_and_the_lowest_of_equal_ones) {
    auto peer = make_fgd(mostly_halves());
    const auto state = with(server(3), part(400));  // 600, 1000, 1000 left
    EXPECT_EQ(peer->choose_card(state, part(300)), 1);
    EXPECT_EQ(make_best_fit()->choose_card(state, part(300)), 0);
}

TEST(Fragmentation, counts_idle_cards_that_lack_cores_and_cards_that_are_too_small) {
    Fragmentation f(typical_pods(mostly_halves()));
    EXPECT_DOUBLE_EQ(f.of(server(2)), 0);
    EXPECT_DOUBLE_EQ(f.of(with(server(2), part(600))), 400);  // one card serves, the other's rest does not
    EXPECT_DOUBLE_EQ(f.of(with(server(2), part(600, 31'500))), 1400);  // 500 milli-cores left: nothing serves
}

TEST(Fragmentation, weighs_the_most_frequent_pods_up_to_95_percent) {
    Trace trace = mostly_halves();
    trace.pods = {0, 0, 0, 1};  // 300s are needed to get to 95 %
    const auto pods = typical_pods(trace);
    ASSERT_EQ(pods.size(), 2u);
    EXPECT_DOUBLE_EQ(pods[0].part, 0.75);
    EXPECT_EQ(pods[0].per_card, 500);
    Fragmentation f(pods);
    EXPECT_DOUBLE_EQ(f.of(with(server(1), part(600))), 300);  // 400 left serve a 300 in one of four cases
    trace.pods = {0, 1};
    EXPECT_EQ(typical_pods(trace)[0].per_card, 500);  // of equally frequent ones the larger
}

TEST(Fragmentation, a_model_that_is_not_accepted_is_all_lost_and_so_is_a_pod_without_cards) {
    Trace trace = mostly_halves();
    trace.requests[0].accepts = 2;
    Fragmentation other_model(typical_pods(trace));
    EXPECT_DOUBLE_EQ(other_model.of(server(2)), 2000);
    trace.requests[0] = coreless();
    Fragmentation no_cards(typical_pods(trace));
    EXPECT_DOUBLE_EQ(no_cards.of(server(2)), 2000);
}

TEST(Cards, whole_ones_are_the_lowest_idle_and_shared_ones_the_tightest_that_serve) {
    const auto state = with(with(server(4), part(400), 1), part(700), 2);  // 1000, 600, 300, 1000
    EXPECT_EQ(whole_cards(state, 2), 0b1001u);
    EXPECT_EQ(tightest_card(state, 300), 2);
    EXPECT_EQ(tightest_card(state, 301), 1);
    EXPECT_EQ(tightest_card(state, 601), 0);
    EXPECT_FALSE(state.can_take(whole(3)));
    EXPECT_TRUE(state.can_take(part(1000)));
}

TEST(Cards, what_is_given_back_is_as_before) {
    auto state = with(server(4), part(400), 1);
    const auto before = state.left;
    const auto request = whole(2);
    const auto cards = whole_cards(state, 2);
    take(state, request, cards);
    give_back(state, request, cards);
    EXPECT_EQ(state.left, before);
    EXPECT_EQ(state.holds[2], 0);
    EXPECT_EQ(state.gpu, 3600);
}

TEST(PeerPlacer, of_equally_good_servers_the_first_by_rank_is_taken) {
    Trace trace = TinyTrace().read();
    PeerPlacer placer(trace, make_gpu_clustering());
    EXPECT_EQ(placer.arrive({0, trace.pods[3], {}}).server, 0);  // 0 everywhere: it wants no card
}

TEST(PeerPlacer, a_full_cluster_refuses_and_takes_again_after_a_pod_left) {
    Trace trace = TinyTrace().read();
    PeerPlacer placer(trace, make_best_fit());
    const Arrival first{0, trace.pods[2], {}};
    const auto placed = placer.arrive(first);
    EXPECT_EQ(placed.server, 0);
    EXPECT_EQ(placed.cards, 0b0011u);
    EXPECT_EQ(placer.arrive({1, trace.pods[2], {}}).cards, 0b1100u);
    EXPECT_FALSE(placer.arrive({2, trace.pods[2], {}}));
    placer.leave(first, placed, {});
    EXPECT_EQ(placer.arrive({3, trace.pods[2], {}}).cards, 0b0011u);
}

TEST(Random, takes_any_server_that_can_and_the_same_for_a_seed) {
    const std::vector<int> scores = {-1, 0, -1, 0, 0};
    auto one = make_random(5), other = make_random(5);
    std::array<int, 5> seen{};
    for (int i = 0; i < 300; ++i) {
        const int s = one->choose_server(scores);
        ASSERT_EQ(s, other->choose_server(scores));
        ++seen[static_cast<std::size_t>(s)];
    }
    EXPECT_EQ(seen[0] + seen[2], 0);
    for (const int s : {1, 3, 4}) EXPECT_GT(seen[static_cast<std::size_t>(s)], 60);
    EXPECT_EQ(one->choose_server(std::vector<int>{-1, -1}), -1);
}

}  // namespace
}  // namespace crater::replay
