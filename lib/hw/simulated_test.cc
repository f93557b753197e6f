#include <gtest/gtest.h>

#include <set>

#include "crater/hw/probe_config.h"
#include "crater/hw/source.h"

namespace crater::hw {
namespace {

constexpr std::string_view document = R"(
simulated_nodes:
  - name: gpu-node-{01..04}
    labels: {zone: zone-a}
    gpus: {model: a100-pcie-40gb, count: 4, nvlink: pairs}
    cpu: {sockets: 2, cores: 64, features: [avx2, avx512f], memory_bandwidth_gbps: 142.3}
    memory_gb: 512
    disks: {nvme0n1: {size_gb: 4000, iops: 1120000, latency_us: 87.2, iops_stability_ratio: 0.92}}
    runtime: none
  - name: cpu-1
)";

TEST(SimulatedNodes, are_read_as_the_guide_writes_them) {
    const auto nodes = read_simulated_nodes(document);
    ASSERT_TRUE(nodes) << nodes.error().text();
    ASSERT_EQ(nodes->size(), 5U);
    EXPECT_EQ((*nodes)[3].name, "gpu-node-04");
    const auto inventory = simulated_inventory((*nodes)[0]);
    ASSERT_TRUE(inventory);
    EXPECT_EQ(inventory->name, "gpu-node-01");
    EXPECT_EQ(inventory->labels.at("zone"), "zone-a");
    EXPECT_TRUE(inventory->simulated);
    EXPECT_EQ(inventory->runtimes, std::vector<std::string>{"none"});
    EXPECT_EQ(inventory->cpu, MilliCpu(64000));
    EXPECT_EQ(inventory->cpu_reserved, MilliCpu(0));
    EXPECT_EQ(inventory->memory, Bytes(512'000'000'000));
    EXPECT_EQ(inventory->enforcement.gpu_memory, "simulated");
    ASSERT_EQ(inventory->gpus.size(), 4U);
    EXPECT_EQ(inventory->gpus[3].memory, Mebibytes(40960));
    EXPECT_EQ(inventory->gpus[3].uuid, "GPU-sim-gpu-node-01-3");
    EXPECT_EQ(inventory->gpus[3].nvlink_peers, std::vector<std::int64_t>{2});
    EXPECT_EQ(inventory->gpus[1].numa_node, 0);
    EXPECT_EQ(inventory->gpus[2].numa_node, 1);
    ASSERT_EQ(inventory->disks.size(), 1U);
    EXPECT_EQ(inventory->disks[0].type, "nvme");
    EXPECT_EQ(inventory->disks[0].capacity, Bytes(4'000'000'000'000));
    EXPECT_EQ(inventory->disks[0].latency, Micros(88));
}

TEST(SimulatedNodes, say_what_lies_in_their_cache) {
    const auto nodes = read_simulated_nodes(
        "simulated_nodes: [{name: n, cache: {datasets: [tokens, imagenet, tokens], models: [llama-7b:3]}}]");
    ASSERT_TRUE(nodes) << nodes.error().text();
    const auto inventory = simulated_inventory((*nodes)[0]);
    EXPECT_EQ(inventory->cache.datasets, (std::vector<CachedItem>{{"imagenet", {}}, {"tokens", {}}}));
    EXPECT_EQ(inventory->cache.models, (std::vector<CachedItem>{{"llama-7b:3", {}}}));
    const auto bad = read_simulated_nodes("simulated_nodes: [{name: n, cache: {datasets: [a, .b]}}]");
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error().field, "simulated_nodes[0].cache.datasets[1]");
}

TEST(SimulatedNodes, lay_out_cores_with_two_threads_over_domains) {
    const auto nodes =
        read_simulated_nodes("simulated_nodes: [{name: n, cpu: {sockets: 2, cores: 3}, memory_gib: 3}]");
    ASSERT_TRUE(nodes) << nodes.error().text();
    const auto inventory = simulated_inventory((*nodes)[0]);
    ASSERT_EQ(inventory->numa.size(), 2U);
    EXPECT_EQ(inventory->numa[0].cpus, (std::vector<std::int64_t>{0, 1, 3, 4}));
    EXPECT_EQ(inventory->numa[0].core_of, (std::vector<std::int64_t>{0, 1, 0, 1}));
    EXPECT_EQ(inventory->numa[1].cpus, (std::vector<std::int64_t>{2, 5}));
    EXPECT_EQ(inventory->numa[0].memory + inventory->numa[1].memory, inventory->memory);
}

TEST(SimulatedNodes, mistakes_are_named) {
    const auto field = [](std::string_view text) { return read_simulated_nodes(text).error().field; };
    EXPECT_EQ(field("simulated_nodes: [{name: a}, {name: a}]"), "simulated_nodes[1].name");
    EXPECT_EQ(field("simulated_nodes: [{name: 'a b'}]"), "simulated_nodes[0].name");
    EXPECT_EQ(field("simulated_nodes: [{name: a, gpus: {model: a100-pci-40gb, count: 1}}]"),
              "simulated_nodes[0].gpus.model");
    EXPECT_EQ(field("simulated_nodes: [{name: a, gpus: {count: 1, nvlink: ring}}]"),
              "simulated_nodes[0].gpus.nvlink");
    EXPECT_EQ(field("simulated_nodes: [{name: a, cpu: {sockets: 4, cores: 2}}]"),
              "simulated_nodes[0].cpu.cores");
    EXPECT_NE(read_simulated_nodes("simulated_nodes: [{name: a, gpus: {model: a100-pci-40gb, count: 1}}]")
                  .error()
                  .hint.find("a100-pcie-40gb"),
              std::string::npos);
    EXPECT_NE(read_simulated_nodes("simulated_nodes: [{name: a, gpus: {model: A100, count: 1}}]")
                  .error()
                  .hint.find("a100-sxm4-80gb"),
              std::string::npos);
    EXPECT_FALSE(read_simulated_nodes("simulated_nodes: [{name: 'a{1..100001}'}]"));
}

TEST(SimulatedNodes, a_source_gives_the_same_every_time) {
    const auto nodes = read_simulated_nodes(document);
    const auto source = simulated_source((*nodes)[1]);
    EXPECT_EQ(source->inventory()->gpus[2].uuid, "GPU-sim-gpu-node-02-2");
    EXPECT_FALSE(source->changed());
    const auto sample = source->sample({5});
    EXPECT_EQ(sample.at, Instant{5});
    EXPECT_EQ(sample.gpus.size(), 4U);
    EXPECT_EQ(sample.memory_total, Bytes(512'000'000'000));
}

TEST(ProbeConfig, is_read_as_the_guide_writes_it) {
    const auto config = parse_probe_config(R"(
gpu:
  a100-pcie-40gb: { sm_count: 100, tensor_core_support: false, memory_bandwidth_gbps: 1500 }
cpu:
  numa_nodes:
    - { id: 0, memory_bandwidth_gbps: 142.3, cores: "0-31" }
ssd:
  nvme0n1: { latency_us: 87.2, iops: 1120000, iops_stability_ratio: 0.92, use_io_uring: true }
)");
    ASSERT_TRUE(config) << config.error().text();
    EXPECT_EQ(config->cpu.numa_nodes[0].cores.cpus.size(), 32U);
    EXPECT_EQ(config->ssd.at("nvme0n1").use_io_uring, true);
    NodeInventory inventory;
    inventory.gpus = {Gpu{.model = "a100-pcie-40gb", .sm_count = 108, .precisions = {"fp16"}}};
    apply(*config, inventory);
    EXPECT_EQ(inventory.gpus[0].sm_count, 100);
    EXPECT_TRUE(inventory.gpus[0].precisions.empty());
    EXPECT_EQ(inventory.gpus[0].memory_bandwidth, BytesPerSecond(1'500'000'000'000));
}

TEST(ProbeConfig, calibration_replaces_its_own_block_only) {
    ProbeMeasured measured;
    measured.ssd["vda"].iops = Iops(1000);
    const std::string first = with_measured("# by hand\ncpu:\n  numa_nodes: []\n", measured);
    EXPECT_TRUE(first.starts_with("# by hand\ncpu:\n  numa_nodes: []\nmeasured:\n")) << first;
    measured.ssd["vda"].iops = Iops(2000);
    const std::string second = with_measured(first + "gpu: {}\n", measured);
    EXPECT_NE(second.find("# by hand"), std::string::npos);
    EXPECT_NE(second.find("gpu: {}"), std::string::npos);
    EXPECT_EQ(second.find("1000"), std::string::npos) << second;
    const auto read = parse_probe_config(second);
    ASSERT_TRUE(read) << read.error().text() << second;
    EXPECT_EQ(read->measured.ssd.at("vda").iops, Iops(2000));
    EXPECT_TRUE(parse_probe_config(with_measured("", measured)));
}

}  // namespace
}  // namespace crater::hw
