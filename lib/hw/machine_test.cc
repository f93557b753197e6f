#include <gtest/gtest.h>

#include "crater/hw/source.h"
#include "recorded_tree.h"

namespace crater::hw {
namespace {

MachineOptions recorded_options(const RecordedTree& tree) {
    return {.root = tree.root(), .data_path = "/data/upper", .nvml_library = "no-such-library.so"};
}

TEST(Machine, puts_its_parts_together) {
    const RecordedTree recorded("two-sockets.tree");
    TestClock clock;
    auto options = recorded_options(recorded);
    options.reserved_cores = 1;
    const auto inventory = machine_source(options, clock)->inventory();
    ASSERT_TRUE(inventory) << inventory.error().text();
    EXPECT_EQ(inventory->cpu, MilliCpu(3000));
    EXPECT_EQ(inventory->cpu_reserved, MilliCpu(1000));
    EXPECT_EQ(inventory->memory, Bytes(std::int64_t{12} << 30));  // not the 4 GiB that have no CPUs
    EXPECT_EQ(inventory->sockets, 2);
    EXPECT_EQ(inventory->numa.size(), 2U);
    ASSERT_EQ(inventory->disks.size(), 1U);
    EXPECT_EQ(inventory->disks[0].name, "nvme0n1");
    EXPECT_EQ(inventory->networks.size(), 2U);
    EXPECT_TRUE(inventory->gpus.empty());
    EXPECT_FALSE(inventory->simulated);
    EXPECT_TRUE(inventory->name.empty());
}

TEST(Machine, promises_no_more_than_its_container_allows) {
    const RecordedTree recorded("container.tree");
    TestClock clock;
    auto options = recorded_options(recorded);
    options.data_path = "/";
    const auto inventory = machine_source(options, clock)->inventory();
    ASSERT_TRUE(inventory);
    EXPECT_EQ(inventory->cpu, MilliCpu(1500));
    EXPECT_EQ(inventory->memory, Bytes(std::int64_t{2} << 30));
    EXPECT_EQ(inventory->numa.at(0).cpus, (std::vector<std::int64_t>{1, 2}));
}

TEST(Machine, takes_values_by_hand_over_measured_ones) {
    const RecordedTree recorded("two-sockets.tree");
    recorded.write(
        "/probe-config.yaml",
        "cpu: {numa_nodes: [{id: 0, memory_bandwidth_gbps: 142.3, cores: \"0,4\"}]}\n"
        "ssd: {use_io_uring: true, nvme0n1: {latency_us: 87.2, iops: 1120000}}\n"
        "measured:\n"
        "  cpu: {numa_nodes: [{id: 0, memory_bandwidth_gbps: 100}, {id: 1, memory_bandwidth_gbps: 90}]}\n"
        "  ssd: {nvme0n1: {iops: 5, iops_stability_ratio: 0.92}}\n");
    TestClock clock;
    auto options = recorded_options(recorded);
    options.probe_config = recorded.root() + "/probe-config.yaml";
    const auto inventory = machine_source(options, clock)->inventory();
    ASSERT_TRUE(inventory) << inventory.error().text();
    EXPECT_EQ(inventory->numa[0].memory_bandwidth, BytesPerSecond(142'300'000'000));
    EXPECT_EQ(inventory->numa[1].memory_bandwidth, BytesPerSecond(90'000'000'000));
    EXPECT_EQ(inventory->numa[0].cpus, (std::vector<std::int64_t>{0, 4}));
    EXPECT_EQ(inventory->cpu, MilliCpu(3000));
    EXPECT_EQ(inventory->disks[0].iops, Iops(1120000));
    EXPECT_EQ(inventory->disks[0].latency, Micros(88));
    EXPECT_DOUBLE_EQ(inventory->disks[0].iops_stability_ratio, 0.92);
}

TEST(Machine, names_the_wrong_key_of_its_probe_config) {
    const RecordedTree recorded("two-sockets.tree");
    recorded.write("/probe-config.yaml", "cpu: {numa_nodes: [{id: 0, memory_bandwith_gbps: 1}]}\n");
    TestClock clock;
    auto options = recorded_options(recorded);
    options.probe_config = recorded.root() + "/probe-config.yaml";
    const auto inventory = machine_source(options, clock)->inventory();
    ASSERT_FALSE(inventory);
    EXPECT_NE(inventory.error().text().find("memory_bandwith_gbps"), std::string::npos)
        << inventory.error().text();
}

TEST(Machine, samples_rates_between_two_looks) {
    const RecordedTree recorded("two-sockets.tree");
    TestClock clock;
    const auto source = machine_source(recorded_options(recorded), clock);
    ASSERT_TRUE(source->inventory());
    const NodeSample first = source->sample({1});
    EXPECT_EQ(first.cpu_percent, 0);
    EXPECT_EQ(first.load1, 1.25);
    EXPECT_EQ(first.memory_used, Bytes(std::int64_t{4} << 30));
    EXPECT_EQ(first.memory_total, Bytes(std::int64_t{12} << 30));
    EXPECT_EQ(first.swap_used, Bytes(std::int64_t{512} << 20));

    std::string stat;
    for (int cpu = 0; cpu < 8; ++cpu) stat += "cpu" + std::to_string(cpu) + " 125 0 100 750 125 0 0 0 0 0\n";
    recorded.write("/proc/stat", stat);
    recorded.write(
        "/proc/diskstats",
        "259 0 nvme0n1 3000 0 84000 10 2500 0 164000 20 0 1500 30\n8 0 sda 10 0 80 1 10 0 80 1 0 100 2\n");
    recorded.write("/proc/net/dev",
                   "  ens1: 30000 10 0 0 0 0 0 0 20000 10 0 0 0 0 0 0\n    lo: 900000 5 0 0 0 0 0 0 500 5 0 "
                   "0 0 0 0 0\n");
    clock.us += 2'000'000;
    const NodeSample second = source->sample({2});
    EXPECT_EQ(second.at, Instant{2});
    EXPECT_DOUBLE_EQ(second.cpu_percent, 25);
    EXPECT_DOUBLE_EQ(second.disk_read_iops, 1000);
    EXPECT_DOUBLE_EQ(second.disk_write_iops, 250);
    EXPECT_EQ(second.disk_read, BytesPerSecond(4000 * 512 / 2));
    EXPECT_DOUBLE_EQ(second.disk_busy_percent, 50);
    EXPECT_EQ(second.network_receive, BytesPerSecond(10000));
    EXPECT_EQ(second.network_transmit, BytesPerSecond(0));
}

TEST(Machine, this_one_has_cpus_memory_and_a_disk) {
    const auto clock = system_clock();
    const auto source = machine_source({.nvml_library = "no-such-library.so"}, *clock);
    const auto inventory = source->inventory();
    ASSERT_TRUE(inventory) << inventory.error().text();
    EXPECT_GE(inventory->cpu, MilliCpu(1));
    EXPECT_GT(inventory->memory, Bytes(std::int64_t{64} << 20));
    ASSERT_FALSE(inventory->numa.empty());
    EXPECT_FALSE(inventory->numa[0].cpus.empty());
    EXPECT_FALSE(inventory->os.empty());
    ASSERT_EQ(inventory->disks.size(), 1U);
    EXPECT_GT(inventory->disks[0].capacity, Bytes(0));
    const NodeSample sample = source->sample({1});
    EXPECT_GT(sample.memory_used, Bytes(0));
    EXPECT_FALSE(source->changed());
}

}  // namespace
}  // namespace crater::hw
