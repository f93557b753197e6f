// What a plugin is shown is what the engine knows.
#include <gtest/gtest.h>

#include "crater/plugin/protocol.h"

namespace crater::plugin {
namespace {

struct Case {
    engine::EngineJob job;
    NodeInventory inventory;
    engine::NodeBook book;
    std::vector<engine::NodeView> nodes;
    alignas(8) std::byte memory[1 << 16];

    Case() {
        JobSpec spec;
        spec.name = "resnet";
        spec.labels = {{"a", "1"}, {"team", "vision"}};
        spec.tasks = 4;
        spec.resources.gpu.count = MilliGpu(2000);
        spec.resources.gpu.model = "a100";
        spec.resources.gpu.interconnect = Interconnect::nvlink;
        spec.resources.memory.size = Bytes(1 << 30);
        spec.duration = Millis(5000);
        job = {.id = "job-1",
               .spec = std::make_shared<JobSpec>(spec),
               .queue = "q",
               .tenant = "lab/a",
               .priority = 700,
               .submitted = {123}};
        inventory.name = "n1";
        inventory.labels = {{"rack", "r7"}};
        inventory.gpus = {
            {.index = 0, .model = "a100-sxm4-40gb", .memory = Mebibytes(40960), .nvlink_peers = {7}},
            {.index = 7, .model = "a100-sxm4-40gb", .memory = Mebibytes(40960), .healthy = false}};
        book.cpu_total = MilliCpu(8000), book.cpu_used = MilliCpu(9000);  // it came back smaller
        book.memory_total = Bytes(100), book.memory_used = Bytes(40);
        book.cards.resize(2);
        book.cards[0] = {.compute_used = MilliGpu(300), .memory_used = Mebibytes(960), .tasks = 2};
        book.cards[1].exclusive = true;
        book.tasks = 3;
        nodes.push_back(engine::view_of(inventory, book, {2, 1}, 0.75, 0b01));
        nodes.push_back(engine::view_of(inventory, book, {}, 0));
    }
};

TEST(Image, carries_the_job_and_its_request) {
    Case c;
    ASSERT_TRUE(write_image(c.memory, {&c.job, JobType::training, 3}, c.nodes));
    const crater_job_view& job = *open_image(c.memory).job;
    EXPECT_EQ(job.size, sizeof job);
    EXPECT_EQ(job.type, CRATER_JOB_TRAINING);
    EXPECT_STREQ(job.id, "job-1");
    EXPECT_STREQ(job.name, "resnet");
    EXPECT_STREQ(job.tenant, "lab/a");
    EXPECT_STREQ(job.queue, "q");
    EXPECT_STREQ(crater_label_value(job.labels, job.label_count, "team"), "vision");
    EXPECT_EQ(crater_label_value(job.labels, job.label_count, "none"), nullptr);
    EXPECT_EQ(job.priority, 700);
    EXPECT_EQ(job.tasks, 4u);
    EXPECT_EQ(job.tasks_waiting, 3u);
    EXPECT_EQ(job.gpu_cards, 2u);
    EXPECT_STREQ(job.gpu_model, "a100");
    EXPECT_EQ(job.interconnect, CRATER_INTERCONNECT_NVLINK);
    EXPECT_EQ(job.memory_bytes, 1 << 30);
    EXPECT_EQ(job.submitted_ms, 123);
    EXPECT_EQ(job.duration_ms, 5000);
}

TEST(Image, carries_nodes_and_what_is_free_on_them) {
    Case c;
    ASSERT_TRUE(write_image(c.memory, {&c.job, JobType::training, 3}, c.nodes));
    const Views views = open_image(c.memory);
    ASSERT_EQ(views.count, 2u);
    const crater_node_view& node = *views.nodes[0];
    EXPECT_STREQ(node.name, "n1");
    EXPECT_STREQ(crater_label_value(node.labels, node.label_count, "rack"), "r7");
    EXPECT_EQ(node.cpu_free_milli, 0);
    EXPECT_EQ(node.memory_free_bytes, 60);
    EXPECT_EQ(node.tasks, 3u);
    EXPECT_EQ(node.tenant_tasks, 2u);
    EXPECT_EQ(node.job_tasks, 1u);
    EXPECT_EQ(node.score, 0.75);
    EXPECT_EQ(node.cards_chosen, 1u);
    ASSERT_EQ(node.card_count, 2u);
    EXPECT_EQ(node.cards[0]->memory_free_mib, 40000);
    EXPECT_EQ(node.cards[0]->compute_free_milli, 700);
    EXPECT_EQ(node.cards[0]->nvlink_peers, 0b10u);
    EXPECT_EQ(node.cards[0]->nvlink_bandwidth, 600'000'000'000);
    EXPECT_EQ(node.cards[1]->nvlink_peers, 0b01u);
    EXPECT_STREQ(node.cards[1]->model, "a100-sxm4-40gb");
    EXPECT_EQ(node.cards[1]->healthy, 0u);
    EXPECT_EQ(node.cards[1]->taken, 1u);
    EXPECT_EQ(node.cards[1]->memory_free_mib, 0);
}

TEST(Image, says_when_there_is_no_room) {
    Case c;
    EXPECT_FALSE(write_image(std::span(c.memory, 512), {&c.job, JobType::training, 3}, c.nodes));
}

}  // namespace
}  // namespace crater::plugin
