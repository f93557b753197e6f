#include <gtest/gtest.h>

#include <set>

#include "crater/model/job.h"
#include "crater/model/node.h"
#include "crater/model/tenant.h"

namespace crater {
namespace {

TEST(State, rows_stand_in_the_order_of_the_enum) {
    for (const auto& row : state_table()) EXPECT_EQ(&state_row(row.state), &row);
}

TEST(State, nothing_follows_a_terminal_state_and_something_follows_every_other) {
    for (const auto& from : state_table()) {
        bool leaves = false;
        for (const auto& to : state_table()) leaves |= may_change(from.state, to.state);
        EXPECT_EQ(leaves, !from.terminal) << from.name;
        EXPECT_FALSE(may_change(from.state, from.state)) << from.name;
    }
}

TEST(State, follows_the_life_of_a_task) {
    EXPECT_TRUE(may_change(State::pending, State::preparing));
    EXPECT_TRUE(may_change(State::preparing, State::running));
    EXPECT_TRUE(may_change(State::running, State::preempting));
    EXPECT_TRUE(may_change(State::preempting, State::preempted));
    EXPECT_TRUE(may_change(State::preempted, State::pending));
    EXPECT_TRUE(may_change(State::lost, State::running));
    EXPECT_FALSE(may_change(State::pending, State::running));
    EXPECT_FALSE(may_change(State::preempted, State::running));
}

TEST(State, every_live_state_can_be_cancelled_and_evicted) {
    for (const auto& row : state_table()) {
        if (row.terminal) continue;
        EXPECT_TRUE(may_change(row.state, State::cancelled)) << row.name;
        EXPECT_TRUE(may_change(row.state, State::evicted)) << row.name;
    }
}

TEST(State, of_a_job_is_the_least_advanced_and_failed_if_one_failed) {
    using enum State;
    EXPECT_EQ(job_state(std::array{running, preparing, finished}), preparing);
    EXPECT_EQ(job_state(std::array{finished, running}), running);
    EXPECT_EQ(job_state(std::array{finished, finished}), finished);
    EXPECT_EQ(job_state(std::array{running, failed, finished}), failed);
    EXPECT_EQ(job_state(std::array{cancelled, running}), running);
    EXPECT_EQ(job_state(std::array{cancelled, finished}), cancelled);
}

TEST(State, tells_alldata_scheduled_once_a_place_is_durable) {
    EXPECT_EQ(alldata_name(State::pending, Reason::submitted), "queued");
    EXPECT_EQ(alldata_name(State::preparing, Reason::placed), "scheduled");
    EXPECT_EQ(alldata_name(State::preparing, Reason::pulling), "preparing");
    EXPECT_EQ(alldata_name(State::preempting, Reason::preempted_for), "running");
}

TEST(Reason, rows_stand_in_order_with_a_unique_name_and_two_sentences) {
    std::set<std::string_view> names;
    for (const auto& row : reason_table()) {
        EXPECT_EQ(&reason_row(row.reason), &row);
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
        if (row.reason == Reason::none) continue;
        EXPECT_TRUE(row.english.ends_with('.')) << row.name;
        EXPECT_TRUE(row.chinese.ends_with("。")) << row.name;
    }
    EXPECT_EQ(reason_row(Reason::rejected).name, "rejected");
    EXPECT_EQ(reason_table().size(), static_cast<std::size_t>(Reason::rejected) + 1);
}

TEST(Priority, takes_words_and_numbers_and_gives_words_back) {
    Priority p;
    EXPECT_TRUE(from_text("High", p));
    EXPECT_EQ(p.value, 700);
    EXPECT_EQ(to_text(p), "high");
    EXPECT_TRUE(from_text("0", p));
    EXPECT_EQ(to_text(p), "0");
    EXPECT_TRUE(from_text("", p));
    EXPECT_EQ(p, Priority{});
    EXPECT_EQ(to_text(p), "");
    for (const char* bad : {"1001", "-1", "urgent", "5.0", "7 ", "99999999999999999999"}) {
        const auto answer = from_text(bad, p);
        ASSERT_FALSE(answer) << bad;
        EXPECT_EQ(answer.error().code, Code::invalid);
    }
}

TEST(PluginUse, is_a_name_with_a_weight_that_reads_back_as_it_was) {
    PluginUse use;
    ASSERT_TRUE(from_text("spread_tenant", use));
    EXPECT_EQ(use, (PluginUse{"spread_tenant", 1}));
    EXPECT_EQ(to_text(use), "spread_tenant");
    ASSERT_TRUE(from_text("nvlink_first=0.1", use));
    EXPECT_EQ(use, (PluginUse{"nvlink_first", 0.1}));
    EXPECT_EQ(to_text(use), "nvlink_first=0.1");
    const PluginUse third{"p", 1.0 / 3};
    ASSERT_TRUE(from_text(to_text(third), use));
    EXPECT_EQ(use, third);
    for (const char* bad : {"", "=1", "p=", "p=x", "p=-1", "p=101", "p=nan", "a b"})
        EXPECT_FALSE(from_text(bad, use)) << bad;
}

TEST(GpuModel, answers_to_its_full_leading_and_family_name_in_any_case) {
    for (const char* wanted : {"", "a100", "A100", "nvidia-a100", "a100-pcie", "a100-pcie-40gb",
                               "NVIDIA A100-PCIE-40GB", "a100-40gb"})
        EXPECT_TRUE(model_matches("a100-pcie-40gb", wanted)) << wanted;
    for (const char* wanted : {"a10", "a1", "h100", "a100-80gb", "a100-sxm4", "40gb", "pcie", "amd"})
        EXPECT_FALSE(model_matches("a100-pcie-40gb", wanted)) << wanted;
    EXPECT_TRUE(model_matches("geforce-rtx-4090", "4090"));
    EXPECT_TRUE(model_matches("geforce-rtx-4090", "rtx-4090"));
    EXPECT_TRUE(model_matches("rtx-4090", "NVIDIA GeForce RTX 4090"));
    EXPECT_FALSE(model_matches("", "a100"));
}

TEST(GpuModel, one_of_several_names_will_do) {
    for (const char* wanted : {"h100|a100", "A100 | H100", "h100||a100-40gb", "|", "a100|"})
        EXPECT_TRUE(model_matches("a100-pcie-40gb", wanted)) << wanted;
    for (const char* wanted : {"h100|a10", "|h100", "a10|a1|"})
        EXPECT_FALSE(model_matches("a100-pcie-40gb", wanted)) << wanted;
    EXPECT_FALSE(model_matches("T4", "V100M16|V100M32"));
}

}  // namespace
}  // namespace crater
