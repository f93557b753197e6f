#include <map>

#include "crater/engine/hooks.h"
#include "testing.h"

namespace crater::engine {
namespace {

using namespace testing;

// Says of each node by name whether it is kept and how good it is.
struct Opinion final : PlacementHook, HookSource {
    std::map<std::string, double> good;  // nodes not named are turned away
    bool given = true;
    int asked = 0;
    std::int64_t neighbours = 0;

    std::string_view name() const override { return "opinion"; }
    PlacementHook* find(std::string_view wanted) override { return wanted == name() ? this : nullptr; }
    HookAnswer ask(const JobView&, std::span<const NodeView> nodes) override {
        ++asked;
        HookAnswer out{given, {}, {}};
        for (const auto& node : nodes) {
            const auto it = good.find(node.inventory->name);
            out.keep.push_back(it != good.end());
            out.score.push_back(it == good.end() ? 0 : it->second);
            neighbours = std::max(neighbours, node.job_tasks);
        }
        return out;
    }
};

struct Asked : ::testing::TestWithParam<Policy> {
    Engine engine;
    Opinion opinion;
    void SetUp() override {
        QueueSpec queue;
        queue.name = "training";
        queue.policy = GetParam();
        queue.plugins = {{"opinion", 10}};
        engine.apply(QueueSet{queue});
        for (const char* name : {"n0", "n1", "n2"}) engine.apply(NodeSet{make_node(name, 4)});
        engine.set_hooks(&opinion);
    }
};

TEST_P(Asked, the_node_a_plugin_likes_best_is_taken_and_the_record_says_so) {
    opinion.good = {{"n0", 0.1}, {"n2", 0.9}};
    engine.apply(JobAdded{a_job("a").gpus(1000)});
    const auto plan = engine.pass(noon);
    EXPECT_EQ(node_of(engine, plan, "a"), "n2");
    const auto trace = engine.words(plan.placements.at(0).trace);
    EXPECT_EQ(trace.candidates.at(0).node, "n2");
    EXPECT_EQ(trace.candidates.at(0).terms.back().name, "plugin opinion");
    EXPECT_EQ(trace.rejections.at(0).nodes, 1) << "n1 was turned away";
}

TEST_P(Asked, a_job_whose_every_node_is_turned_away_waits_until_the_queue_changes) {
    engine.apply(JobAdded{a_job("a").gpus(500)});
    EXPECT_TRUE(engine.pass(noon).placements.empty());
    opinion.good = {{"n1", 1}};
    QueueSpec queue;
    queue.name = "training";
    queue.policy = GetParam();
    queue.plugins = {{"opinion", 10}};
    engine.apply(QueueSet{queue});
    EXPECT_EQ(node_of(engine, engine.pass(noon), "a"), "n1");
}

TEST_P(Asked, a_plugin_that_does_not_answer_decides_nothing) {
    opinion.given = false;
    engine.apply(JobAdded{a_job("a").gpus(1000)});
    EXPECT_NE(node_of(engine, engine.pass(noon), "a"), "");
}

TEST_P(Asked, each_task_of_a_gang_is_asked_about_with_those_before_it) {
    opinion.good = {{"n0", 1}, {"n1", 0.5}};
    engine.apply(JobAdded{a_job("a").gpus(1000).tasks(3)});
    EXPECT_EQ(engine.pass(noon).placements.at(0).tasks, 3);
    EXPECT_EQ(opinion.asked, 3);
    EXPECT_EQ(opinion.neighbours, 2);
}

// A gang that is to stand in one rack: its tasks go where the plugin wants them there, and to another rack
// where it wants none in this one.
TEST_P(Asked, each_task_of_a_gang_placed_by_level_is_asked_about) {
    for (int i = 0; i < 4; ++i) {
        auto node = make_node("r" + std::to_string(i), 4);
        node.labels["topology.rack"] = i < 2 ? "left" : "right";
        engine.apply(NodeSet{node});
    }
    const auto gang = [](const char* id) {
        auto job = a_job(id).gpus(1000).tasks(3);
        job.spec.topology = {TopologyLevel::rack, true};
        return job;
    };
    opinion.good = {{"r2", 0.1}, {"r3", 0.9}};
    engine.apply(JobAdded{gang("a")});
    const auto plan = engine.pass(noon);
    ASSERT_EQ(plan.placements.size(), 1u);
    for (const auto& [task, allocation] : engine.allocations(plan.placements[0]))
        EXPECT_EQ(allocation.node, "r3");
    EXPECT_EQ(opinion.neighbours, 2);
    const auto trace = engine.words(plan.placements[0].trace);
    EXPECT_EQ(trace.candidates.at(0).terms.back().name, "plugin opinion");

    opinion.good = {{"n0", 1}};  // which stands in no rack
    engine.apply(JobAdded{gang("b")});
    EXPECT_TRUE(engine.pass(noon).placements.empty());
    EXPECT_EQ(engine.why("b", noon)->binding, "plugin");
}

TEST_P(Asked, a_node_far_down_the_order_is_found_when_all_before_it_are_turned_away) {
    for (int i = 100; i < 300; ++i) engine.apply(NodeSet{make_node("m" + std::to_string(i), 2)});
    opinion.good = {{"m287", 0.5}};
    engine.apply(JobAdded{a_job("a").gpus(500)});
    EXPECT_EQ(node_of(engine, engine.pass(noon), "a"), "m287");
}

INSTANTIATE_TEST_SUITE_P(Policies, Asked, ::testing::Values(Policy::best_fit, Policy::price, Policy::spread));

}  // namespace
}  // namespace crater::engine
