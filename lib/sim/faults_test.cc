#include "testing.h"

namespace crater::sim {
namespace {

class EachFault : public testing::TestWithParam<FaultRow> {};

// Alone, again and again while jobs come, run and end.
TEST_P(EachFault, is_survived) {
    World world({.seed = 5, .agents = 2, .gpus_per_node = 4, .nodes = {}, .weather = {}, .settings = {}});
    world.run_for(seconds(2));
    const Millis span = GetParam().lasts ? Millis(20'000) : Millis(0);
    for (int i = 0; i < 12; ++i) {
        world.submit(work(1 + i % 3, seconds(5 + 7 * (i % 4))), "t" + std::to_string(i));
        world.inject({.fault = GetParam().fault,
                      .at = world.elapsed() + Millis(200 * i),
                      .steps = static_cast<std::uint64_t>(i),
                      .node = i % 2,
                      .span = span});
        world.run_for(seconds(10));
    }
    world.heal();
    EXPECT_TRUE(world.run_until_idle(minutes(60)));
    EXPECT_TRUE(sound(world));
    EXPECT_GT(world.counts().faults, 0u);
}

INSTANTIATE_TEST_SUITE_P(Sim, EachFault, testing::ValuesIn(fault_table().begin(), fault_table().end()),
                         [](const auto& each) { return std::string(each.param.name); });

// ---- a checker that cannot fail proves nothing ------------------------------------------------------------

TEST(Faults, are_named_once_and_found_by_name) {
    for (const FaultRow& row : fault_table()) {
        EXPECT_EQ(fault_named(row.name), row.fault);
        EXPECT_EQ(&fault_row(row.fault), &row);
    }
    EXPECT_FALSE(fault_named("nothing"));
    EXPECT_EQ(
        text_of(
            {.fault = Fault::partition, .at = Millis(8'000), .steps = 3, .node = 1, .span = Millis(20'000)}),
        "8000+3 partition n2 for 20000ms");
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
