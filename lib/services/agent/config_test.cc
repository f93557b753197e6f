#include <gtest/gtest.h>

#include "crater/agent/agent.h"
#include "inventory.h"

namespace crater::agent {
namespace {

TEST(Config, the_contracts_own_example_is_read) {
    const auto config = read_config(R"(
scheduler_endpoint: http://10.0.0.1:8080
node_name: gpu-node-01
labels: { zone: zone-a, gpu_type: nvidia-a100 }
resource_pools:
  - { name: gpu-pool, type: gpu, devices: [0, 1, 2, 3] }
  - { name: cpu-pool, type: cpu, cores: 64, reserved_cores: 8 }
  - { name: memory-pool, type: memory, size_gb: 256 }
  - { name: disk-pool, type: disk, path: /data, size_gb: 4096 }
gpu_sharing: { enabled: true, mode: memory, memory_overcommit_ratio: 1.2, compute_mode: mps, max_tasks_per_gpu: 8 }
heartbeatInterval: 10s
heartbeatTimeout: 30s
)");
    ASSERT_TRUE(config) << config.error().text();
    EXPECT_EQ(config->resource_pools[1].reserved_cores, 8);
    EXPECT_EQ(config->retention.logs, Millis(7ll * 86'400'000));
}

TEST(Config, retention_is_read_and_mistakes_are_named) {
    const std::string head = "scheduler_endpoint: http://a:1\n";
    const auto config = read_config(head + "retention: { logs: 2d, output: 0, disk_free_min_percent: 10 }");
    ASSERT_TRUE(config) << config.error().text();
    EXPECT_EQ(config->retention.logs, Millis(2ll * 86'400'000));
    EXPECT_EQ(config->retention.output, Millis(0));
    EXPECT_EQ(read_config(head + "log_level: loud").error().field, "log_level");
    EXPECT_EQ(read_config(head + "resource_pools: [{name: p, type: gpux}]").error().field,
              "resource_pools[0].type");
    EXPECT_EQ(read_config(head + "resource_pools: [{name: p, type: memory, cores: 4}]").error().field,
              "resource_pools[0].cores")
        << "what would have no effect is refused";
}

TEST(Config, a_scheduler_given_beside_the_file_stands_for_its_own) {
    EXPECT_EQ(read_config("node_name: a", "http://b:1")->scheduler_endpoint,
              std::vector<std::string>{"http://b:1"});
    EXPECT_EQ(read_config("scheduler_endpoint: http://a:1", "http://b:1")->scheduler_endpoint,
              std::vector<std::string>{"http://b:1"});
    EXPECT_EQ(read_config("node_name: a", "b").error().field, "scheduler_endpoint");
    EXPECT_EQ(read_config("node_name: a").error().field, "scheduler_endpoint");
}

TEST(Config, settings_that_differ_are_named) {
    Config a, b;
    b.labels["zone"] = "b";
    b.retention.logs = Millis(1);
    EXPECT_EQ(changed_settings(a, b), (std::vector<std::string>{"labels", "retention"}));
    EXPECT_TRUE(changed_settings(a, a).empty());
}

class FixedSource final : public hw::Source {
  public:
    NodeInventory given;
    Result<NodeInventory> inventory() override { return given; }
    NodeSample sample(Instant) override { return {}; }
    bool changed() override { return false; }
};
class NoRuntime final : public run::Runtime {
  public:
    void listen(Listener) override {}
    std::vector<run::Adopted> adopt() override { return {}; }
    void start(run::Launch) override {}
    void stop(const run::TaskId&, Millis, State, Reason, std::string) override {}
    void forget(const run::TaskId&) override {}
    std::vector<run::TaskUsage> usage() override { return {}; }
    Result<std::pair<std::string, std::int64_t>> log(const run::TaskId&, std::int64_t, std::size_t) override {
        return fail(Code::not_found, "none");
    }
    Enforcement enforcement() const override { return {}; }
};

TEST(Inventory, reserved_cores_are_taken_off_once_and_a_path_bounds_its_own_disk) {
    FixedSource source;
    source.given.cpu = MilliCpu(56'000);  // the source took 8 of 64 off
    source.given.cpu_reserved = MilliCpu(8'000);
    Disk root, data;
    root.name = "sda", root.mount = "/", root.capacity = Bytes(1'000);
    data.name = "nvme0n1", data.mount = "/data", data.capacity = Bytes(5'000);
    source.given.disks = {root, data};
    Config config;
    config.node_name = "n1";
    config.resource_pools = {
        {.name = "cpu-pool", .type = "cpu", .cores = 64, .reserved_cores = 8},
        {.name = "disk-pool", .type = "disk", .path = "/data/crater", .size = Bytes(4'000)}};
    NoRuntime runtime;
    const auto inventory = configured_inventory(config, source, runtime);
    ASSERT_TRUE(inventory);
    EXPECT_EQ(inventory->cpu, MilliCpu(56'000));
    EXPECT_EQ(inventory->cpu_reserved, MilliCpu(8'000));
    EXPECT_EQ(inventory->disks[0].capacity, Bytes(1'000));
    EXPECT_EQ(inventory->disks[1].capacity, Bytes(4'000));
}

}  // namespace
}  // namespace crater::agent
