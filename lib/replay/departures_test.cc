#include "crater/replay/departures.h"

#include "tiny_test.h"

namespace crater::replay {
namespace {

struct StoppedClock final : Clock {
    Instant now() const override { return {}; }
    std::int64_t ticks_us() const override { return 0; }
};

LossFigures lost(const Trace& trace, const std::string& policy, DepartureOptions options) {
    auto placer = make_placer(policy, trace, options.seed);
    EXPECT_TRUE(placer) << placer.error().text();
    return run_departures(trace, **placer, options, StoppedClock());
}

// One server of one card, pods that take all of it: an Erlang loss system with one line.
Trace one_line() {
    TinyTrace tiny;
    tiny.servers = "sn,cpu_milli,memory_mib,gpu,model\na,32000,65536,1,T4\n";
    tiny.pods = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np-0,100,1,1,1000\n";
    tiny.arrivals = "arrival 7 0\nrank 7 0\n";
    return tiny.read();
}

TEST(Departures, one_card_loses_what_queueing_theory_says) {
    // Offered 1: half is lost and the card is in use half the time (Erlang B).
    const auto half = lost(one_line(), "best_fit", {.offered = 1, .arrivals = 200'000});
    EXPECT_NEAR(half.refused_percent, 50, 1);
    EXPECT_NEAR(half.used_percent, 50, 1);
    EXPECT_EQ(half.counted, 140'000);
    EXPECT_EQ(half.refused_multi_card_percent, 0);
    const auto third = lost(one_line(), "best_fit", {.offered = 0.5, .arrivals = 200'000});
    EXPECT_NEAR(third.refused_percent, 100.0 / 3, 1);
}

TEST(Departures, every_policy_meets_the_same_arrivals) {
    const Trace trace = one_line();
    const DepartureOptions options{.offered = 0.7, .arrivals = 2000};
    const auto first = lost(trace, "fgd", options);
    for (const char* policy : {"best_fit", "random", "gpu_packing", "engine:best_fit"}) {
        const auto other = lost(trace, policy, options);
        EXPECT_EQ(other.refused, first.refused) << policy;  // with one card there is nothing to choose
        EXPECT_EQ(other.refused_percent, first.refused_percent) << policy;
    }
    EXPECT_NE(lost(trace, "fgd", {.offered = 0.7, .arrivals = 2000, .seed = 43}).refused_percent,
              first.refused_percent);
}

TEST(Departures, little_is_lost_of_little_and_much_of_much) {
    const Trace trace = TinyTrace().read();
    for (const char* policy : {"fgd", "best_fit", "engine:best_fit"}) {
        const auto little = lost(trace, policy, {.offered = 0.05, .arrivals = 5000});
        const auto much = lost(trace, policy, {.offered = 5, .arrivals = 5000});
        // A pod that only a P100 could take is lost always.
        EXPECT_LT(little.refused_percent, 35) << policy;
        EXPECT_GT(much.refused_percent, 60) << policy;
        EXPECT_GT(much.refused_multi_card_percent, little.refused_multi_card_percent) << policy;
        EXPECT_GT(much.used_percent, little.used_percent) << policy;
    }
}

}  // namespace
}  // namespace crater::replay
