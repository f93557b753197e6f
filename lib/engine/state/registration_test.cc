// Nodes that come back different while tasks hold parts of them.
#include "testing.h"

namespace crater::engine {
namespace {

using namespace testing;

TEST(Registration, a_card_that_is_gone_stays_on_the_books_and_takes_no_work) {
    Engine engine;
    engine.apply(NodeSet{make_node("n1", 2)});
    engine.apply(JobAdded{a_job("a").gpus(1000)});
    engine.apply(JobAdded{a_job("b").gpus(1000).gpu_memory(10240).at(1)});
    ASSERT_EQ(engine.pass(noon).placements.size(), 2u);

    auto smaller = make_node("n1", 2);
    smaller.gpus.erase(smaller.gpus.begin());  // the card of a
    smaller.cpu = MilliCpu(1000);
    smaller.memory = Bytes(gib / 2);
    engine.apply(NodeSet{smaller});
    const auto book = engine.book("n1");
    ASSERT_EQ(book->cards.size(), 2u);
    EXPECT_EQ(book->tasks, 2);
    EXPECT_EQ(book->cards[0].memory_used.value, 10240);
    EXPECT_TRUE(book->cards[1].exclusive);
    EXPECT_EQ(book->cpu_used.value, 2000);

    engine.apply(JobAdded{a_job("c").gpus(1000).gpu_memory(1024).cpu(100).at(2)});
    EXPECT_TRUE(engine.pass(noon).placements.empty());  // more is held than there is
    EXPECT_EQ(engine.why("c", noon)->summary,
              "Needs 0.1 cores on one node; the 1 node of its kind has at most 0 cores free.");
    engine.apply(TaskFreed{"a", 0});
    engine.apply(TaskFreed{"b", 0});
    EXPECT_EQ(engine.usage("team").gpu.value, 0);
    engine.apply(NodeSet{make_node("n1", 2)});
    EXPECT_EQ(node_of(engine, engine.pass(noon), "c"), "n1");
}

TEST(Registration, the_only_card_that_is_gone_while_it_is_held_is_on_no_index) {
    Engine engine;
    engine.apply(NodeSet{make_node("n1", 1)});
    engine.apply(NodeSet{make_node("n2", 1)});
    engine.apply(JobAdded{a_job("a").gpus(1000)});
    engine.apply(JobAdded{a_job("b").gpus(1000).at(1)});
    const auto plan = engine.pass(noon);
    ASSERT_EQ(plan.placements.size(), 2u);
    auto bare = make_node("n1", 1);
    bare.gpus.clear();
    engine.apply(NodeSet{bare});
    engine.apply(JobAdded{a_job("c").gpus(1000).at(2)});
    EXPECT_TRUE(engine.pass(noon).placements.empty());
    engine.apply(NodeSet{make_node("n1", 1)});
    const std::string freed = node_of(engine, plan, "a") == "n1" ? "a" : "b";
    engine.apply(TaskFreed{freed, 0});
    EXPECT_EQ(node_of(engine, engine.pass(noon), "c"), "n1");
}

TEST(Registration, a_place_kept_on_a_card_that_is_cut_otherwise_now_is_looked_for_anew) {
    const auto cut = [](bool partitioned) {
        auto node = make_node("n1", 1);
        if (!partitioned) return node;
        node.gpus[0].mig_enabled = true;
        node.gpus[0].partitions = {{"3g.20gb", MilliGpu(428), Mebibytes(19968), 4, {0, 4}}};
        return node;
    };
    Engine engine;
    engine.apply(NodeSet{cut(true)});
    for (const char* id : {"a", "b", "c"}) {
        auto job = a_job(id).gpus(1000).gpu_memory(16384).at(id[0]);
        job.spec.duration = std::chrono::minutes(10);
        engine.apply(JobAdded{job});
    }
    ASSERT_EQ(engine.pass(noon).placements.size(), 2u);  // and a place is kept for c
    engine.apply(NodeSet{cut(false)});
    engine.apply(JobAdded{a_job("d").at(1000)});
    engine.pass(noon);
    engine.apply(TaskFreed{"a", 0});
    engine.apply(TaskFreed{"b", 0});
    EXPECT_EQ(node_of(engine, engine.pass(noon), "c"), "n1");
}

TEST(Registration, cards_are_known_by_uuid_when_their_indexes_move) {
    Engine engine;
    engine.apply(NodeSet{make_node("n1", 2)});
    engine.apply(JobAdded{a_job("a").gpus(1000)});
    const auto plan = engine.pass(noon);
    const auto held = allocation_of(engine, plan, "a")->gpus[0];
    auto swapped = make_node("n1", 2);
    std::swap(swapped.gpus[0].uuid, swapped.gpus[1].uuid);
    engine.apply(NodeSet{swapped});
    engine.apply(JobAdded{a_job("b").gpus(1000).at(1)});
    const auto next = engine.pass(noon);
    ASSERT_NE(allocation_of(engine, next, "b"), nullptr);
    EXPECT_NE(allocation_of(engine, next, "b")->gpus[0].uuid, held.uuid);
    EXPECT_EQ(allocation_of(engine, next, "b")->gpus[0].index, held.index);
}

TEST(Registration, a_restart_that_meets_a_changed_node_keeps_the_stored_placement) {
    Engine engine;
    auto changed = make_node("n1", 1);
    changed.disks.clear();
    engine.apply(NodeSet{changed});
    engine.apply(JobAdded{a_job("a").gpus(1000)});
    Allocation stored;
    stored.node = "n1";
    stored.gpus = {{7, "GPU-that-left", MilliGpu(1000), Mebibytes(40960), true, false}};
    stored.cpu = MilliCpu(1000);
    stored.numa_node = 9;
    stored.memory_bandwidth = BytesPerSecond(1);
    stored.disk = "sdx";
    stored.disk_size = Bytes(gib);
    engine.apply(TaskPlaced{"a", 0, stored, noon});
    EXPECT_EQ(engine.book("n1")->tasks, 1);
    EXPECT_EQ(engine.book("n1")->disk_used.value, gib);
    engine.apply(JobAdded{a_job("b").gpus(1000)});
    EXPECT_EQ(node_of(engine, engine.pass(noon), "b"), "n1");
    engine.apply(JobRemoved{"a"});
    EXPECT_EQ(engine.book("n1")->tasks, 1);
}

TEST(Registration, unhealthy_and_mig_cards_take_nothing) {
    Engine engine;
    auto node = make_node("n1", 3);
    node.gpus[0].healthy = false;
    node.gpus[0].health_detail = "XID 79";
    node.gpus[1].mig_enabled = true;
    engine.apply(NodeSet{node});
    engine.apply(JobAdded{a_job("a").gpus(1000)});
    engine.apply(JobAdded{a_job("b").gpus(2000).at(1)});
    const auto plan = engine.pass(noon);
    EXPECT_EQ(allocation_of(engine, plan, "a")->gpus[0].index, 2);
    EXPECT_EQ(engine.why("b", noon, {.nodes = true})->nodes[0].detail,
              "needs 2 healthy cards, it has 1 (card 0: XID 79)");
    EXPECT_TRUE(engine.admit(a_job("c").gpus(3000)));  // they may be mended
}

TEST(Registration, a_node_may_leave_and_come_back) {
    Engine engine;
    const auto empty = engine.state_hash();
    engine.apply(NodeSet{make_node("n1", 1)});
    engine.apply(NodeFlags{"n1", true, false});
    engine.apply(NodeRemoved{"n1"});
    EXPECT_EQ(engine.state_hash(), empty);
    EXPECT_TRUE(engine.books().empty());
    EXPECT_TRUE(engine.largest_free().empty());
    engine.apply(JobAdded{a_job("a").gpus(1000)});
    EXPECT_TRUE(engine.pass(noon).placements.empty());
    EXPECT_EQ(engine.why("a", noon)->summary, "No node has registered yet.");
    engine.apply(NodeSet{make_node("n1", 1)});
    EXPECT_EQ(node_of(engine, engine.pass(noon), "a"), "n1");
}

TEST(Registration, a_lost_node_keeps_what_is_held_until_it_is_freed) {
    Engine engine;
    engine.apply(NodeSet{make_node("n1", 1)});
    engine.apply(JobAdded{a_job("a").gpus(1000)});
    engine.pass(noon);
    engine.apply(NodeFlags{"n1", false, true});
    engine.apply(JobAdded{a_job("b").gpus(1000).at(1)});
    EXPECT_TRUE(engine.pass(noon).placements.empty());
    EXPECT_EQ(engine.book("n1")->tasks, 1);
    engine.apply(TaskFreed{"a", 0});
    EXPECT_TRUE(engine.pass(noon).placements.empty());
    engine.apply(NodeFlags{"n1", false, false});
    EXPECT_EQ(node_of(engine, engine.pass(noon), "b"), "n1");
}

TEST(Registration, amounts_beyond_all_reason_are_refused_not_wrapped) {
    Engine engine;
    engine.apply(NodeSet{make_node("n1", 8)});
    auto job =
        a_job("a").gpus(INT64_MAX - 1000).gpu_memory(INT64_MAX).cpu(INT64_MAX).memory(INT64_MAX).tasks(4096);
    job.spec.resources.disk.size = Bytes(INT64_MAX);
    job.spec.resources.disk.iops = Iops(INT64_MAX);
    job.spec.resources.memory.bandwidth = BytesPerSecond(INT64_MAX);
    EXPECT_FALSE(engine.admit(job));
    engine.apply(JobAdded{job});
    EXPECT_TRUE(engine.pass(noon).placements.empty());
    EXPECT_TRUE(engine.why("a", noon));
}

}  // namespace
}  // namespace crater::engine
