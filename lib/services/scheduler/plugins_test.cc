// What the scheduler says of placement plugins. That they work is lib/plugin's to prove.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "crater/plugin/registry.h"
#include "test_world.h"

namespace crater::scheduler {
namespace {

std::vector<std::string> kinds(const TestWorld& world) {
    std::vector<std::string> out;
    for (const auto& problem : world.scheduler->read().cluster().problems) out.push_back(problem.kind);
    return out;
}

TEST(Plugins, one_at_fault_and_one_missed_are_problems_and_gone_when_they_are) {
    const auto folder =
        std::filesystem::temp_directory_path() / ("crater-scheduler-plugins-" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder);
    std::ofstream(folder / "broken.so") << "no program is there to load it";
    TestWorld world;
    plugin::Registry registry({.folder = folder.string(), .host = "/nowhere/crater-plugin-host"}, world.time);
    world.config.queues = {
        {.name = "training", .types = {JobType::training}, .plugins = {{"spread_tenant", 1}}}};
    world.plugins = &registry;
    world.restart();
    world.run(seconds(3));
    EXPECT_EQ(kinds(world), (std::vector<std::string>{"plugin_at_fault", "plugin_missing"}));
    std::string said;
    world.scheduler->plugins([&](const Result<std::vector<api::PluginView>>& rows) {
        for (const api::PluginView& row : *rows) said += row.name + " " + row.state + ": " + row.reason;
    });
    EXPECT_EQ(said, "broken refused: cannot run /nowhere/crater-plugin-host: No such file or directory");

    std::filesystem::remove_all(folder);
    world.scheduler->set_queue({.name = "training", .types = {JobType::training}}, {},
                               [](Result<api::QueueView>) {});
    world.run(seconds(3));
    EXPECT_TRUE(kinds(world).empty());
    world.crash();
}

}  // namespace
}  // namespace crater::scheduler
