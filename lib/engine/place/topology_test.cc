#include <algorithm>
#include <set>

#include "testing.h"

namespace crater::engine {
namespace {

using namespace testing;

// `racks` racks of `size` nodes with eight cards each, four racks under a spine.
Engine& racks(Engine& engine, int count, int size) {
    for (int r = 0; r < count; ++r)
        for (int i = 0; i < size; ++i) {
            auto node = make_node("r" + std::to_string(r) + "n" + std::to_string(i));
            node.labels["topology.rack"] = "r" + std::to_string(r);
            node.labels["topology.spine"] = "s" + std::to_string(r / 4);
            engine.apply(NodeSet{node});
        }
    return engine;
}

JobMaker gang(const std::string& id, std::int64_t tasks, TopologyLevel level, bool required) {
    auto job = a_job(id).gpus(8000).tasks(tasks);
    job.spec.topology = {level, required};
    return job;
}

std::set<std::string> racks_of(const Engine& engine, const Plan& plan, const std::string& job) {
    std::set<std::string> out;
    for (const auto& placement : plan.placements)
        if (placement.job == job)
            for (const auto& [task, allocation] : engine.allocations(placement))
                out.insert(allocation.node.substr(0, allocation.node.find('n')));
    return out;
}

TEST(Topology, a_gang_goes_into_the_tightest_rack_that_holds_it) {
    Engine engine;
    racks(engine, 3, 4);
    engine.apply(JobAdded{a_job("a").gpus(8000).tasks(2).at(1)});
    const auto first = engine.pass(noon);
    ASSERT_EQ(racks_of(engine, first, "a").size(), 1U);
    engine.apply(JobAdded{gang("b", 2, TopologyLevel::rack, true)});
    EXPECT_EQ(racks_of(engine, engine.pass(noon), "b"), racks_of(engine, first, "a"));
    engine.apply(JobAdded{gang("c", 3, TopologyLevel::rack, true)});
    const auto third = racks_of(engine, engine.pass(noon), "c");
    ASSERT_EQ(third.size(), 1U);
    EXPECT_NE(third, racks_of(engine, first, "a"));
}

TEST(Topology, required_waits_and_says_which_rack_comes_closest) {
    Engine engine;
    racks(engine, 2, 4);
    engine.apply(JobAdded{gang("a", 1, TopologyLevel::none, false)});
    engine.apply(JobAdded{gang("b", 2, TopologyLevel::rack, true)});
    engine.apply(JobAdded{gang("c", 2, TopologyLevel::rack, true)});
    ASSERT_EQ(engine.pass(noon).placements.size(), 3U);
    engine.apply(JobAdded{gang("d", 4, TopologyLevel::rack, true)});
    EXPECT_TRUE(engine.pass(noon).placements.empty());
    const auto why = engine.why("d", noon);
    EXPECT_EQ(why->binding, "topology");
    EXPECT_EQ(why->summary, "No rack holds all 4 tasks: the best, rack r1, has room for 2.");
    EXPECT_TRUE(engine.would_place(gang("e", 4, TopologyLevel::rack, true), noon)->candidates.empty());
    engine.apply(JobRemoved{"c"});
    EXPECT_EQ(racks_of(engine, engine.pass(noon), "d"), std::set<std::string>{"r1"});
}

TEST(Topology, preferred_goes_one_level_up_where_no_rack_holds_it) {
    Engine engine;
    racks(engine, 8, 2);
    engine.apply(JobAdded{gang("a", 5, TopologyLevel::rack, false)});
    const auto three = racks_of(engine, engine.pass(noon), "a");
    EXPECT_EQ(three.size(), 3U) << "as few racks as hold it";
    const bool first = three.contains("r0");
    for (const auto& rack : three) EXPECT_EQ(rack < "r4", first) << "all under one spine";
    engine.apply(JobAdded{gang("b", 10, TopologyLevel::node, false)});
    EXPECT_EQ(racks_of(engine, engine.pass(noon), "b").size(), 6U) << "at last anywhere";
}

TEST(Topology, a_task_that_starts_again_stays_with_its_gang) {
    Engine engine;
    racks(engine, 2, 2);
    engine.apply(JobAdded{gang("a", 2, TopologyLevel::rack, true)});
    ASSERT_EQ(racks_of(engine, engine.pass(noon), "a"), std::set<std::string>{"r0"});
    engine.apply(TaskFreed{"a", 1});
    auto other = a_job("b").gpus(8000);
    other.spec.node.include = {"r0n1"};
    engine.apply(JobAdded{other});
    ASSERT_EQ(node_of(engine, engine.pass(noon), "b"), "r0n1");
    engine.apply(TaskRequeued{"a", 1});
    EXPECT_TRUE(engine.pass(noon).placements.empty());
    EXPECT_EQ(engine.why("a", noon)->summary,
              "Its other tasks stand in rack r0, which has room for 0 of 1 waiting task.");
    engine.apply(JobRemoved{"b"});
    EXPECT_EQ(racks_of(engine, engine.pass(noon), "a"), std::set<std::string>{"r0"});
}

TEST(Topology, what_no_rack_could_hold_is_refused_at_submit) {
    Engine engine;
    racks(engine, 2, 4);
    const auto no = engine.admit(gang("a", 5, TopologyLevel::rack, true));
    ASSERT_FALSE(no);
    EXPECT_EQ(no.error().code, Code::unsatisfiable);
    EXPECT_EQ(no.error().field, "topology.level");
    EXPECT_NE(no.error().message.find("the largest, rack r0, holds 4"), std::string::npos)
        << no.error().message;
    EXPECT_TRUE(engine.admit(gang("a", 5, TopologyLevel::rack, false)));
    EXPECT_TRUE(engine.admit(gang("a", 5, TopologyLevel::spine, true)));
    Engine bare;
    bare.apply(NodeSet{make_node("n")});
    auto two = gang("a", 2, TopologyLevel::rack, true);
    two.gpus(1000);
    ASSERT_FALSE(bare.admit(two));
    EXPECT_NE(bare.admit(two).error().hint.find("topology.rack"), std::string::npos);
}

TEST(Topology, others_give_way_in_one_rack_for_a_gang_that_needs_one) {
    Engine engine;
    racks(engine, 2, 2);
    for (int i = 0; i < 4; ++i)
        engine.apply(JobAdded{a_job("low" + std::to_string(i)).gpus(8000).priority(100).preemptible()});
    ASSERT_EQ(engine.pass(noon).placements.size(), 4U);
    auto high = gang("high", 2, TopologyLevel::rack, true);
    engine.apply(JobAdded{high.priority(800)});
    const auto plan = engine.pass(noon + Millis(1000));
    ASSERT_EQ(plan.preemptions.size(), 2U);
    for (const auto& p : plan.preemptions) {
        engine.apply(TaskFreed{p.victim, 0});
        engine.apply(JobRequeued{p.victim, 1});
    }
    EXPECT_EQ(racks_of(engine, engine.pass(noon + Millis(2000)), "high").size(), 1U);
}

TEST(Topology, five_thousand_nodes_are_looked_at_by_sums_first) {
    Engine engine;
    racks(engine, 157, 32);
    for (int i = 0; i < 3; ++i) {
        engine.apply(JobAdded{gang("g" + std::to_string(i), 64, TopologyLevel::rack, false)});
        const auto plan = engine.pass(noon);
        EXPECT_EQ(racks_of(engine, plan, "g" + std::to_string(i)).size(), 2U);
    }
}

TEST(AntiAffinity, holds_both_ways_and_for_those_who_came_first) {
    Engine engine;
    engine.apply(NodeSet{make_node("a")});
    engine.apply(NodeSet{make_node("b")});
    auto web = a_job("web").gpus(1000);
    web.spec.labels["app"] = "web";
    engine.apply(JobAdded{web});
    const auto there = node_of(engine, engine.pass(noon), "web");
    auto shy = a_job("shy").gpus(1000);
    shy.spec.anti_affinity.jobs = {{{{"app", "web"}}}};
    engine.apply(JobAdded{shy});
    const auto away = node_of(engine, engine.pass(noon), "shy");
    EXPECT_NE(away, "");
    EXPECT_NE(away, there);
    auto second = web;
    second.job.id = "web2";
    engine.apply(JobAdded{second});
    EXPECT_EQ(node_of(engine, engine.pass(noon), "web2"), there);
    engine.apply(NodeFlags{there, true, false});
    second.job.id = "web3";
    engine.apply(JobAdded{second});
    EXPECT_TRUE(engine.pass(noon).placements.empty());
    const auto why = engine.why("web3", noon);
    EXPECT_NE(why->rejections.end(), std::find_if(why->rejections.begin(), why->rejections.end(),
                                                  [](const auto& r) { return r.filter == "anti_affinity"; }));
    engine.apply(JobRemoved{"shy"});
    EXPECT_EQ(node_of(engine, engine.pass(noon), "web3"), away);
}

TEST(AntiAffinity, spread_tasks_stand_on_different_nodes) {
    Engine engine;
    for (const char* name : {"a", "b", "c"}) engine.apply(NodeSet{make_node(name)});
    auto job = a_job("j").gpus(1000).tasks(3);
    job.spec.anti_affinity.spread_tasks = true;
    engine.apply(JobAdded{job});
    const auto plan = engine.pass(noon);
    std::set<std::string> nodes;
    for (const auto& [task, allocation] : engine.allocations(plan.placements.at(0)))
        nodes.insert(allocation.node);
    EXPECT_EQ(nodes.size(), 3U);
    EXPECT_FALSE(engine.admit([&] {
        auto four = job;
        four.tasks(4);
        return EngineJob(four);
    }()));
}

TEST(Taints, keep_away_who_does_not_tolerate_them) {
    Engine engine;
    engine.apply(NodeSet{make_node("a")});
    engine.apply(NodeTaints{"a", {{"kind", "old"}}});
    engine.apply(JobAdded{a_job("plain").gpus(1000)});
    auto tough = a_job("tough").gpus(1000);
    tough.spec.tolerations = {{"kind", ""}};
    engine.apply(JobAdded{tough});
    auto plan = engine.pass(noon);
    EXPECT_EQ(node_of(engine, plan, "plain"), "");
    EXPECT_EQ(node_of(engine, plan, "tough"), "a");
    EXPECT_NE(engine.why("plain", noon)->summary.find("the taint kind=old"), std::string::npos);
    EXPECT_FALSE(engine.admit(a_job("other").gpus(1000))) << "it would wait for ever";
    engine.apply(NodeTaints{"a", {}});
    EXPECT_EQ(node_of(engine, engine.pass(noon), "plain"), "a");
}

TEST(Maintenance, nothing_is_placed_that_would_still_run_and_afterwards_all_is) {
    Engine engine;
    engine.apply(NodeSet{make_node("a")});
    auto lasting = [](const std::string& id, int minutes) {
        auto job = a_job(id).gpus(1000);
        job.spec.time_limit = std::chrono::minutes(minutes);
        return job;
    };
    engine.apply(JobAdded{lasting("long", 120)});
    engine.apply(NodeMaintenance{"a", {{noon + std::chrono::minutes(60), noon + std::chrono::minutes(90)}}});
    engine.apply(JobAdded{lasting("short", 30)});
    engine.apply(JobAdded{a_job("unknown").gpus(1000)});
    auto plan = engine.pass(noon);
    EXPECT_EQ(node_of(engine, plan, "short"), "a");
    EXPECT_EQ(node_of(engine, plan, "unknown"), "a");
    EXPECT_EQ(node_of(engine, plan, "long"), "");
    EXPECT_NE(engine.why("long", noon)->summary.find("maintenance begins before"), std::string::npos)
        << engine.why("long", noon)->summary;
    ASSERT_TRUE(engine.wake_at());
    EXPECT_EQ(*engine.wake_at(), noon + std::chrono::minutes(90));

    engine.apply(JobAdded{a_job("late").gpus(1000)});
    EXPECT_TRUE(engine.pass(noon + std::chrono::minutes(61)).placements.empty());
    EXPECT_NE(engine.why("late", noon + std::chrono::minutes(61))->summary.find("under maintenance"),
              std::string::npos);
    plan = engine.pass(noon + std::chrono::minutes(90));
    EXPECT_EQ(node_of(engine, plan, "late"), "a");
    EXPECT_EQ(node_of(engine, plan, "long"), "a");
}

}  // namespace
}  // namespace crater::engine
