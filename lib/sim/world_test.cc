#include <gtest/gtest.h>

#include "crater/sim/world.h"

namespace crater::sim {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

JobSpec job(std::int64_t cards, Millis duration) {
    JobSpec spec;
    spec.type = JobType::training;
    spec.command.argv = {"work"};
    spec.resources.gpu.count = MilliGpu(cards * 1000);
    spec.resources.cpu.cores = MilliCpu(1000);
    spec.resources.memory.size = Bytes(1ll << 30);
    spec.duration = duration;
    return spec;
}

testing::AssertionResult sound(const World& world) {
    if (world.violations().empty()) return testing::AssertionSuccess();
    return testing::AssertionFailure() << world.violations()[0].checker << ": " << world.violations()[0].text << "\n" << world.trace(80);
}

TEST(World, jobs_run_and_end) {
    World world({.seed = 1, .agents = 2, .gpus_per_node = 4, .nodes = {}, .weather = {}, .settings = {}});
    world.run_for(seconds(1));
    for (int i = 0; i < 6; ++i) world.submit(job(2, seconds(20)), "t" + std::to_string(i));
    EXPECT_TRUE(world.run_until_idle(minutes(10)));
    EXPECT_TRUE(sound(world));
}

TEST(World, the_scheduler_dies_while_jobs_start) {
    for (int ms = 0; ms < 300; ms += 10) {
        World world({.seed = 2, .agents = 2, .gpus_per_node = 4, .nodes = {}, .weather = {}, .settings = {}});
        world.run_for(seconds(2));
        for (int i = 0; i < 4; ++i) world.submit(job(1, seconds(5)), "t" + std::to_string(i));
        world.run_for(Millis(ms));
        world.inject({.fault = Fault::scheduler_crash, .at = world.elapsed()});
        EXPECT_TRUE(world.run_until_idle(minutes(10)));
        ASSERT_TRUE(sound(world)) << ms;
    }
}

TEST(World, a_node_is_cut_off_for_longer_than_it_takes_to_be_lost) {
    World world({.seed = 3, .agents = 2, .gpus_per_node = 4, .nodes = {}, .weather = {}, .settings = {}});
    world.run_for(seconds(2));
    for (int i = 0; i < 4; ++i) world.submit(job(2, minutes(1)), "t" + std::to_string(i));
    world.run_for(seconds(10));
    world.inject({.fault = Fault::partition, .at = world.elapsed(), .span = seconds(50)});
    EXPECT_TRUE(world.run_until_idle(minutes(20)));
    EXPECT_TRUE(sound(world));
}

}  // namespace
}  // namespace crater::sim
