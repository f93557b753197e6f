#include "testing.h"

namespace crater::engine {
namespace {

using namespace testing;

class Admit : public ::testing::Test {
  protected:
    Engine engine;
    Error refused(const EngineJob& job) {
        const auto answer = engine.admit(job);
        EXPECT_FALSE(answer) << job.id;
        return answer ? Error{} : answer.error();
    }
};

TEST_F(Admit, says_that_no_node_has_registered) {
    const auto error = refused(a_job("a"));
    EXPECT_EQ(error.code, Code::unsatisfiable);
    EXPECT_EQ(error.message, "no node has registered yet");
}

TEST_F(Admit, fills_cores_and_memory_from_the_smallest_ratio_and_says_so) {
    engine.apply(NodeSet{make_node("n1", 8)});
    engine.apply(NodeSet{make_node("n2", 4)});
    auto job = a_job("a").gpus(2000).cpu(0).memory(0);
    const auto admitted = engine.admit(job);
    ASSERT_TRUE(admitted);
    EXPECT_EQ(admitted->job.spec->resources.cpu.cores.value, 16'000);
    EXPECT_EQ(admitted->job.spec->resources.memory.size.value, 128 * gib);
    EXPECT_EQ(admitted->notes.size(), 2u);
}

TEST_F(Admit, fills_cores_and_memory_from_what_jobs_of_its_kind_used) {
    engine.apply(NodeSet{make_node("n1", 8)});
    EngineJob job = a_job("a").gpus(2000).cpu(0).memory(0);
    job.profile = std::make_shared<const Profile>(Profile{.cpu = MilliCpu(3500), .memory = Bytes(20 * gib)});
    const auto admitted = engine.admit(job);
    ASSERT_TRUE(admitted);
    EXPECT_EQ(admitted->job.spec->resources.cpu.cores.value, 5000) << "a quarter more, in whole cores";
    EXPECT_EQ(admitted->job.spec->resources.memory.size.value, 25 * gib);
    ASSERT_EQ(admitted->notes.size(), 2u);
    EXPECT_EQ(
        admitted->notes[0],
        "cpu.cores set to 5 cores: none were asked for, and the last jobs like it used up to 3.5 cores");
    job.profile = std::make_shared<const Profile>(Profile{.cpu = MilliCpu(3500)});
    EXPECT_EQ(engine.admit(job)->job.spec->resources.memory.size.value, 128 * gib)
        << "what is not known, by the ratio";
    job.profile =
        std::make_shared<const Profile>(Profile{.cpu = MilliCpu(90'000), .memory = Bytes(700 * gib)});
    EXPECT_EQ(engine.admit(job)->job.spec->resources.cpu.cores.value, 16'000)
        << "no more than a card's part of the node";
    EXPECT_EQ(engine.admit(job)->job.spec->resources.memory.size.value, 128 * gib);
    EngineJob said = a_job("b").gpus(2000).cpu(1000).memory(gib);
    said.profile = job.profile;
    EXPECT_TRUE(engine.admit(said)->notes.empty());
    EngineJob plain = a_job("c").cpu(0).memory(gib);
    plain.profile = job.profile;
    EXPECT_EQ(engine.admit(plain)->job.spec->resources.cpu.cores.value, 1000) << "only beside cards";
}

TEST_F(Admit, takes_jobs_whose_data_is_nowhere_yet_and_says_so) {
    auto has = make_node("n1", 1);
    has.cache.models = {{"llama-7b:3", {}}};
    engine.apply(NodeSet{has});
    auto job = a_job("a").gpus(1000);
    job.spec.models = {"llama-7b:3"}, job.spec.data_locality = DataLocality::required;
    EXPECT_TRUE(engine.admit(job)->notes.empty());
    job.spec.datasets = {"imagenet"};
    const auto admitted = engine.admit(job);
    ASSERT_TRUE(admitted);
    EXPECT_EQ(
        admitted->notes.at(0),
        "it waits until some node has all of its data in its cache: dataset imagenet is cached on no node, model llama-7b:3 on 1 node");
    job.spec.data_locality = DataLocality::preferred;
    EXPECT_TRUE(engine.admit(job)->notes.empty());
}

TEST_F(Admit, gives_inference_two_to_four_cores_a_card) {
    engine.apply(NodeSet{make_node("n1", 8)});
    const auto admitted = engine.admit(a_job("a").gpus(1000).cpu(0).type(JobType::inference));
    ASSERT_TRUE(admitted);
    EXPECT_EQ(admitted->job.spec->resources.cpu.cores.value, 4000);
}

TEST_F(Admit, never_fills_more_than_a_cards_part_of_a_small_node) {
    auto tiny = make_node("n1", 8);
    tiny.cpu = MilliCpu(2000);
    engine.apply(NodeSet{tiny});
    const auto admitted = engine.admit(a_job("a").gpus(1000).cpu(0));
    ASSERT_TRUE(admitted);
    EXPECT_EQ(admitted->job.spec->resources.cpu.cores.value, 200);
}

TEST_F(Admit, gives_cpu_only_work_one_core_and_512_mib) {
    engine.apply(NodeSet{make_node("n1", 0, 1)});
    const auto admitted = engine.admit(a_job("a").cpu(0).memory(0));
    ASSERT_TRUE(admitted);
    EXPECT_EQ(admitted->job.spec->resources.cpu.cores.value, 1000);
    EXPECT_EQ(admitted->job.spec->resources.memory.size.value, gib / 2);
}

TEST_F(Admit, rounds_gpu_memory_up_to_the_step_and_takes_a_described_card_for_one) {
    engine.apply(NodeSet{make_node("n1", 8)});
    auto admitted = engine.admit(a_job("a").gpu_memory(16384));
    ASSERT_TRUE(admitted);
    EXPECT_EQ(admitted->job.spec->resources.gpu.count.value, 1000);
    EXPECT_EQ(admitted->job.spec->resources.gpu.memory.value, 16640);
    // Once more changes nothing.
    const auto again = engine.admit(admitted->job);
    EXPECT_EQ(again->job.spec->resources.gpu.memory.value, 16640);
    EXPECT_TRUE(again->notes.empty());
}

TEST_F(Admit, names_the_shortfall_of_what_can_never_fit) {
    for (const char* name : {"n1", "n2"}) engine.apply(NodeSet{make_node(name, 2, 1, 10240, "p4")});
    auto error = refused(a_job("a").gpus(1000).gpu_memory(16384));
    EXPECT_EQ(error.code, Code::unsatisfiable);
    EXPECT_EQ(error.field, "resources.gpu.memory");
    EXPECT_EQ(error.message,
              "no node could hold a task of it even when empty; of 2 nodes n1 comes closest: needs 16 GiB on "
              "one card, its largest has 10 GiB (p4)");
    EXPECT_EQ(refused(a_job("a").gpus(3000)).field, "resources.gpu.count");
    auto model = a_job("a").gpus(1000);
    model.spec.resources.gpu.model = "h100";
    EXPECT_EQ(refused(model).field, "resources.gpu.model");
    EXPECT_EQ(refused(a_job("a").cpu(999'000)).field, "resources.cpu.cores");
    EXPECT_EQ(refused(a_job("a").memory(INT64_MAX)).field, "resources.memory.size");
    auto disk = a_job("a");
    disk.spec.resources.disk.iops = Iops(2'000'000);
    EXPECT_EQ(refused(disk).field, "resources.disk.iops");
    auto latency = a_job("a");
    latency.spec.resources.disk.latency_us_max = Micros(50);
    EXPECT_EQ(refused(latency).field, "resources.disk.latency_us_max");
    auto image = a_job("a");
    image.spec.image = "x";
    EXPECT_TRUE(engine.admit(image));
    auto label = a_job("a");
    label.spec.node.labels["zone"] = "mars";
    EXPECT_EQ(refused(label).message,
              "no node could hold a task of it even when empty; of 2 nodes n1 comes closest: lacks the label "
              "zone=mars");
}

TEST_F(Admit, draining_lost_and_busy_nodes_count_because_they_may_come_back) {
    engine.apply(NodeSet{make_node("n1", 1)});
    engine.apply(NodeFlags{"n1", true, true});
    EXPECT_TRUE(engine.admit(a_job("a").gpus(1000)));
    engine.apply(NodeRemoved{"n1"});
    EXPECT_FALSE(engine.admit(a_job("a").gpus(1000)));
}

TEST_F(Admit, a_gang_that_the_empty_cluster_cannot_hold_is_refused) {
    for (const char* name : {"n1", "n2"}) engine.apply(NodeSet{make_node(name, 4)});
    EXPECT_TRUE(engine.admit(a_job("a").gpus(1000).tasks(8)));
    const auto error = refused(a_job("b").gpus(1000).tasks(9));
    EXPECT_EQ(error.field, "tasks");
    EXPECT_EQ(error.message, "its 9 tasks start together, and the whole cluster, when empty, holds 8");
    auto alone = a_job("c").tasks(3);
    alone.spec.node.exclusive = true;
    EXPECT_TRUE(engine.admit(alone));
}

TEST_F(Admit, the_quota_ceiling_of_any_parent_refuses) {
    engine.apply(NodeSet{make_node("n1", 8)});
    Tenant tenant;
    tenant.path = "research";
    tenant.hard.gpu = MilliGpu(2000);
    engine.apply(TenantSet{tenant});
    EXPECT_TRUE(engine.admit(a_job("a").gpus(2000).tenant("research/vision")));
    const auto error = refused(a_job("a").gpus(3000).tenant("research/vision"));
    EXPECT_EQ(error.code, Code::unsatisfiable);
    EXPECT_EQ(error.field, "resources.gpu.count");
    EXPECT_EQ(error.message, "asks for 3 cards, tenant research may hold at most 2 cards");
    tenant.hard = {};
    tenant.hard.memory = Bytes(INT64_MAX - 1);
    engine.apply(TenantSet{tenant});
    EXPECT_TRUE(engine.admit(a_job("a").memory(60 * gib).tasks(8).tenant("research")));
}

TEST_F(Admit, inference_beyond_half_a_card_is_told_to_scale_out) {
    engine.apply(NodeSet{make_node("n1", 8)});
    EXPECT_TRUE(engine.admit(a_job("a").gpus(1000).gpu_memory(20480).type(JobType::inference)));
    EXPECT_TRUE(engine.admit(a_job("a").gpus(500).type(JobType::inference)));
    EXPECT_TRUE(engine.admit(a_job("a").gpus(1000).type(JobType::inference)));
    EXPECT_TRUE(engine.admit(a_job("a").gpus(1000).gpu_memory(40960).type(JobType::inference)));
    const auto error = refused(a_job("a").gpus(1000).gpu_memory(24576).type(JobType::inference));
    EXPECT_EQ(error.code, Code::unsatisfiable);
    EXPECT_TRUE(error.message.starts_with("scale out instead")) << error.message;
    EXPECT_FALSE(engine.admit(a_job("a").gpus(600).type(JobType::inference)));
}

TEST_F(Admit, strict_numa_that_no_domain_can_hold_is_refused) {
    engine.apply(NodeSet{make_node("n1", 4, 2)});
    auto job = a_job("a").gpus(3000);
    job.spec.numa_binding_policy = NumaPolicy::strict;
    EXPECT_EQ(refused(job).field, "numa_binding_policy");
}

TEST(InferType, knows_work_by_what_it_starts) {
    const auto type_of = [](std::vector<std::string> argv, std::string image = "") {
        JobSpec spec;
        spec.command.argv = std::move(argv);
        spec.image = std::move(image);
        return infer_type(spec);
    };
    EXPECT_EQ(type_of({"torchrun", "--nproc_per_node=8", "main.py"}), JobType::training);
    EXPECT_EQ(type_of({"/bin/sh", "-c", "cd /x && accelerate launch run.py"}), JobType::training);
    EXPECT_EQ(type_of({"python3", "train.py"}), JobType::training);
    EXPECT_EQ(type_of({"python", "-m", "vllm.entrypoints.openai.api_server"}), JobType::inference);
    EXPECT_EQ(type_of({"uvicorn", "app:app"}), JobType::inference);
    EXPECT_EQ(type_of({}, "nvcr.io/nvidia/tritonserver:24.01"), JobType::inference);
    EXPECT_EQ(type_of({"jupyter", "lab"}), JobType::interactive);
    EXPECT_EQ(type_of({"python3", "etl.py"}, "vllm/vllm-openai"), JobType::inference);
    EXPECT_EQ(type_of({"python3", "constraint.py"}), JobType::batch);
    EXPECT_EQ(type_of({"sleep", "10"}), JobType::batch);
}

}  // namespace
}  // namespace crater::engine
