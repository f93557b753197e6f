#include "testing.h"

namespace crater::sim {
namespace {

TEST(World, jobs_run_and_end) {
    World world({.seed = 1, .agents = 2, .gpus_per_node = 4, .nodes = {}, .weather = {}, .settings = {}});
    world.run_for(seconds(1));
    for (int i = 0; i < 6; ++i) world.submit(work(2, seconds(20)), "t" + std::to_string(i));
    EXPECT_TRUE(world.run_until_idle(minutes(10)));
    EXPECT_TRUE(sound(world));
}

TEST(World, the_scheduler_dies_while_jobs_start) {
    for (int ms = 0; ms < 300; ms += 10) {
        World world({.seed = 2, .agents = 2, .gpus_per_node = 4, .nodes = {}, .weather = {}, .settings = {}});
        world.run_for(seconds(2));
        for (int i = 0; i < 4; ++i) world.submit(work(1, seconds(5)), "t" + std::to_string(i));
        world.run_for(Millis(ms));
        world.inject({.fault = Fault::scheduler_crash, .at = world.elapsed()});
        EXPECT_TRUE(world.run_until_idle(minutes(10)));
        ASSERT_TRUE(sound(world)) << ms;
    }
}

TEST(World, a_node_is_cut_off_for_longer_than_it_takes_to_be_lost) {
    World world({.seed = 3, .agents = 2, .gpus_per_node = 4, .nodes = {}, .weather = {}, .settings = {}});
    world.run_for(seconds(2));
    for (int i = 0; i < 4; ++i) world.submit(work(2, minutes(1)), "t" + std::to_string(i));
    world.run_for(seconds(10));
    world.inject({.fault = Fault::partition, .at = world.elapsed(), .span = seconds(50)});
    EXPECT_TRUE(world.run_until_idle(minutes(20)));
    EXPECT_TRUE(sound(world));
}

}  // namespace
}  // namespace crater::sim
