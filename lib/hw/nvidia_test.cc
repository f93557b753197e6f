// The NVML path over the fake library: what it says is simulated.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>

#include "accelerators/nvidia_card.h"
#include "crater/hw/source.h"
#include "recorded_tree.h"

namespace crater::hw {
namespace {

class FakeNvml : public testing::Test {
  protected:
    FakeNvml() : recorded_("two-sockets.tree") { setenv("CRATER_FAKE_NVML", path().c_str(), 1); }
    ~FakeNvml() override { unsetenv("CRATER_FAKE_NVML"); }
    std::string path() const { return recorded_.root() + "/fake-nvml"; }
    void cards(const std::string& text) const { recorded_.write("/fake-nvml", text); }
    std::unique_ptr<Source> source() {
        return machine_source({.root = recorded_.root(), .nvml_library = CRATER_FAKE_NVML_LIBRARY}, clock_);
    }
    static std::vector<Gpu> gpus(Source& source) {
        auto inventory = source.inventory();
        EXPECT_TRUE(inventory);
        return inventory->gpus;
    }

    RecordedTree recorded_;
    TestClock clock_;
};

const std::string pair =
    "card name=\"NVIDIA A100-PCIE-40GB\" memory_mib=40536 used_mib=512 utilization=37 temperature=41 "
    "power_mw=98500 "
    "nvlink=pairs pci=0000:3B:00.0 uuid=GPU-a\n"
    "card name=\"NVIDIA A100-PCIE-40GB\" memory_mib=40536 nvlink=pairs pci=0000:B1:00.0 uuid=GPU-b\n";

TEST_F(FakeNvml, a_card_is_described_and_said_to_be_simulated) {
    cards(pair);
    const auto machine = source();
    const auto inventory = machine->inventory();
    ASSERT_TRUE(inventory);
    EXPECT_TRUE(inventory->simulated);
    ASSERT_EQ(inventory->gpus.size(), 2U);
    const Gpu& card = inventory->gpus[1];
    EXPECT_EQ(card.index, 1);
    EXPECT_EQ(card.model, "a100-pcie-40gb");
    EXPECT_EQ(card.uuid, "GPU-b");
    EXPECT_EQ(card.pci_address, "0000:b1:00.0");
    EXPECT_EQ(card.numa_node, 1);
    EXPECT_EQ(card.memory, Mebibytes(40536));
    EXPECT_EQ(card.sm_count, 108);
    EXPECT_EQ(card.compute_capability, "8.0");
    EXPECT_EQ(card.memory_bandwidth, BytesPerSecond(1555'000'000'000));
    EXPECT_EQ(card.nvlink_peers, std::vector<std::int64_t>{0});
    EXPECT_TRUE(card.healthy) << card.health_detail;
    EXPECT_FALSE(card.mig_enabled);
    const NodeSample sample = machine->sample({1});
    ASSERT_EQ(sample.gpus.size(), 2U);
    EXPECT_EQ(sample.gpus[0].utilization_percent, 37);
    EXPECT_EQ(sample.gpus[0].temperature_celsius, 41);
    EXPECT_DOUBLE_EQ(sample.gpus[0].power_watts, 98.5);
    EXPECT_EQ(sample.gpus[0].memory_used, Mebibytes(512));
}

TEST_F(FakeNvml, a_lost_card_stays_unhealthy_until_it_is_back) {
    cards(pair);
    const auto machine = source();
    ASSERT_EQ(gpus(*machine).size(), 2U);
    EXPECT_FALSE(machine->changed());

    cards(pair + "");
    std::string lost = pair;
    lost.replace(lost.rfind("uuid=GPU-b"), 10, "uuid=GPU-b lost=1");
    cards(lost);
    EXPECT_TRUE(machine->changed());
    auto after = gpus(*machine);
    ASSERT_EQ(after.size(), 2U);
    EXPECT_FALSE(after[1].healthy);
    EXPECT_FALSE(after[1].health_detail.empty());
    EXPECT_EQ(after[1].uuid, "GPU-b");
    EXPECT_EQ(after[1].memory, Mebibytes(40536));
    EXPECT_TRUE(after[0].nvlink_peers.empty());
    EXPECT_FALSE(machine->changed());
    EXPECT_EQ(machine->sample({1}).gpus.size(), 1U);

    cards(pair);
    EXPECT_TRUE(machine->changed());
    EXPECT_TRUE(gpus(*machine)[1].healthy);
}

TEST_F(FakeNvml, a_card_gone_from_the_list_is_not_forgotten) {
    cards(pair);
    const auto machine = source();
    ASSERT_EQ(gpus(*machine).size(), 2U);
    cards(pair.substr(0, pair.find('\n') + 1));
    EXPECT_TRUE(machine->changed());
    const auto after = gpus(*machine);
    ASSERT_EQ(after.size(), 2U);
    EXPECT_TRUE(after[0].healthy);
    EXPECT_FALSE(after[1].healthy);
    EXPECT_FALSE(machine->changed());
}

TEST_F(FakeNvml, memory_faults_take_a_card_out) {
    cards(
        "card remap_failed=1\ncard remap_pending=1\ncard name=\"Tesla V100-SXM2-16GB\" cc=7.0 ecc=2\ncard "
        "ecc=2\n");
    const auto all = gpus(*source());
    ASSERT_EQ(all.size(), 4U);
    EXPECT_FALSE(all[0].healthy);
    EXPECT_NE(all[1].health_detail.find("reset"), std::string::npos);
    EXPECT_FALSE(all[2].healthy);
    EXPECT_TRUE(all[3].healthy);  // a card that remaps rows has dealt with it
}

TEST_F(FakeNvml, an_xid_of_the_hardware_takes_a_card_out_and_one_of_a_program_does_not) {
    cards("card uuid=GPU-x\n");
    const auto machine = source();
    ASSERT_TRUE(gpus(*machine)[0].healthy);
    cards("card uuid=GPU-x xid=31\n");
    EXPECT_FALSE(machine->changed());
    cards("card uuid=GPU-x xid=79\n");
    EXPECT_TRUE(machine->changed());
    const auto after = gpus(*machine);
    EXPECT_FALSE(after[0].healthy);
    EXPECT_NE(after[0].health_detail.find("79"), std::string::npos);
    EXPECT_FALSE(machine->changed());
}

TEST_F(FakeNvml, an_unknown_model_is_described_by_its_architecture) {
    cards(
        "card name=\"NVIDIA GeForce RTX 4070 Ti\" memory_mib=12288 cc=8.9 cuda_cores=7680 bus_width=192 "
        "memory_clock=10501 mig=1\n");
    const auto all = gpus(*source());
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].model, "rtx-4070-ti");
    EXPECT_EQ(all[0].sm_count, 60);
    EXPECT_EQ(all[0].memory_bandwidth, BytesPerSecond(504'048'000'000));
    EXPECT_NE(std::find(all[0].precisions.begin(), all[0].precisions.end(), "fp8"), all[0].precisions.end());
    EXPECT_TRUE(all[0].mig_enabled);
}

TEST_F(FakeNvml, nvlink_all_links_everyone) {
    cards("card nvlink=all\ncount 4\n");
    const auto all = gpus(*source());
    ASSERT_EQ(all.size(), 4U);
    EXPECT_EQ(all[2].nvlink_peers, (std::vector<std::int64_t>{0, 1, 3}));
}

TEST_F(FakeNvml, a_driver_that_loads_later_is_found) {
    const auto machine = source();
    EXPECT_TRUE(gpus(*machine).empty());
    EXPECT_FALSE(machine->changed());
    cards("card\n");
    EXPECT_TRUE(machine->changed());
    EXPECT_EQ(gpus(*machine).size(), 1U);
}

TEST(GpuModels, are_complete_and_found_by_what_the_driver_says) {
    for (const auto& model : known_gpus()) {
        EXPECT_EQ(find_gpu(model.name), &model);
        EXPECT_FALSE(model.source.empty()) << model.name;
        EXPECT_GT(model.memory_mib, 0) << model.name;
        EXPECT_GT(model.sm_count, 0) << model.name;
        for (auto name : words(model.driver_names, "|")) EXPECT_EQ(normalised_gpu(name), model.name);
        EXPECT_EQ(normalised_gpu(model.name), model.name);
    }
    EXPECT_EQ(find_gpu("a100-pcie-40gb")->memory_mib, 40960);
    EXPECT_EQ(normalised_gpu("NVIDIA H100 80GB HBM3"), "h100-sxm5-80gb");
    EXPECT_EQ(normalised_gpu("A100-SXM4-80GB"), "a100-sxm4-80gb");
    EXPECT_EQ(normalised_gpu("Some New Card"), "some-new-card");
}

// The table of profiles says how many fit on a card: as many as there are places.
TEST(GpuModels, have_as_many_places_for_a_mig_profile_as_the_vendor_lists) {
    for (const auto& model : known_gpus()) {
        const auto stated = words(model.mig_profiles, " ");
        const auto partitions = mig_partitions(model);
        ASSERT_EQ(partitions.size(), stated.size()) << model.name;
        for (std::size_t i = 0; i < stated.size(); ++i) {
            const auto parts = words(stated[i], ":");
            EXPECT_EQ(partitions[i].name, parts[0]);
            EXPECT_EQ(std::to_string(partitions[i].starts.size()), parts[1]) << model.name << " " << parts[0];
            EXPECT_GT(partitions[i].memory.value, 0) << model.name << " " << parts[0];
            EXPECT_LE(partitions[i].memory.value, model.memory_mib) << model.name << " " << parts[0];
        }
    }
    const auto a100 = mig_partitions(*find_gpu("a100-pcie-40gb"));
    EXPECT_EQ(a100[3], (GpuPartition{"3g.20gb", MilliGpu(428), Mebibytes(19968), 4, {0, 4}}));
    EXPECT_TRUE(mig_partitions(*find_gpu("t4")).empty());
}

}  // namespace
}  // namespace crater::hw
