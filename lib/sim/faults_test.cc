#include <gtest/gtest.h>

#include "crater/sim/world.h"

namespace crater::sim {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

JobSpec work(std::int64_t cards, Millis duration) {
    JobSpec spec;
    spec.type = JobType::training;
    spec.command.argv = {"work"};
    spec.resources.gpu.count = MilliGpu(cards * 1000);
    spec.resources.cpu.cores = MilliCpu(1000);
    spec.resources.memory.size = Bytes(1ll << 30);
    spec.duration = duration;
    return spec;
}

testing::AssertionResult good(const World& world) {
    if (world.violations().empty()) return testing::AssertionSuccess();
    return testing::AssertionFailure() << world.violations()[0].checker << ": " << world.violations()[0].text << "\n" << world.trace(60);
}

class EachFault : public testing::TestWithParam<FaultRow> {};

// Alone, again and again while jobs come, run and end.
TEST_P(EachFault, is_survived) {
    World world({.seed = 5, .agents = 2, .gpus_per_node = 4, .nodes = {}, .weather = {}, .settings = {}});
    world.run_for(seconds(2));
    const Millis span = GetParam().lasts ? Millis(20'000) : Millis(0);
    for (int i = 0; i < 12; ++i) {
        world.submit(work(1 + i % 3, seconds(5 + 7 * (i % 4))), "t" + std::to_string(i));
        world.inject({.fault = GetParam().fault, .at = world.elapsed() + Millis(200 * i), .steps = static_cast<std::uint64_t>(i), .node = i % 2, .span = span});
        world.run_for(seconds(10));
    }
    world.heal();
    EXPECT_TRUE(world.run_until_idle(minutes(60)));
    EXPECT_TRUE(good(world));
    EXPECT_GT(world.counts().faults, 0u);
}

INSTANTIATE_TEST_SUITE_P(Sim, EachFault, testing::ValuesIn(fault_table().begin(), fault_table().end()),
                         [](const auto& each) { return std::string(each.param.name); });

// ---- a checker that cannot fail proves nothing -----------------------------------------------------------------------------------

TEST(Faults, are_named_once_and_found_by_name) {
    for (const FaultRow& row : fault_table()) {
        EXPECT_EQ(fault_named(row.name), row.fault);
        EXPECT_EQ(&fault_row(row.fault), &row);
    }
    EXPECT_FALSE(fault_named("nothing"));
    EXPECT_EQ(text_of({.fault = Fault::partition, .at = Millis(8'000), .steps = 3, .node = 1, .span = Millis(20'000)}), "8000+3 partition n2 for 20000ms");
}

TEST(Coverage, counts_what_was_hit_and_names_what_was_not) {
    Coverage one, two;
    one.hit(Fault::partition, State::running);
    two.hit(Fault::partition, State::running);
    two.hit(Fault::delay, State::lost);
    one.add(two);
    EXPECT_EQ(one.count(Fault::partition, State::running), 2u);
    EXPECT_EQ(one.count(Fault::delay, State::pending), 0u);
    EXPECT_EQ(one.missing().size(), Coverage::all().size() - 2);
}

}  // namespace
}  // namespace crater::sim
