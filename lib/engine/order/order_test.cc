// Who comes first, who waits for what, and gangs.
#include <set>

#include "testing.h"

namespace crater::engine {
namespace {

using namespace testing;

class Order : public ::testing::Test {
  protected:
    Engine engine;
    void add(const EngineJob& job) { engine.apply(JobAdded{job}); }
};

TEST_F(Order, is_priority_then_submit_time_then_id) {
    add(a_job("z").at(1));
    add(a_job("b").at(2));
    add(a_job("a").at(2));
    add(a_job("urgent").at(9).priority(900));
    EXPECT_EQ(engine.waiting("training"), (std::vector<std::string>{"urgent", "z", "a", "b"}));
}

TEST_F(Order, queues_of_higher_priority_are_served_first) {
    engine.apply(NodeSet{make_node("n1", 1)});
    add_queue(engine, "offline", Policy::priority, 100);
    add_queue(engine, "inference", Policy::spread, 700);
    add(a_job("o").queue("offline").gpus(1000).at(0));
    add(a_job("i").queue("inference").gpus(1000).at(5));
    const auto plan = engine.pass(noon);
    EXPECT_EQ(node_of(engine, plan, "i"), "n1");
    EXPECT_EQ(node_of(engine, plan, "o"), "");
}

TEST_F(Order, a_cpu_job_never_waits_behind_blocked_gpu_jobs) {
    engine.apply(NodeSet{make_node("n1", 0, 1)});
    for (int i = 0; i < 500; ++i) add(a_job("g" + std::to_string(i)).gpus(1000).priority(900));
    add(a_job("cpu").priority(0).at(100));
    EXPECT_EQ(node_of(engine, engine.pass(noon), "cpu"), "n1");
}

TEST_F(Order, equal_blocked_jobs_cost_one_look_and_none_while_nothing_is_freed) {
    engine.apply(NodeSet{make_node("n1", 1)});
    for (int i = 0; i < 10'000; ++i) add(a_job("g" + std::to_string(i)).gpus(1000).at(i));
    // One placement, one look that finds no room: within a bound of five.
    auto plan = engine.pass(noon, {.placements_max = 1000, .evaluations_max = 5});
    EXPECT_EQ(plan.placements.size(), 1u);
    EXPECT_FALSE(plan.more);
    EXPECT_FALSE(engine.wants_pass());
    engine.apply(TaskFreed{"g0", 0});
    EXPECT_TRUE(engine.wants_pass());
    EXPECT_EQ(node_of(engine, engine.pass(noon), "g1"), "n1");
}

TEST_F(Order, a_bounded_pass_says_that_there_is_more) {
    engine.apply(NodeSet{make_node("n1", 8)});
    for (int i = 0; i < 8; ++i) add(a_job("g" + std::to_string(i)).gpus(1000).at(i));
    auto plan = engine.pass(noon, {.placements_max = 3, .evaluations_max = 1000});
    EXPECT_EQ(plan.placements.size(), 3u);
    EXPECT_TRUE(plan.more);
    EXPECT_TRUE(engine.wants_pass());
    EXPECT_EQ(engine.pass(noon).placements.size(), 5u);
}

TEST_F(Order, a_blocked_dependency_is_not_considered_until_it_is_met) {
    engine.apply(NodeSet{make_node("n1", 1)});
    auto job = a_job("later");
    job.job.blocked = true;
    add(job);
    EXPECT_TRUE(engine.pass(noon).placements.empty());
    EXPECT_EQ(engine.why("later", noon)->binding, "dependency");
    engine.apply(JobUnblocked{"later"});
    EXPECT_EQ(node_of(engine, engine.pass(noon), "later"), "n1");
}

TEST_F(Order, a_preempted_job_keeps_its_place_in_the_queue) {
    add(a_job("late").at(5));
    add(a_job("early").at(1));
    engine.apply(NodeSet{make_node("n1", 0, 1)});
    engine.pass(noon);
    engine.apply(NodeFlags{"n1", true, false});
    add(a_job("middle").at(3));
    for (const char* id : {"late", "early"}) {
        engine.apply(TaskFreed{id, 0});
        engine.apply(JobRequeued{id, 1});
    }
    EXPECT_EQ(engine.waiting("training"), (std::vector<std::string>{"early", "middle", "late"}));
}

// Two nodes free half of what the gang needs each; neither half may start alone.
TEST_F(Order, a_gang_starts_whole_or_not_at_all) {
    engine.apply(NodeSet{make_node("n1", 2)});
    engine.apply(NodeSet{make_node("n2", 2)});
    const auto before = engine.books();
    add(a_job("gang").gpus(1000).tasks(5));
    const auto waiting = engine.state_hash();
    EXPECT_TRUE(engine.pass(noon).placements.empty());
    EXPECT_EQ(engine.state_hash(), waiting);
    for (const auto& book : engine.books()) EXPECT_EQ(book.tasks, 0);
    engine.apply(NodeSet{make_node("n3", 1)});
    const auto plan = engine.pass(noon);
    ASSERT_EQ(plan.placements.size(), 1u);
    ASSERT_EQ(plan.placements[0].tasks, 5);
    std::set<std::pair<std::string, std::int64_t>> cards;
    for (const auto& [task, allocation] : engine.allocations(plan.placements[0]))
        cards.insert({allocation.node, allocation.gpus.at(0).index});
    EXPECT_EQ(cards.size(), 5u);
}

TEST_F(Order, one_task_of_a_gang_can_wait_again_alone) {
    engine.apply(NodeSet{make_node("n1", 2)});
    add(a_job("gang").gpus(1000).tasks(2));
    ASSERT_EQ(engine.pass(noon).placements.size(), 1u);
    engine.apply(TaskFreed{"gang", 1});
    engine.apply(TaskRequeued{"gang", 1});
    const auto plan = engine.pass(noon);
    ASSERT_EQ(plan.placements.size(), 1u);
    ASSERT_EQ(plan.placements[0].tasks, 1);
    EXPECT_EQ(engine.allocations(plan.placements[0])[0].first, 1);
}

TEST_F(Order, the_largest_gang_is_placed_and_undone_in_one_step) {
    for (int i = 0; i < 100; ++i) engine.apply(NodeSet{make_node("n" + std::to_string(i), 8)});
    add(a_job("gang").gpus(1000).gpu_memory(1).cpu(100).memory(gib).tasks(4096));
    ASSERT_EQ(engine.pass(noon).placements.size(), 1u);
    EXPECT_EQ(engine.usage("team").cpu.value, 409'600);
}

}  // namespace
}  // namespace crater::engine
