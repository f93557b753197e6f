#include "forecast/run_times.h"

#include "forecast/timed.h"

namespace crater::engine {
namespace {

using namespace testing;

TEST(Spread, quantiles_are_within_a_sixteenth_of_an_octave) {
    Spread spread;
    for (int i = 1; i <= 1000; ++i) spread.add(i * 1000);
    for (const int percent : {10, 50, 90, 99}) {
        const auto at = spread.at(Spread::one * static_cast<std::uint32_t>(percent) / 100);
        EXPECT_NEAR(static_cast<double>(at), percent * 10'000.0, percent * 10'000.0 * 0.07) << percent;
    }
}

TEST(Spread, what_has_run_long_runs_on) {
    Spread spread;
    for (int i = 1; i <= 100; ++i) spread.add(i * 1000);
    const auto half = Spread::one / 2;
    // half of those between 60 and 100
    EXPECT_NEAR(static_cast<double>(spread.at(half, 60'000)), 80'000, 5'000);
    EXPECT_GT(spread.at(half, 500'000), 500'000);  // longer than any before
    EXPECT_GE(spread.at(0, 60'000), 60'000);
}

TEST(Spread, old_counts_fade) {
    Spread spread;
    for (int i = 0; i < 2'000; ++i) spread.add(1000);
    for (int i = 0; i < 4'000; ++i) spread.add(100'000);
    EXPECT_GT(spread.at(Spread::one / 2), 90'000);
    EXPECT_LT(spread.count(), 2'000u);
}

TEST(Spread, lone_odd_ones_fade_as_well) {
    Spread spread;
    for (int i = 1; i <= 300; ++i) spread.add(i * 1'000'000);
    for (int i = 0; i < 20'000; ++i) spread.add(1000);
    EXPECT_LT(spread.at(Spread::one * 99 / 100), 1'100);
}

TEST(RunTimes, what_is_said_goes_before_what_was_learned) {
    RunTimes times;
    JobMaker maker = a_job("a").gpus(1000);
    EXPECT_FALSE(times.expected(maker));
    for (int i = 0; i < 20; ++i) times.ended(maker, 10 * minute);
    EXPECT_EQ(times.expected(maker).basis, RunTimes::Basis::tenant);
    EXPECT_NEAR(static_cast<double>(times.expected(maker).time.p50.count()), 600'000, 40'000);

    JobMaker elsewhere = a_job("b").gpus(1000).tenant("others");
    EXPECT_EQ(times.expected(elsewhere).basis, RunTimes::Basis::alike);
    JobMaker other = a_job("c").gpus(4000).tenant("others");
    EXPECT_EQ(times.expected(other).basis, RunTimes::Basis::all);

    maker.spec.duration = 30 * minute;
    EXPECT_EQ(times.expected(maker).basis, RunTimes::Basis::declared);
    EXPECT_EQ(times.expected(maker).time.p50, 30 * minute);
    maker.job.run_time = RunTime{3 * minute, 4 * minute};
    EXPECT_EQ(times.expected(maker).time, (RunTime{3 * minute, 4 * minute}));
    maker.spec.time_limit = 2 * minute;
    EXPECT_EQ(times.expected(maker).time, (RunTime{2 * minute, 2 * minute}));
}

TEST(RunTimes, how_far_declared_durations_are_off_is_learned) {
    RunTimes times;
    JobMaker maker = a_job("a").gpus(1000);
    maker.spec.duration = 10 * minute;
    EXPECT_EQ(times.expected(maker).time.p90, Millis(750'000));  // nothing known: a quarter more
    for (int i = 0; i < 50; ++i) times.ended(maker, (10 + i % 10 * 2) * minute);
    const auto p90 = times.expected(maker).time.p90;
    EXPECT_GT(p90, 25 * minute);
    EXPECT_LT(p90, 30 * minute);
}

TEST(RunTimes, come_back_from_text) {
    RunTimes times;
    for (int i = 0; i < 100; ++i)
        times.ended(a_job("a").gpus(1000 * (1 + i % 3)).tenant(i % 2 ? "a" : "b"), (1 + i % 17) * minute);
    RunTimes again;
    ASSERT_TRUE(again.load(times.save()));
    EXPECT_EQ(again.save(), times.save());
    EXPECT_EQ(again.expected(a_job("x").gpus(2000).tenant("a")).time,
              times.expected(a_job("x").gpus(2000).tenant("a")).time);
    const auto text = times.save();
    for (const auto& broken : {text.substr(0, text.size() / 2), text + " 7", std::string("run-times-1 x"),
                               std::string("run-times-1"), std::string()})
        EXPECT_FALSE(again.load(broken)) << broken.substr(0, 40);
    EXPECT_EQ(again.save(), times.save());
}

TEST(RunTimes, memory_is_bounded) {
    RunTimes times;
    for (int i = 0; i < 3'000; ++i)
        times.ended(a_job("a").gpus(1000).tenant("t" + std::to_string(i)), minute);
    EXPECT_LT(times.save().size(), 200'000u);
    EXPECT_EQ(times.expected(a_job("x").gpus(1000).tenant("new")).basis, RunTimes::Basis::alike);
}

TEST(RunTimes, the_engine_learns_from_jobs_that_end) {
    Engine engine;
    engine.apply(NodeSet{make_node("n0")});
    Instant now = noon;
    for (int i = 0; i < 12; ++i) {
        const std::string id = "j" + std::to_string(i);
        engine.apply(JobAdded{a_job(id).gpus(1000)});
        ASSERT_EQ(engine.pass(now).placements.size(), 1u);
        now = now + 10 * minute;
        engine.apply(JobRemoved{id, now, true});
    }
    const auto expected = engine.expected_run_time(a_job("x").gpus(1000));
    ASSERT_TRUE(expected);
    EXPECT_NEAR(static_cast<double>(expected->p50.count()), 600'000, 40'000);

    Engine again;
    again.apply(NodeSet{make_node("n0")});
    again.apply(Remembered{engine.learned()});
    EXPECT_EQ(again.expected_run_time(a_job("x").gpus(1000)), expected);
    EXPECT_EQ(again.learned(), engine.learned());
    again.apply(Remembered{"crater-learned-1 nonsense"});  // a text from before there were lines
    EXPECT_EQ(again.expected_run_time(a_job("x").gpus(1000)), expected);
}

}  // namespace
}  // namespace crater::engine
