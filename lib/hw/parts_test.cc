#include <gtest/gtest.h>

#include <algorithm>

#include "cpu.h"
#include "disk.h"
#include "network.h"
#include "own_limits.h"
#include "ranges.h"
#include "recorded_tree.h"
#include "topology.h"

namespace crater::hw {
namespace {

using Ids = std::vector<std::int64_t>;

TEST(CpuList, reads_ranges_and_leaves_out_nonsense) {
    EXPECT_EQ(cpu_list("0-3,8,6-7\n"), (Ids{0, 1, 2, 3, 6, 7, 8}));
    EXPECT_EQ(cpu_list("x,-1,5-,4"), Ids{4});
    EXPECT_EQ(cpu_list(""), Ids{});
    EXPECT_EQ(cpu_list("0-99999999999"), Ids{});
}

TEST(Ranges, keep_leading_zeros_and_multiply) {
    EXPECT_EQ(*expand_ranges("gpu-{08..11}", 100, "name"),
              (std::vector<std::string>{"gpu-08", "gpu-09", "gpu-10", "gpu-11"}));
    EXPECT_EQ(*expand_ranges("r{1..2}n{1..2}", 100, "name"),
              (std::vector<std::string>{"r1n1", "r1n2", "r2n1", "r2n2"}));
    EXPECT_EQ(*expand_ranges("plain", 100, "name"), std::vector<std::string>{"plain"});
    for (auto* bad : {"a{1..", "a{1}", "a{2..1}", "a{x..3}", "a{1..}"})
        EXPECT_EQ(expand_ranges(bad, 100, "name").error().field, "name") << bad;
    EXPECT_EQ(expand_ranges("a{1..101}", 100, "name").error().code, Code::too_large);
    EXPECT_EQ(expand_ranges("a{1..20}b{1..20}", 100, "name").error().code, Code::too_large);
}

TEST(Topology, counts_whole_cores_and_their_threads) {
    const Topology t = synthetic_topology("package:2 numa:1 core:2 pu:2", {});
    EXPECT_EQ(t.sockets, 2);
    ASSERT_EQ(t.numa.size(), 2U);
    EXPECT_EQ(t.cores(), 4);
    EXPECT_EQ(t.numa[1].cpus, (Ids{4, 5, 6, 7}));
    EXPECT_EQ(t.numa[1].core_of, (Ids{2, 2, 3, 3}));
}

TEST(Topology, holds_only_the_cpus_that_we_may_use) {
    const Topology t = synthetic_topology("package:2 numa:1 core:2 pu:2", {.cpus = {1, 4, 5}});
    ASSERT_EQ(t.numa.size(), 2U);
    EXPECT_EQ(t.numa[0].cpus, Ids{1});
    EXPECT_EQ(t.numa[1].cpus, (Ids{4, 5}));
    EXPECT_EQ(t.cores(), 2);
}

TEST(Topology, several_domains_in_a_socket) {
    const Topology t = synthetic_topology("package:1 group:4 numa:1 core:2 pu:1", {});
    EXPECT_EQ(t.sockets, 1);
    EXPECT_EQ(t.numa.size(), 4U);
}

TEST(Topology, of_a_recorded_machine_leaves_out_memory_without_cpus) {
    const RecordedTree recorded("two-sockets.tree");
    const Topology t = read_topology(Tree(recorded.root()), {});
    EXPECT_EQ(t.sockets, 2);
    ASSERT_EQ(t.numa.size(), 2U);
    EXPECT_EQ(t.numa[0].cpus, (Ids{0, 1, 4, 5}));
    EXPECT_EQ(t.numa[0].core_of[0], t.numa[0].core_of[2]);
    EXPECT_NE(t.numa[0].core_of[0], t.numa[0].core_of[1]);
    EXPECT_EQ(t.numa[1].memory, Bytes(std::int64_t{6} << 30));
    EXPECT_EQ(t.cores(), 4);
}

TEST(Limits, follow_the_container_on_cgroup_v1) {
    const RecordedTree recorded("container.tree");
    const Tree tree(recorded.root());
    const Limits limits = read_limits(tree, read_mounts(tree));
    EXPECT_EQ(limits.cpus, (Ids{1, 2}));
    EXPECT_EQ(limits.cpu, MilliCpu(1500));
    EXPECT_EQ(limits.memory, Bytes(std::int64_t{2} << 30));
}

TEST(Limits, of_cgroup_v2_are_the_tightest_of_all_parents) {
    const RecordedTree recorded("two-sockets.tree");
    const Tree tree(recorded.root());
    EXPECT_FALSE(read_limits(tree, read_mounts(tree)).memory);
    recorded.write("/sys/fs/cgroup/system.slice/memory.max", "1000000\n");
    recorded.write("/sys/fs/cgroup/system.slice/crater-agent.service/memory.max", "2000000\n");
    recorded.write("/sys/fs/cgroup/system.slice/crater-agent.service/cpu.max", "250000 100000\n");
    const Limits limits = read_limits(tree, read_mounts(tree));
    EXPECT_EQ(limits.memory, Bytes(1000000));
    EXPECT_EQ(limits.cpu, MilliCpu(2500));
}

TEST(Cpu, features_are_those_of_every_usable_cpu) {
    const RecordedTree recorded("two-sockets.tree");
    const auto has = [&](const Ids& cpus, std::string_view name) {
        const auto features = read_cpu(Tree(recorded.root()), cpus).features;
        return std::find(features.begin(), features.end(), name) != features.end();
    };
    for (auto* name : {"avx2", "avx512f", "avx512_vnni", "amx_tile", "amx", "vnni"})
        EXPECT_TRUE(has({}, name)) << name;
    EXPECT_FALSE(has({}, "avx512_fp16"));  // CPU 7 lacks it
    EXPECT_TRUE(has({0, 1}, "avx512_fp16"));
    EXPECT_FALSE(has({}, "neon"));
    EXPECT_EQ(read_cpu(Tree(recorded.root()), {}).model, "Intel(R) Xeon(R) Gold 6430");
    EXPECT_EQ(read_os(Tree(recorded.root())), "Debian GNU/Linux 12 (bookworm), Linux 6.1.0-21-amd64");
}

TEST(Disk, is_the_device_below_partitions_volumes_and_overlays) {
    const RecordedTree recorded("two-sockets.tree");
    const Tree tree(recorded.root());
    const auto mounts = read_mounts(tree);
    const Disk data = read_disk(tree, mounts, "/data/upper");
    EXPECT_EQ(data.name, "nvme0n1");
    EXPECT_EQ(data.type, "nvme");
    EXPECT_EQ(data.mount, "/data");
    EXPECT_EQ(data.numa_node, 1);
    EXPECT_GT(data.capacity, data.free);
    EXPECT_EQ(read_disk(tree, mounts, "/").name, "sda");  // below LVM
    EXPECT_EQ(read_disk(tree, mounts, "/").type, "hdd");
    EXPECT_EQ(read_disk(tree, mounts, "/srv").name, "sda");  // btrfs has an anonymous device number
    EXPECT_EQ(read_disk(tree, mounts, "/merged").name, "nvme0n1");
    EXPECT_EQ(read_disk(tree, mounts, "/data/not/made/yet").name, "nvme0n1");
    EXPECT_GT(read_disk(tree, mounts, "/data/not/made/yet").capacity, Bytes(0));
    EXPECT_GT(free_space(tree, "/data/not/made/yet"), Bytes(0));
    const Disk memory = read_disk(tree, mounts, "/data/with blank");
    EXPECT_EQ(memory.name, "tmpfs");
    EXPECT_EQ(memory.type, "unknown");
    EXPECT_EQ(memory.numa_node, -1);
}

TEST(Disk, in_a_container_is_unknown_but_there) {
    const RecordedTree recorded("container.tree");
    const Tree tree(recorded.root());
    const Disk disk = read_disk(tree, read_mounts(tree), "/");
    EXPECT_EQ(disk.name, "overlay");
    EXPECT_EQ(disk.type, "unknown");
    EXPECT_GT(disk.capacity, Bytes(0));
}

TEST(DiskCounters, count_whole_disks_once) {
    const RecordedTree recorded("two-sockets.tree");
    const auto counters = read_disk_counters(Tree(recorded.root()));
    ASSERT_EQ(counters.size(), 2U);
    EXPECT_EQ(counters[0].name, "nvme0n1");
    EXPECT_EQ(counters[0].bytes_read, 80000 * 512);
    EXPECT_EQ(counters[1].name, "sda");
}

TEST(Network, is_hardware_with_its_rdma_device_and_place) {
    const RecordedTree recorded("two-sockets.tree");
    const auto networks = read_networks(Tree(recorded.root()));
    ASSERT_EQ(networks.size(), 2U);
    EXPECT_EQ(networks[0].name, "bond0");
    EXPECT_EQ(networks[0].speed_mbps, 0);
    EXPECT_EQ(networks[1].name, "ens1");
    EXPECT_EQ(networks[1].speed_mbps, 100000);
    EXPECT_EQ(networks[1].rdma_device, "mlx5_0");
    EXPECT_EQ(networks[1].numa_node, 1);
}

TEST(Network, of_a_container_is_its_virtual_interface) {
    const RecordedTree recorded("container.tree");
    const auto networks = read_networks(Tree(recorded.root()));
    ASSERT_EQ(networks.size(), 1U);
    EXPECT_EQ(networks[0].name, "eth0");
}

}  // namespace
}  // namespace crater::hw
