#include "state/partitions.h"

#include <map>

#include "testing.h"

namespace crater::engine {
namespace {

using namespace testing;

Gpu a100() {
    Gpu gpu{.index = 0, .model = "a100-pcie-40gb", .memory = Mebibytes(40960)};
    cut_into_instances(gpu);
    return gpu;
}

TEST(Partitions, the_smallest_that_has_both_serves) {
    const auto table = partitions_of(a100());
    const auto name = [&](std::int64_t memory, std::int64_t compute) {
        const int row = table.least(memory, compute);
        return row < 0 ? std::string("none") : table.rows[static_cast<std::size_t>(row)].name;
    };
    EXPECT_EQ(name(1, 0), "1g.5gb");
    EXPECT_EQ(name(5120, 0), "1g.5gb");  // as it is called, though the driver shows 4,864 MiB
    EXPECT_EQ(name(5121, 0), "2g.10gb");
    EXPECT_EQ(name(20480, 0), "3g.20gb");
    EXPECT_EQ(name(20480, 500), "4g.20gb");
    EXPECT_EQ(name(20481, 0), "7g.40gb");
    EXPECT_EQ(name(40961, 0), "none");
}

TEST(Partitions, small_ones_go_where_the_largest_can_still_be_placed) {
    const auto table = partitions_of(a100());
    const int one = table.named("1g.5gb"), three = table.named("3g.20gb"), four = table.named("4g.20gb");
    Slots taken = 0;
    EXPECT_EQ(table.start_for(one, taken), 6);  // the last: 4g.20gb begins at 0 only
    taken += Partitions::covered(1, 6);
    EXPECT_EQ(table.largest(taken), 19968);
    EXPECT_EQ(table.start_for(four, taken), 0);
    EXPECT_EQ(table.start_for(three, taken), 0);  // the other place has a part taken
    taken += Partitions::covered(4, 0);
    EXPECT_EQ(table.start_for(three, taken), -1);
    EXPECT_EQ(table.largest(taken), 9856);
    taken -= Partitions::covered(1, 6);
    EXPECT_EQ(table.start_for(three, taken), 4);
}

TEST(Partitions, a_list_that_makes_no_sense_is_told) {
    Gpu gpu = a100();
    EXPECT_EQ(partitions_fault(gpu), "");
    gpu.partitions[1].starts = {7};
    EXPECT_NE(partitions_fault(gpu).find("2g.10gb"), std::string::npos);
    gpu.partitions[1].starts.clear();
    EXPECT_NE(partitions_fault(gpu), "");
}

class MigCards : public ::testing::Test {
  protected:
    Engine engine;
    void SetUp() override {
        NodeInventory node = make_node("n1", 2);
        for (auto& gpu : node.gpus) {
            const Gpu cut = a100();
            gpu.mig_enabled = true;
            gpu.partitions = cut.partitions;
        }
        engine.apply(NodeSet{node});
    }
    std::string place(const std::string& id, std::int64_t mib, std::int64_t milli = 1000) {
        auto maker = a_job(id).gpus(milli);
        maker.spec.resources.gpu.memory = Mebibytes(mib);
        engine.apply(JobAdded{maker});
        for (const auto& placement : engine.pass(noon).placements)
            if (placement.job == id) return told(held[id] = engine.allocations(placement).at(0).second);
        return "waits";
    }
    std::map<std::string, Allocation> held;
    static std::string told(const Allocation& a) {
        const auto& gpu = a.gpus.at(0);
        return std::to_string(gpu.index) + ":" + gpu.partition + "@" + std::to_string(gpu.start);
    }
};

TEST_F(MigCards, are_given_out_as_instances_and_fill_up_before_another_is_opened) {
    EXPECT_EQ(place("small", 4096), "0:1g.5gb@6");
    EXPECT_EQ(place("medium", 10240), "0:2g.10gb@4");
    EXPECT_EQ(place("half", 0, 500), "0:4g.20gb@0");
    EXPECT_EQ(place("whole", 0), "1:7g.40gb@0");
    EXPECT_EQ(place("another", 10240), "waits");
    engine.apply(JobRemoved{"half"});
    const auto plan = engine.pass(noon);
    ASSERT_EQ(plan.placements.size(), 1U);
    EXPECT_EQ(told(engine.allocations(plan.placements[0]).at(0).second), "0:2g.10gb@2");
}

TEST_F(MigCards, come_back_from_the_store_as_they_were) {
    place("a", 4096), place("b", 20480), place("c", 0);
    Engine again;
    NodeInventory node = make_node("n1", 2);
    for (auto& gpu : node.gpus) gpu.mig_enabled = true, gpu.partitions = a100().partitions;
    again.apply(NodeSet{node});
    for (const auto& [id, mib] : {std::pair("a", 4096), std::pair("b", 20480), std::pair("c", 0)}) {
        auto maker = a_job(id).gpus(1000);
        maker.spec.resources.gpu.memory = Mebibytes(mib);
        again.apply(JobAdded{maker});
        again.apply(TaskPlaced{id, 0, held.at(id), noon});
    }
    EXPECT_EQ(again.state_hash(), engine.state_hash());
}

TEST_F(MigCards, whose_agent_makes_no_instances_take_nothing) {
    NodeInventory node = make_node("n1", 1);
    node.gpus[0].mig_enabled = true;
    Engine closed;
    closed.apply(NodeSet{node});
    closed.apply(JobAdded{a_job("a").gpus(1000)});
    EXPECT_TRUE(closed.pass(noon).placements.empty());
    EXPECT_NE(closed.why("a", noon, {.nodes = true})->nodes.at(0).detail.find("MIG mode"), std::string::npos);
}

}  // namespace
}  // namespace crater::engine
