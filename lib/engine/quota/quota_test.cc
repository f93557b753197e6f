#include "testing.h"

namespace crater::engine {
namespace {

using namespace testing;

Tenant tenant_of(const std::string& path, std::int64_t gpu_milli) {
    Tenant tenant;
    tenant.path = path;
    tenant.hard.gpu = MilliGpu(gpu_milli);
    return tenant;
}

class Quotas : public ::testing::Test {
  protected:
    Engine engine;
    void SetUp() override { engine.apply(NodeSet{make_node("n1", 8)}); }
    void add(const EngineJob& job) { engine.apply(JobAdded{job}); }
};

TEST_F(Quotas, hold_a_job_back_until_its_tenant_has_room) {
    engine.apply(TenantSet{tenant_of("team", 2000)});
    for (int i = 0; i < 3; ++i) add(a_job("j" + std::to_string(i)).gpus(1000).at(i));
    EXPECT_EQ(engine.pass(noon).placements.size(), 2u);
    const auto why = engine.why("j2", noon);
    EXPECT_EQ(why->binding, "quota");
    EXPECT_EQ(why->summary, "Needs 1 card; tenant team may hold 2 cards and holds 2 cards now.");
    ASSERT_EQ(why->holders.size(), 2u);
    EXPECT_FALSE(engine.wants_pass());
    engine.apply(TaskFreed{"j0", 0});
    EXPECT_EQ(node_of(engine, engine.pass(noon), "j2"), "n1");
}

TEST_F(Quotas, of_a_parent_include_its_descendants) {
    engine.apply(TenantSet{tenant_of("research", 3000)});
    add(a_job("a").gpus(2000).tenant("research/vision"));
    add(a_job("b").gpus(2000).tenant("research/speech").at(1));
    const auto plan = engine.pass(noon);
    EXPECT_EQ(plan.placements.size(), 1u);
    EXPECT_EQ(engine.usage("research").gpu.value, 2000);
    EXPECT_EQ(engine.usage("research/vision").gpu.value, 2000);
    EXPECT_EQ(engine.usage("research/speech").gpu.value, 0);
    EXPECT_EQ(engine.usage("research").jobs, 1);
    engine.apply(JobRemoved{"a"});
    EXPECT_EQ(engine.usage("research").gpu.value, 0);
    EXPECT_EQ(node_of(engine, engine.pass(noon), "b"), "n1");
}

TEST_F(Quotas, lowered_below_what_is_held_kill_nothing_and_let_nothing_more_in) {
    add(a_job("a").gpus(4000));
    engine.pass(noon);
    engine.apply(TenantSet{tenant_of("team", 1000)});
    add(a_job("b").gpus(1000));
    add(a_job("c").at(2));  // asks for no card
    const auto plan = engine.pass(noon);
    EXPECT_EQ(node_of(engine, plan, "b"), "");
    EXPECT_EQ(node_of(engine, plan, "c"), "n1");
    engine.apply(TenantSet{tenant_of("team", 5000)});
    EXPECT_EQ(node_of(engine, engine.pass(noon), "b"), "n1");
}

TEST_F(Quotas, count_jobs_at_once_and_gpu_memory_as_rounded) {
    Tenant tenant;
    tenant.path = "team";
    tenant.hard.jobs = 2;
    tenant.hard.gpu_memory = Mebibytes(16640 + 16639);
    engine.apply(TenantSet{tenant});
    add(a_job("a").gpus(1000).gpu_memory(16384));
    add(a_job("b").gpus(1000).gpu_memory(16384).at(1));
    EXPECT_EQ(engine.pass(noon).placements.size(), 1u);
    EXPECT_EQ(engine.usage("team").gpu_memory.value, 16640);
    add(a_job("c").at(2));
    add(a_job("d").at(3));
    const auto plan = engine.pass(noon);
    EXPECT_EQ(plan.placements.size(), 1u);
    EXPECT_EQ(engine.why("d", noon)->summary,
              "Needs 1 job at once; tenant team may hold 2 jobs at once and holds 2 jobs at once now.");
}

TEST_F(Quotas, of_a_gang_are_charged_whole_or_not_at_all) {
    engine.apply(TenantSet{tenant_of("team", 3000)});
    add(a_job("gang").gpus(1000).tasks(4));
    EXPECT_TRUE(engine.pass(noon).placements.empty());
    EXPECT_EQ(engine.usage("team").gpu.value, 0);
}

}  // namespace
}  // namespace crater::engine
