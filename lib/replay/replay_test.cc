#include "crater/replay/replay.h"

#include "engine_placer.h"
#include "tiny_test.h"

namespace crater::replay {
namespace {

struct StillClock final : Clock {
    Instant now() const override { return {}; }
    std::int64_t ticks_us() const override { return 0; }
};

std::vector<Placement> replayed(const Trace& trace, const std::string& policy) {
    auto placer = make_placer(policy, trace, 1);
    EXPECT_TRUE(placer) << placer.error().text();
    return replay(trace, **placer, StillClock()).placements;
}

TEST(Replay, every_policy_places_what_fits_and_refuses_what_never_can) {
    const Trace trace = TinyTrace().read();
    for (const char* policy : {"fgd", "best_fit", "random", "dot_product", "gpu_packing", "gpu_clustering",
                               "engine:best_fit", "engine:spread"}) {
        const auto placements = replayed(trace, policy);
        ASSERT_EQ(placements.size(), 6u) << policy;
        EXPECT_EQ(placements[0].server, 0) << policy;  // only G2 has what it accepts
        EXPECT_EQ(trace.models[static_cast<std::size_t>(
                      trace.servers[static_cast<std::size_t>(placements[2].server)].model)],
                  "T4")
            << policy;
        for (std::size_t i = 0; i < 5; ++i) EXPECT_TRUE(placements[i]) << policy << " " << i;
        EXPECT_FALSE(placements[5]) << policy;  // no server has a P100
        const auto figures = measure(trace, placements);
        EXPECT_EQ(figures.used, 4000) << policy;
        EXPECT_EQ(figures.placed, 5) << policy;
    }
}

TEST(Replay, a_load_that_is_not_reached_has_no_figure) {
    TinyTrace tiny;
    tiny.arrivals = "arrival 7 2 2 2 0 0 17\nrank 7 2 0 1\n";  // 6000 + 1000 + 1000 of 7000
    const Trace trace = tiny.read();
    const auto figures = measure(trace, replayed(trace, "best_fit"));
    ASSERT_TRUE(figures.allocation[0]);
    // At 100 %, after the second half: four whole cards and two halves of seven, rounded to hundredths.
    EXPECT_NEAR(*figures.allocation[0], 71.43, 1e-9);
    EXPECT_FALSE(figures.allocation[1]);
    EXPECT_FALSE(figures.fragmentation[3]);
}

TEST(Replay, an_unknown_policy_is_told_what_there_is) {
    const Trace trace = TinyTrace().read();
    const auto answer = make_placer("best-fit", trace, 1);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().field, "policy");
    EXPECT_EQ(answer.error().hint, "did you mean 'best_fit'?");
    EXPECT_NE(answer.error().message.find("dot_product"), std::string::npos);
    EXPECT_EQ(make_placer("engine:best_fti", trace, 1).error().hint, "did you mean 'engine:best_fit'?");
}

TEST(Replay, an_overbooked_server_is_our_own_mistake) {
    const Trace trace = TinyTrace().read();
    std::vector<Placement> placements(trace.arrivals.size());
    placements[0] = {0, 0b0011};
    placements[1] = {0, 0b0001};
    EXPECT_DEATH(measure(trace, placements), "overbooked");
}

TEST(EnginePlacer, names_put_nodes_in_the_order_of_their_ranks) {
    EXPECT_EQ(node_of({.name = "openb-node-0007", .cards = 2}, "T4", 42).name, "0042-openb-node-0007");
    TinyTrace tiny;
    tiny.servers =
        "sn,cpu_milli,memory_mib,gpu,model\na,8000,65536,2,G2\nb,8000,65536,2,G2\nc,8000,65536,2,G2\n";
    const Trace trace = tiny.read();
    EXPECT_EQ(replayed(trace, "engine:best_fit")[0].server, 0);  // all equal: the first
}

TEST(EnginePlacer, parts_of_a_card_fill_it_exactly) {
    TinyTrace tiny;
    tiny.servers = "sn,cpu_milli,memory_mib,gpu,model\na,32000,65536,1,T4\n";
    tiny.pods =
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np-0,100,1,1,330\np-1,100,1,1,340\np-2,100,1,1,10\n";
    tiny.arrivals = "arrival 7 0 1 0 2 0\nrank 7 0\n";
    const Trace trace = tiny.read();
    const auto placements = replayed(trace, "engine:best_fit");
    EXPECT_TRUE(placements[2]);
    EXPECT_FALSE(placements[3]);
    EXPECT_EQ(measure(trace, placements).used, 1000);
}

TEST(EnginePlacer, what_was_refused_does_not_start_later) {
    const Trace trace = TinyTrace().read();
    EnginePlacer placer(trace, Policy::best_fit);
    const Arrival first{0, trace.pods[2], {1000}}, second{1, trace.pods[2], {2000}},
        third{2, trace.pods[2], {3000}};
    const auto placed = placer.arrive(first);
    EXPECT_TRUE(placed);
    EXPECT_TRUE(placer.arrive(second));
    EXPECT_FALSE(placer.arrive(third));
    placer.leave(first, placed, {4000});
    EXPECT_TRUE(placer.arrive({3, trace.pods[2], {5000}}));
}

}  // namespace
}  // namespace crater::replay
