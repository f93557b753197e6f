// Dry runs and defragmentation as the scheduler serves them.
#include "test_world.h"

namespace crater::scheduler {
namespace {

struct PlansWorld : TestWorld {
    using TestWorld::TestWorld;
    Result<engine::WhatIf> ask(const engine::Supposed& supposed, const Actor& actor = {}) {
        std::optional<Result<engine::WhatIf>> out;
        scheduler->what_if(supposed, actor, [&](auto r) { out = std::move(r); });
        return *out;
    }
    // Two nodes of four cards, a movable job of two cards on each.
    std::pair<std::string, std::string> scatter() {
        add_agent("n1");
        add_agent("n2");
        JobSpec half = gpu_job(2);
        half.preemptible = true;
        JobSpec blocker = gpu_job(2);
        const std::string first = submit(half), filler = submit(blocker), second = submit(half);
        run();
        EXPECT_TRUE(act(filler, Action::cancel));
        run(seconds(1));
        return {first, second};
    }
};

TEST(SchedulerPlans, a_job_that_would_fit_but_for_fragmentation_starts_after_one_move) {
    PlansWorld w;
    const auto [first, second] = w.scatter();
    ASSERT_NE(w.job(first)->row().nodes, w.job(second)->row().nodes);
    const std::string big = w.submit(gpu_job(4));
    ASSERT_EQ(w.state(big), State::pending);
    const auto plan = w.ask(engine::SupposeDefrag{{big, 3}});
    ASSERT_TRUE(plan && plan->possible);
    EXPECT_EQ(plan->affected, 2);
    EXPECT_EQ(w.ask(engine::SupposeDefrag{{big, 3}})->state, plan->state) << "asking changes nothing";
    EXPECT_EQ(w.state(first), State::running);

    std::optional<Result<api::DefragStarted>> started;
    w.scheduler->defrag({.job = big, .max_moves = 3}, {}, [&](auto r) { started = std::move(r); });
    w.run(seconds(1));
    ASSERT_TRUE(started && *started);
    ASSERT_EQ((*started)->moving.size(), 1u);
    const std::string moved = (*started)->moving.front();
    EXPECT_EQ(w.job(moved)->row().preemptions, 1);
    EXPECT_EQ(w.state(moved), State::running);
    EXPECT_EQ(w.job(moved)->row().nodes, plan->jobs.front().to);
    EXPECT_EQ(w.state(big), State::running);
}

TEST(SchedulerPlans, plans_name_what_is_wrong_with_a_question) {
    PlansWorld w;
    w.add_agent("n1");
    const auto node = w.ask(engine::SupposeDrain{"n2", false});
    ASSERT_FALSE(node);
    EXPECT_EQ(node.error().field, "node");
    EXPECT_NE(node.error().hint.find("n1"), std::string::npos);
    EXPECT_EQ(w.ask(engine::SupposeDefrag{{"nobody", 3}}).error().field, "job");
    EXPECT_EQ(w.ask(engine::SupposePreempt{"nobody"}).error().code, Code::not_found);
}

TEST(SchedulerPlans, a_tenant_does_not_learn_whose_jobs_would_stop) {
    PlansWorld w;
    w.add_agent("n1");
    JobSpec low = gpu_job(4);
    low.preemptible = true;
    low.priority.value = 100;
    low.tenant = "others";
    const std::string victim = w.submit(low);
    ASSERT_EQ(w.state(victim), State::running);
    JobSpec mine = gpu_job(4);
    mine.tenant = "mine";
    std::optional<Result<api::FitView>> fit;
    w.scheduler->fit(mine, {.name = "me", .role = Role::tenant, .tenant = "mine"},
                     [&](auto r) { fit = std::move(r); });
    ASSERT_TRUE(fit && *fit && (*fit)->plan);
    EXPECT_TRUE((*fit)->plan->possible);
    for (const auto& effect : (*fit)->plan->jobs) EXPECT_NE(effect.job, victim);
}

}  // namespace
}  // namespace crater::scheduler
