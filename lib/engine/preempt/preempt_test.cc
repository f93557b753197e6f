#include <set>

#include "testing.h"

namespace crater::engine {
namespace {

using namespace testing;

class Preempt : public ::testing::Test {
  protected:
    Engine engine;
    Instant now = noon;
    void add(const EngineJob& job) { engine.apply(JobAdded{job}); }
    void run(const EngineJob& job) {
        add(job);
        const auto plan = engine.pass(now);
        ASSERT_NE(node_of(engine, plan, job.id), "") << job.id;
    }
    std::set<std::string> victims(const Plan& plan) {
        std::set<std::string> out;
        for (const auto& p : plan.preemptions) out.insert(p.victim);
        return out;
    }
    void stop(const std::string& id, int preemptions = 1) {
        engine.apply(TaskFreed{id, 0});
        engine.apply(JobRequeued{id, preemptions});
    }
};

TEST_F(Preempt, only_preemptible_jobs_of_strictly_lower_priority_give_way) {
    engine.apply(NodeSet{make_node("n1", 3)});
    run(a_job("fixed").gpus(1000).priority(100));
    run(a_job("equal").gpus(1000).priority(700).preemptible());
    run(a_job("low").gpus(1000).priority(100).preemptible());
    add(a_job("high").gpus(1000).priority(700));
    const auto plan = engine.pass(now);
    ASSERT_EQ(victims(plan), std::set<std::string>{"low"});
    EXPECT_EQ(plan.preemptions[0].preemptor, "high");
    EXPECT_EQ(node_of(engine, plan, "high"), "");
    stop("low");
    const auto next = engine.pass(now);
    EXPECT_EQ(node_of(engine, next, "high"), "n1");
    EXPECT_EQ(node_of(engine, next, "low"), "");
}

TEST_F(Preempt, inference_never_gives_way_to_training) {
    engine.apply(NodeSet{make_node("n1", 1)});
    run(a_job("serve").gpus(1000).priority(100).preemptible().type(JobType::inference));
    add(a_job("train").gpus(1000).priority(900));
    EXPECT_TRUE(engine.pass(now).preemptions.empty());
    add(a_job("serve-more").gpus(1000).priority(900).type(JobType::inference).at(1));
    EXPECT_EQ(victims(engine.pass(now)), std::set<std::string>{"serve"});
}

TEST_F(Preempt, what_victims_free_is_kept_for_the_preemptor) {
    engine.apply(NodeSet{make_node("n1", 2)});
    run(a_job("v1").gpus(1000).priority(100).preemptible());
    run(a_job("v2").gpus(1000).priority(100).preemptible());
    add(a_job("high").gpus(2000).priority(900));
    EXPECT_EQ(victims(engine.pass(now)), (std::set<std::string>{"v1", "v2"}));
    add(a_job("sneak").gpus(1000).priority(500));
    stop("v1");
    auto plan = engine.pass(now);
    EXPECT_TRUE(plan.placements.empty());
    EXPECT_TRUE(plan.preemptions.empty());  // not again for the same preemptor
    EXPECT_EQ(engine.why("high", now)->binding, "preemption");
    stop("v2");
    EXPECT_EQ(node_of(engine, engine.pass(now), "high"), "n1");
}

TEST_F(Preempt, a_pledge_ends_with_its_preemptor) {
    engine.apply(NodeSet{make_node("n1", 1)});
    run(a_job("v").gpus(1000).priority(100).preemptible());
    add(a_job("high").gpus(1000).priority(900));
    engine.pass(now);
    engine.apply(JobRemoved{"high"});
    stop("v");
    EXPECT_EQ(node_of(engine, engine.pass(now), "v"), "n1");
}

// The preemptor finds another place in the pass in which the first queue was already looked at.
TEST_F(Preempt, what_a_pledge_gives_up_wakes_who_was_looked_at_before) {
    add_queue(engine, "first", Policy::best_fit, 900);
    engine.apply(NodeSet{make_node("b", 1)});
    run(a_job("v").gpus(1000).priority(100).preemptible());
    add(a_job("high").gpus(1000).priority(900));
    ASSERT_EQ(victims(engine.pass(now)), std::set<std::string>{"v"});
    auto only_b = a_job("only-b").gpus(1000).priority(500).queue("first");
    only_b.spec.node.include = {"b"};
    add(only_b);
    engine.apply(JobRemoved{"v"});
    engine.apply(NodeSet{make_node("a", 1)});
    auto plan = engine.pass(now);
    EXPECT_EQ(node_of(engine, plan, "high"), "a");
    EXPECT_EQ(node_of(engine, plan, "only-b"), "");
    EXPECT_TRUE(engine.wants_pass());
    EXPECT_EQ(node_of(engine, engine.pass(now), "only-b"), "b");
    EXPECT_FALSE(engine.wants_pass());
}

TEST_F(Preempt, a_job_of_still_higher_priority_takes_what_is_pledged) {
    engine.apply(NodeSet{make_node("n1", 1)});
    run(a_job("v").gpus(1000).priority(100).preemptible());
    add(a_job("high").gpus(1000).priority(700));
    EXPECT_EQ(victims(engine.pass(now)), std::set<std::string>{"v"});
    add(a_job("higher").gpus(1000).priority(900));
    EXPECT_TRUE(engine.pass(now).preemptions.empty());  // waits for the same victim
    stop("v");
    const auto plan = engine.pass(now);
    EXPECT_EQ(node_of(engine, plan, "higher"), "n1");
    EXPECT_EQ(node_of(engine, plan, "high"), "");
}

TEST_F(Preempt, a_gang_of_one_card_tasks_takes_the_cheapest_cards_wherever_they_lie) {
    engine.apply(NodeSet{make_node("n1", 2)});
    engine.apply(NodeSet{make_node("n2", 2)});
    run(a_job("pair").gpus(2000).priority(100).preemptible());
    now = now + Millis{3'600'000};
    run(a_job("late").gpus(1000).priority(100).preemptible());
    engine.apply(Checkpointed{"pair", now});
    now = now + Millis{60'000};
    run(a_job("last").gpus(1000).priority(100).preemptible());
    engine.apply(JobRemoved{"last"});
    // One card is idle: of the others one is enough, and that of "late" is the cheaper.
    add(a_job("two").gpus(1000).tasks(2).priority(900));
    EXPECT_EQ(victims(engine.pass(now)), std::set<std::string>{"late"});
    stop("late");
    EXPECT_NE(node_of(engine, engine.pass(now), "two"), "");
    add(a_job("four").gpus(1000).tasks(2).priority(901));
    EXPECT_EQ(victims(engine.pass(now)), std::set<std::string>{"pair"});
}

// Cards are there, cores are not: who holds most of them leaves, though others' cards are cheaper.
TEST_F(Preempt, a_gang_that_lacks_something_else_than_cards_finds_who_holds_it) {
    engine.apply(NodeSet{make_node("n1", 4)});
    run(a_job("cores").gpus(1000).cpu(24'000).priority(100).preemptible());
    now = now + Millis{600'000};
    run(a_job("card").gpus(1000).cpu(1000).priority(100).preemptible());
    add(a_job("gang").gpus(1000).cpu(8000).tasks(3).priority(900));
    EXPECT_EQ(victims(engine.pass(now)), std::set<std::string>{"cores"});
}

TEST_F(Preempt, takes_the_least_cost_and_leaves_nobody_in_needlessly) {
    engine.apply(NodeSet{make_node("n1", 4)});
    run(a_job("old").gpus(2000).priority(100).preemptible());
    now = noon + Millis{3'600'000};
    run(a_job("young").gpus(2000).priority(100).preemptible());
    now = now + Millis{60'000};
    add(a_job("high").gpus(2000).priority(900));
    const auto plan = engine.pass(now);
    EXPECT_EQ(victims(plan), std::set<std::string>{"young"});
    EXPECT_NE(plan.preemptions[0].detail.find("priority 900"), std::string::npos);
}

TEST_F(Preempt, the_lowest_highest_priority_comes_before_cost) {
    engine.apply(NodeSet{make_node("n1", 3)});
    run(a_job("a").gpus(1000).priority(100).preemptible());
    run(a_job("b").gpus(1000).priority(100).preemptible());
    now = noon + Millis{36'000'000};
    run(a_job("c").gpus(1000).priority(200).preemptible());
    add(a_job("high").gpus(2000).priority(900));
    EXPECT_EQ(victims(engine.pass(now)), (std::set<std::string>{"a", "b"}));
}

TEST_F(Preempt, one_large_victim_is_not_joined_by_small_ones) {
    engine.apply(NodeSet{make_node("n1", 5)});
    run(a_job("small").gpus(1000).priority(100).preemptible());
    run(a_job("large").gpus(4000).priority(100).preemptible());
    add(a_job("high").gpus(4000).priority(900));
    EXPECT_EQ(victims(engine.pass(now)), std::set<std::string>{"large"});
}

TEST_F(Preempt, each_of_equal_preemptors_gets_its_own_victim) {
    engine.apply(NodeSet{make_node("n1", 4)});
    for (int i = 0; i < 4; ++i)
        run(a_job("v" + std::to_string(i)).gpus(1000).cpu(8000).priority(100).preemptible());
    for (int i = 0; i < 3; ++i) add(a_job("h" + std::to_string(i)).gpus(1000).cpu(8000).priority(900).at(i));
    const auto plan = engine.pass(now);
    EXPECT_EQ(victims(plan).size(), 3u);
    EXPECT_EQ(plan.preemptions.size(), 3u);
    EXPECT_TRUE(engine.pass(now).preemptions.empty());
    for (const auto& victim : victims(plan)) {
        stop(victim);
        EXPECT_TRUE(engine.pass(now).preemptions.empty());
    }
    for (const char* id : {"h0", "h1", "h2"}) EXPECT_EQ(engine.why(id, now)->queue_length, 0) << id;
}

TEST_F(Preempt, a_gang_gets_all_its_room_or_nobody_is_stopped) {
    for (const char* n : {"n1", "n2"}) engine.apply(NodeSet{make_node(n, 2)});
    for (int i = 0; i < 3; ++i) run(a_job("v" + std::to_string(i)).gpus(1000).priority(100).preemptible());
    run(a_job("fixed").gpus(1000).priority(100));
    add(a_job("too-much").gpus(1000).tasks(4).priority(900));
    EXPECT_TRUE(engine.pass(now).preemptions.empty());
    add(a_job("gang").gpus(1000).tasks(3).priority(900).at(1));
    EXPECT_EQ(victims(engine.pass(now)).size(), 3u);
    for (int i = 0; i < 3; ++i) stop("v" + std::to_string(i));
    EXPECT_EQ(engine.pass(now).placements.size(), 1u);
}

TEST_F(Preempt, honours_min_run_time_and_says_when_to_look_again) {
    Settings settings;
    settings.min_run_time = Millis{600'000};
    engine.apply(SettingsSet{settings});
    engine.apply(NodeSet{make_node("n1", 1)});
    run(a_job("v").gpus(1000).priority(100).preemptible());
    add(a_job("high").gpus(1000).priority(900));
    EXPECT_TRUE(engine.pass(noon + Millis{1000}).preemptions.empty());
    ASSERT_TRUE(engine.wake_at());
    EXPECT_EQ(*engine.wake_at(), noon + Millis{600'000});
    EXPECT_EQ(victims(engine.pass(noon + Millis{600'000})), std::set<std::string>{"v"});
}

TEST_F(Preempt, honours_the_preemption_budget) {
    Settings settings;
    settings.preemption_budget = 1;
    engine.apply(SettingsSet{settings});
    engine.apply(NodeSet{make_node("n1", 1)});
    auto victim = a_job("v").gpus(1000).priority(100).preemptible();
    victim.job.preemptions = 1;
    run(victim);
    add(a_job("high").gpus(1000).priority(900));
    EXPECT_TRUE(engine.pass(now).preemptions.empty());
}

TEST_F(Preempt, nobody_is_stopped_for_a_job_over_its_quota) {
    Tenant tenant;
    tenant.path = "poor";
    tenant.hard.gpu = MilliGpu(500);
    engine.apply(TenantSet{tenant});
    engine.apply(NodeSet{make_node("n1", 1)});
    run(a_job("v").gpus(1000).priority(100).preemptible());
    add(a_job("high").gpus(1000).priority(900).tenant("poor"));
    EXPECT_TRUE(engine.pass(now).preemptions.empty());
}

TEST_F(Preempt, a_dry_run_names_the_same_victims_and_changes_nothing) {
    engine.apply(NodeSet{make_node("n1", 2)});
    run(a_job("v1").gpus(1000).priority(100).preemptible());
    run(a_job("v2").gpus(1000).priority(200).preemptible());
    add(a_job("high").gpus(1000).priority(900));
    const auto before = engine.state_hash();
    const auto dry = engine.would_preempt("high", now);
    ASSERT_EQ(dry.size(), 1u);
    EXPECT_EQ(engine.state_hash(), before);
    EXPECT_EQ(victims(engine.pass(now)), std::set<std::string>{dry[0].victim});
}

TEST_F(Preempt, survives_a_restart_without_choosing_again) {
    engine.apply(NodeSet{make_node("n1", 2)});
    run(a_job("v1").gpus(1000).priority(100).preemptible());
    run(a_job("v2").gpus(1000).priority(100).preemptible());
    add(a_job("high").gpus(1000).priority(900));
    const auto plan = engine.pass(now);
    ASSERT_EQ(plan.preemptions.size(), 1u);

    Engine restarted;
    restarted.apply(NodeSet{make_node("n1", 2)});
    for (const auto* id : {"v1", "v2"}) {
        restarted.apply(JobAdded{a_job(id).gpus(1000).priority(100).preemptible()});
        Allocation allocation;
        allocation.node = "n1";
        const int card = std::string(id) == "v1" ? 0 : 1;
        allocation.gpus.push_back(
            {card, "GPU-n1-" + std::to_string(card), MilliGpu(1000), Mebibytes(40960), true, false});
        allocation.cpu = MilliCpu(1000);
        allocation.memory = Bytes(gib);
        restarted.apply(TaskPlaced{id, 0, allocation, now});
    }
    restarted.apply(JobAdded{a_job("high").gpus(1000).priority(900)});
    restarted.apply(PreemptionStarted{plan.preemptions[0].victim, "high"});
    restarted.apply(JobAdded{a_job("sneak").gpus(1000).priority(50)});
    EXPECT_TRUE(restarted.pass(now).preemptions.empty());
    restarted.apply(TaskFreed{plan.preemptions[0].victim, 0});
    const auto next = restarted.pass(now);
    EXPECT_EQ(node_of(restarted, next, "high"), "n1");
}

}  // namespace
}  // namespace crater::engine
