// crater-agent: this machine's agent, or with --nodes FILE the agents of simulated nodes, all on one loop.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>

#include "crater/agent/agent.h"
#include "crater/base/log.h"
#include "crater/daemon/daemon.h"
#include "crater/hw/source.h"
#include "crater/run/runtime.h"
#include "crater/wire/link.h"

namespace crater {
namespace {

constexpr const char* name = "crater-agent";
constexpr Millis dial_timeout{10'000};

struct Overrides {
    std::string scheduler, data, token_file, node_name, nodes;
    bool allow_unenforced = false, keep_tasks = false;
};

// One agent with all it owns.
struct Node {
    std::unique_ptr<hw::Source> source;
    std::unique_ptr<run::Runtime> runtime;
    std::unique_ptr<wire::Connector> connector;
    std::unique_ptr<agent::Agent> agent;
    agent::Config config;
};

Result<agent::Config> load(const daemon::Options& options, const Overrides& overrides) {
    CRATER_TRY(text, daemon::config_text(options));
    if (text.empty()) text = "scheduler_endpoint: http://127.0.0.1:8080\n";
    CRATER_TRY(config, agent::read_config(text, overrides.scheduler));
    if (!overrides.data.empty()) config.data = overrides.data;
    if (!overrides.token_file.empty()) config.token_file = overrides.token_file;
    if (!overrides.node_name.empty()) config.node_name = overrides.node_name;
    if (overrides.allow_unenforced) config.allow_unenforced = true;
    if (config.node_name.empty()) {
        char host[256] = {};
        ::gethostname(host, sizeof host - 1);
        config.node_name = host;
    }
    return config;
}

std::string shim_path() {
    return std::filesystem::read_symlink("/proc/self/exe").replace_filename("crater-shim").string();
}

Result<std::unique_ptr<run::Runtime>> process_runtime(const agent::Config& config, bool simulated, Loop& loop,
                                                      const Clock& clock) {
    if (::geteuid() == 0) CRATER_TRY_VOID(run::ensure_task_user(config.task_user));
    return run::process_runtime({.data = config.data,
                                 .shim = shim_path(),
                                 .task_user = config.task_user,
                                 .allow_root_tasks = config.allow_root_tasks,
                                 .allow_unenforced = config.allow_unenforced || simulated,
                                 .simulated = simulated},
                                loop, clock);
}

Result<Node> machine_node(const agent::Config& config, Loop& loop, const Clock& clock) {
    std::int64_t reserved = 0;
    for (const auto& pool : config.resource_pools) reserved += pool.reserved_cores;
    Node node;
    node.source = hw::machine_source({.data_path = config.data,
                                      .reserved_cores = reserved,
                                      .cache = agent::cache_root(config),
                                      .probe_config = config.probe_config},
                                     clock);
    CRATER_TRY(runtime, process_runtime(config, false, loop, clock));
    node.runtime = std::move(runtime);
    return node;
}

Result<Node> simulated_node(const hw::SimulatedNode& simulated, agent::Config& config, Loop& loop,
                            const Clock& clock) {
    config.node_name = simulated.name;
    config.labels = simulated.labels;
    config.resource_pools.clear();
    Node node;
    node.source = hw::simulated_source(simulated);
    if (simulated.runtime == hw::SimulatedRuntime::process) {
        config.data += "/simulated/" + simulated.name;
        std::filesystem::create_directories(config.data);
        CRATER_TRY(runtime, process_runtime(config, true, loop, clock));
        node.runtime = std::move(runtime);
    } else {
        node.runtime = run::occupying_runtime(loop, clock);
    }
    return node;
}

Result<int> serve(const daemon::Options& options, const Overrides& overrides) {
    CRATER_TRY(config, load(options, overrides));
    std::vector<hw::SimulatedNode> simulated;
    if (!overrides.nodes.empty()) {
        CRATER_TRY(text, daemon::read_file(overrides.nodes));
        CRATER_TRY(read, hw::read_simulated_nodes(text));
        simulated = std::move(read);
    }
    if (options.check) {
        std::cout << options.config << ": ok\n";
        return 0;
    }
    std::string token;
    if (!config.token_file.empty()) {
        CRATER_TRY(secret, daemon::read_secret(config.token_file));
        token = secret;
    }

    ThreadLoop loop;
    const auto clock = system_clock();
    const auto rng = system_rng();
    std::vector<Node> nodes;
    const auto specs = std::make_shared<agent::Specs>();
    std::size_t running = 0;
    daemon::Signals signals(
        loop,
        [&] {
            log::info("stopping", {{"keep_tasks", overrides.keep_tasks ? "yes" : "no"}});
            for (Node& node : nodes)
                node.agent->stop(!overrides.keep_tasks, [&] {
                    if (--running == 0) loop.stop();
                });
        },
        [&] {
            auto changed = load(options, overrides);
            if (!changed)
                return log::error("the configuration is not taken over", {{"why", changed.error().text()}});
            daemon::use_log_level(changed->log_level);
            agent::Agent::Reloaded reloaded;
            for (Node& node : nodes) {
                agent::Config own = *changed;
                if (!overrides.nodes.empty()) {  // what a simulated node is stands in its own file
                    own.node_name = node.config.node_name;
                    own.labels = node.config.labels;
                    own.resource_pools = node.config.resource_pools;
                    own.data = node.config.data;
                }
                reloaded = node.agent->reload(std::move(own));
            }
            daemon::report_reload(reloaded.applied, reloaded.at_restart);
            if (!overrides.nodes.empty())
                log::info("simulated nodes change at the next start", {{"nodes", overrides.nodes}});
        });
    if (!options.level_given) daemon::use_log_level(config.log_level);

    const auto add = [&](Node node, const agent::Config& own) {
        // Silence of the scheduler for so long, and no answer to pings, ends the link; then it is dialled
        // again.
        wire::ClientOptions client;
        client.websocket.idle_timeout = own.heartbeat_timeout;
        node.connector = wire::websocket_connector(loop, own.scheduler_endpoint, token, dial_timeout,
                                                   "/api/v1/agent", client);
        node.agent = std::make_unique<agent::Agent>(
            own, agent::Env{*clock, loop, *rng, *node.source, *node.runtime, *node.connector, specs});
        node.agent->start();
        node.config = own;
        nodes.push_back(std::move(node));
        ++running;
    };
    if (overrides.nodes.empty()) {
        CRATER_TRY(node, machine_node(config, loop, *clock));
        add(std::move(node), config);
    }
    for (const auto& one : simulated) {
        agent::Config own = config;
        CRATER_TRY(node, simulated_node(one, own, loop, *clock));
        add(std::move(node), own);
    }
    log::info("started", {{"nodes", running},
                          {"simulated", simulated.size()},
                          {"scheduler", config.scheduler_endpoint.front()}});
    loop.run();
    return 0;
}

}  // namespace
}  // namespace crater

int main(int argc, char** argv) {
    using namespace crater;
    Overrides overrides;
    const auto options = daemon::parse(
        argc, argv, name, "Crater's agent: runs tasks on this machine and tells the scheduler what it has.",
        [&](CLI::App& app) {
            app.add_option("--scheduler", overrides.scheduler,
                           "URL of the scheduler, instead of the configuration's");
            app.add_option("--data", overrides.data, "Folder for tasks, logs and records");
            app.add_option("--token-file", overrides.token_file, "File with a token of the role agent-join");
            app.add_option("--node-name", overrides.node_name, "Name of this node");
            app.add_option("--nodes", overrides.nodes,
                           "Be the agents of these simulated nodes instead of this machine's");
            app.add_flag("--allow-unenforced", overrides.allow_unenforced,
                         "Run tasks even where a limit cannot be held");
            app.add_flag("--keep-tasks", overrides.keep_tasks,
                         "Leave tasks running when the agent is stopped");
        });
    auto status = serve(options, overrides);
    return status ? *status : daemon::report(name, status.error());
}
