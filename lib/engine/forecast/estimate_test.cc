// Start times that waiting jobs are told.
#include <map>

#include "crater/base/clock.h"
#include "forecast/estimates.h"
#include "forecast/timed.h"

namespace crater::engine {
namespace {

using namespace testing;

TEST(Estimate, is_exact_where_run_times_are) {
    Engine engine;
    engine.apply(NodeSet{make_node("n0", 4)});
    engine.apply(JobAdded{timed("running", 4, 60)});
    engine.pass(noon);
    engine.apply(JobAdded{timed("first", 4, 30, 1)});
    engine.apply(JobAdded{timed("second", 2, 10, 2)});
    engine.apply(JobAdded{timed("third", 2, 10, 3)});
    engine.apply(JobAdded{timed("fourth", 1, 10, 4)});
    engine.pass(noon);
    const auto hash = engine.state_hash();
    const auto starts_at = [&](const std::string& id) {
        const auto estimate = engine.estimate(id, noon);
        EXPECT_TRUE(estimate) << id;
        EXPECT_EQ(estimate->p50, estimate->p90);
        return (estimate->p50 - noon).count() / 60'000;
    };
    EXPECT_EQ(starts_at("first"), 60);
    EXPECT_EQ(starts_at("second"), 90);
    EXPECT_EQ(starts_at("third"), 90);
    EXPECT_EQ(starts_at("fourth"), 100);
    EXPECT_EQ(engine.estimates(noon).size(), 4u);
    EXPECT_EQ(engine.state_hash(), hash);
}

TEST(Estimate, says_why_it_is_unknown) {
    Engine engine;
    engine.apply(NodeSet{make_node("n0", 4)});
    engine.apply(JobAdded{timed("running", 4, 0)});
    engine.pass(noon);
    engine.apply(JobAdded{timed("waits", 4, 30, 1)});
    JobMaker later = timed("later", 1, 30, 1);
    later.job.blocked = true;
    engine.apply(JobAdded{later});
    engine.pass(noon);
    const auto why = [&](const std::string& id) { return engine.estimate(id, noon).error().text(); };
    EXPECT_NE(why("waits").find("end in sight"), std::string::npos);
    EXPECT_NE(why("later").find("depends"), std::string::npos);
    EXPECT_NE(why("running").find("does not wait"), std::string::npos);
    EXPECT_EQ(engine.estimate("nobody", noon).error().code, Code::not_found);
    EXPECT_EQ(engine.why("waits", noon)->estimate, std::nullopt);
    EXPECT_FALSE(engine.why("waits", noon)->no_estimate.empty());
}

TEST(Estimate, is_an_interval_where_run_times_spread) {
    Engine engine;
    engine.apply(NodeSet{make_node("n0", 4)});
    JobMaker running = timed("running", 4, 0);
    running.job.run_time = RunTime{60 * minute, 240 * minute};
    engine.apply(JobAdded{running});
    engine.pass(noon);
    engine.apply(JobAdded{timed("waits", 4, 30, 1)});
    engine.pass(noon);
    const auto estimate = engine.estimate("waits", noon);
    ASSERT_TRUE(estimate);
    EXPECT_GT(estimate->p50, noon + 30 * minute);
    EXPECT_LT(estimate->p50, noon + 120 * minute);
    EXPECT_GT(estimate->p90, estimate->p50 + 30 * minute);
    EXPECT_EQ(engine.why("waits", noon)->estimate->p90, estimate->p90);
}

// A cluster in which jobs come and go, told to a second engine up to the middle, which takes over what was
// learned.
TEST(Estimate, is_the_same_after_a_restart) {
    Engine first;
    first.apply(NodeSet{make_node("n0", 4)});
    Instant now = noon;
    for (int i = 0; i < 30; ++i) {
        const std::string id = "j" + std::to_string(i);
        first.apply(JobAdded{timed(id, 4, 0)});
        first.pass(now);
        now = now + (5 + i % 7) * minute;
        first.apply(JobRemoved{id, now, true});
    }
    first.apply(JobAdded{timed("running", 4, 0)});
    const Plan plan = first.pass(now);
    ASSERT_EQ(plan.placements.size(), 1u);
    for (const std::string id : {"a", "b", "c"}) first.apply(JobAdded{timed(id, 4, 0, 1)});
    first.pass(now);

    Engine second;
    second.apply(NodeSet{make_node("n0", 4)});
    second.apply(JobAdded{timed("running", 4, 0)});
    second.apply(TaskPlaced{"running", 0, *allocation_of(first, plan, "running"), now});
    for (const std::string id : {"a", "b", "c"}) second.apply(JobAdded{timed(id, 4, 0, 1)});
    second.apply(Remembered{first.learned()});
    second.pass(now);
    const auto later = now + 2 * minute;
    for (const std::string id : {"a", "b", "c"}) {
        const auto one = first.estimate(id, later), other = second.estimate(id, later);
        ASSERT_TRUE(one && other) << id;
        EXPECT_EQ(one->p50, other->p50) << id;
        EXPECT_EQ(one->p90, other->p90) << id;
    }
    EXPECT_LT(first.estimate("a", later)->p50, first.estimate("b", later)->p50);
}

// Waits grow, and ever more beyond what is foreseen; what came of an answer is known when the wait is over.
TEST(Estimate, late_answers_hold_at_least_as_often_as_they_say_though_waits_grow) {
    Estimates estimates, restarted;
    SeededRng rng{5};
    Estimates::Wait raw;
    std::map<std::int64_t, std::vector<int>> starting;  // by minute
    std::int64_t held = 0, all = 0;
    for (int job = 0; job < 6000; ++job) {
        const Instant now = at_minute(job);
        for (; !starting.empty() && starting.begin()->first <= job; starting.erase(starting.begin()))
            for (const int other : starting.begin()->second) estimates.started(other, now);
        const std::int64_t queue = 30 + job / 8,
                           wait = queue *
                                  static_cast<std::int64_t>(50 + rng.below(100) +
                                                            static_cast<std::uint64_t>(job) / 200) /
                                  100;
        raw = {queue * 30'000, queue * 60'000};
        if (job > 1000) ++all, held += wait * 60'000 <= estimates.stretched(raw).p90;
        estimates.said(job, now, raw);
        starting[job + wait].push_back(job);
    }
    EXPECT_GE(held * 100, all * 90);
    EXPECT_LE(estimates.stretched(raw).p90, 2 * estimates.stretched(raw).p50);
    ASSERT_TRUE(restarted.load(estimates.save()));
    EXPECT_EQ(restarted.stretched(raw).p90, estimates.stretched(raw).p90);
}

// Many that were told before it was known are late together: later answers are as late as these were, and as
// they were before when that is long over.
TEST(Estimate, a_time_when_all_were_late_widens_answers_and_is_forgotten) {
    Estimates estimates;
    const Estimates::Wait raw{1'200'000, 1'200'000};
    const auto told = [&](int jobs, std::int64_t minutes) {
        for (int job = 0; job < jobs; ++job) estimates.said(job, noon, raw);
        for (int job = 0; job < jobs; ++job) estimates.started(job, noon + minutes * minute);
        return estimates.stretched(raw).p90 / 60'000;
    };
    EXPECT_LE(told(2000, 20), 22);
    EXPECT_GE(told(200, 60), 60);
    EXPECT_LE(told(20'000, 20), 22);
}

// Users who say an hour and take two: first answers are half of what comes, later ones are not.
TEST(Estimate, learns_from_what_came_of_earlier_ones) {
    Engine engine;
    engine.apply(NodeSet{make_node("n0", 4)});
    Instant now = noon;
    engine.apply(JobAdded{timed("j0", 4, 60)});
    engine.pass(now);
    std::int64_t first_error = 0, last_error = 0;
    for (int i = 1; i < 60; ++i) {
        const std::string id = "j" + std::to_string(i);
        engine.apply(JobAdded{timed(id, 4, 60)});
        engine.pass(now);
        const auto estimate = engine.estimate(id, now);
        ASSERT_TRUE(estimate);
        now = now + 120 * minute;
        (i == 1 ? first_error : last_error) = std::abs((estimate->p50 - now).count()) / 60'000;
        engine.apply(JobRemoved{"j" + std::to_string(i - 1), now, true});
        ASSERT_EQ(engine.pass(now).placements.size(), 1u);
    }
    EXPECT_EQ(first_error, 60);
    EXPECT_LT(last_error, 10);
}

}  // namespace
}  // namespace crater::engine
