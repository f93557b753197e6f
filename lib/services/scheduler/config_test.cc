#include "crater/scheduler/config.h"

#include <gtest/gtest.h>

namespace crater::scheduler {
namespace {

TEST(Config, the_contracts_own_example_is_read) {
    const auto config = read_config(R"(
listen: 0.0.0.0:8080
metrics: { enabled: true, port: 9091 }
store: { sqlite: /var/lib/crater/crater.db }
scheduling_policy: best_fit
heartbeat_timeout: 30s
alldata: { api_url: https://alldata.example.com/api/v1, token: "...", poll_interval_seconds: 5 }
kubernetes: { kubeconfig: /etc/kubernetes/admin.conf, namespace: crater-system }
scheduling:
  enable_prediction: true
  prediction_window_minutes: 15
  memoryOvercommitRatio: 1.2
  safety_watermark: 0.85
  weights: { gpu_memory: 0.45, cpu_cores: 0.20, memory_bandwidth: 0.20, ssd_iops: 0.15 }
  scoreWeights: { gpu: 0.3, cpu: 0.25, mem: 0.25, disk: 0.20 }
  cpuThreshold: 0.8
  memoryThreshold: 0.7
  maxTasksPerGPU: 4
queues:
  - { name: training, policy: binpack, priority: medium }
  - { name: inference, policy: spread, priority: high, overcommitRatio: 1.0 }
  - { name: offline, policy: priority, priority: low }
)");
    ASSERT_TRUE(config) << config.error().text();
    EXPECT_TRUE(config->scheduling.enable_prediction);
    EXPECT_EQ(config->scheduling.prediction_window_minutes, 15);
    EXPECT_EQ(config->scheduling.memory_overcommit_ratio, 1.2);
    EXPECT_EQ(config->scheduling.safety_watermark, 0.85);
    EXPECT_EQ(config->queues[1].overcommit_ratio, 1.0);
    EXPECT_FALSE(config->queues[0].overcommit_ratio);
    EXPECT_EQ(config->scheduling.w_gpu, 0.3);
    EXPECT_EQ(config->scheduling.memory_threshold, 0.7);
    EXPECT_EQ(config->scheduling.max_tasks_per_gpu, 4);
    ASSERT_EQ(config->queues.size(), 3u);
    EXPECT_EQ(config->queues[0].policy, Policy::binpack);
    EXPECT_EQ(config->queues[0].types, std::vector{JobType::training});
    EXPECT_TRUE(config->queues[2].default_preemptible);
}

TEST(Config, a_queue_names_its_plugins_and_what_they_weigh) {
    const auto config = read_config(R"(
plugin_dir: /usr/lib/crater/plugins
plugin_budget: 3ms
queues: [{name: training, plugins: [nvlink_first, spread_tenant=0.5]}]
)");
    ASSERT_TRUE(config) << config.error().text();
    EXPECT_EQ(config->plugin_dir, "/usr/lib/crater/plugins");
    EXPECT_EQ(config->plugin_budget, Millis(3));
    EXPECT_EQ(config->queues[0].plugins,
              (std::vector<PluginUse>{{"nvlink_first", 1}, {"spread_tenant", 0.5}}));
}

TEST(Config, a_queue_weighs_terms_where_its_policy_adds_them_up) {
    const auto near = read_config(
        "queues: [{name: near, policy: affinity, weights: {dataset_locality: 5, modelCache: 0}}]");
    ASSERT_TRUE(near) << near.error().text();
    EXPECT_EQ(near->queues[0].policy, Policy::affinity);
    EXPECT_EQ(near->queues[0].weights, (PlacementWeights{.dataset_locality = 5, .model_cache = 0}));
    const auto config = read_config(
        "queues: [{name: batch, policy: binpack, weights: {fit: 4, numa: 0, w_gpu: 0.7, ssdIops: 1}}]");
    ASSERT_TRUE(config) << config.error().text();
    EXPECT_EQ(config->queues[0].weights,
              (PlacementWeights{.fit = 4, .numa = 0, .w_gpu = 0.7, .ssd_iops = 1}));
    const auto refused = [](const char* text) {
        const auto read = read_config(text);
        EXPECT_FALSE(read);
        return read ? Error{} : read.error();
    };
    const Error learned = refused("queues: [{name: a}, {name: batch, policy: price, weights: {fit: 4}}]");
    EXPECT_EQ(learned.field, "queues[1].weights");
    EXPECT_NE(learned.message.find("price"), std::string::npos);
    EXPECT_EQ(refused("queues: [{name: batch, policy: spread, weights: {fit: -1}}]").field,
              "queues[0].weights.fit");
    EXPECT_NE(refused("queues: [{name: batch, policy: spread, weights: {laod: 1}}]").text().find("load"),
              std::string::npos);
}

TEST(Config, an_empty_file_has_the_defaults) {
    const auto config = read_config("");
    ASSERT_TRUE(config) << config.error().text();
    EXPECT_EQ(config->queues.size(), 3u);
    EXPECT_EQ(config->heartbeat_timeout, Millis(30'000));
    EXPECT_EQ(config->scheduling.memory_overcommit_ratio, 1.0);
    EXPECT_EQ(config->scheduling.safety_watermark, 0.9);
    EXPECT_TRUE(config->scheduling.enable_prediction);
}

TEST(Config, prediction_can_be_switched_off) {
    const auto config = read_config("scheduling: { enablePrediction: false, prediction_window_minutes: 30 }");
    ASSERT_TRUE(config) << config.error().text();
    EXPECT_FALSE(config->scheduling.enable_prediction);
    EXPECT_EQ(config->scheduling.prediction_window_minutes, 30);
    EXPECT_EQ(read_config("scheduling: { memory_overcommit_ratio: 0.5 }").error().field,
              "scheduling.memory_overcommit_ratio");
}

TEST(Config, mistakes_are_named) {
    EXPECT_EQ(read_config("lisen: 1").error().field, "lisen");
    EXPECT_EQ(read_config("heartbeat_timeout: 1s").error().field, "heartbeat_timeout");
    EXPECT_EQ(read_config("plugin_budget: 2s").error().field, "plugin_budget");
    EXPECT_EQ(read_config("queues: [{name: a, plugins: [\"spread_tenant=lots\"]}]").error().field,
              "queues[0].plugins[0]");
    EXPECT_EQ(read_config("etcd_endpoints: [http://a]").error().field, "etcd_endpoints");
    EXPECT_EQ(read_config("queues: [{name: a}, {name: a}]").error().field, "queues[1].name");
    EXPECT_EQ(read_config("log_level: loud").error().field, "log_level");
}

TEST(Config, defragmentation_is_by_the_hour_unless_said_otherwise) {
    EXPECT_EQ(read_config("{}")->defragmentation.interval, Millis(3'600'000));
    const auto config = read_config("defragmentation: { enabled: false, interval: 10m, max_moves: 3 }");
    ASSERT_TRUE(config) << config.error().text();
    EXPECT_FALSE(config->defragmentation.enabled);
    EXPECT_EQ(config->defragmentation.interval, Millis(600'000));
    EXPECT_EQ(config->defragmentation.max_moves, 3);
    EXPECT_EQ(read_config("defragmentation: { interval: 1s }").error().field, "defragmentation.interval");
    EXPECT_EQ(read_config("defragmentation: { moves: 3 }").error().field, "defragmentation.moves");
}

TEST(Config, quota_policies_are_sets_of_caps) {
    const auto config =
        read_config("quota_policies: { training-quota: { gpu: 4, cpu: 32, memory: 128Gi, disk: 1Ti } }");
    ASSERT_TRUE(config) << config.error().text();
    const Quota& caps = config->quota_policies.at("training-quota");
    EXPECT_EQ(caps.gpu, MilliGpu(4'000));
    EXPECT_EQ(caps.memory, Bytes(128ll << 30));
    EXPECT_FALSE(caps.iops);
}

}  // namespace
}  // namespace crater::scheduler
