// `crater up`: scheduler, this machine's agent and, with --nodes, simulated ones, as supervised processes of
// one group.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <iostream>

#include "../commands.h"
#include "../supervisor.h"
#include "crater/base/ids.h"
#include "crater/daemon/daemon.h"

namespace crater::cli {
namespace {

namespace fs = std::filesystem;

struct UpOptions {
    std::string data, listen = "127.0.0.1:8080", nodes, config, agent_config, console;
    bool keep_tasks = false, no_agent = false;
};

// Held for the life of this process: a second `crater up` on the folder is refused.
Result<void> lock_folder(const std::string& data) {
    const std::string path = data + "/up.lock";
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail(Code::unavailable, path + ": " + std::strerror(errno), "--data",
                    "choose a folder that you may write");
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0)
        return fail(Code::conflict, data + " is in use by another crater up", "--data",
                    "stop that one, or choose another folder");
    return {};
}

Result<void> make_folders(const std::string& data) {
    std::error_code error;
    for (const char* folder : {"", "/logs", "/tasks", "/cache", "/checkpoints", "/output"}) {
        fs::create_directories(data + folder, error);
        if (error)
            return fail(Code::unavailable, data + folder + ": " + error.message(), "--data",
                        "choose a folder that you may write");
    }
    return {};
}

// The token of the first start is kept for the next ones.
Result<std::string> token_file(const std::string& path) {
    if (fs::exists(path)) return path;
    CRATER_TRY_VOID(daemon::write_file(path, make_secret(*system_rng()) + "\n", 0600));
    return path;
}

std::string console_folder(const UpOptions& options, const fs::path& programs) {
    if (!options.console.empty()) return options.console;
    for (const fs::path& candidate : {programs / "../share/crater/console", programs / "../../web/dist"})
        if (fs::exists(candidate / "index.html")) return fs::weakly_canonical(candidate).string();
    return {};
}

std::string url_of(const std::string& listen) {
    std::string address = listen;
    if (address.starts_with("0.0.0.0:")) address.replace(0, 7, "127.0.0.1");
    return "http://" + address;
}

void up(Context& context, UpOptions options) {
    const std::string data =
        fs::absolute(options.data.empty() ? data_path() : options.data).lexically_normal().string();
    const fs::path programs = fs::read_symlink("/proc/self/exe").parent_path();
    need(make_folders(data));
    need(lock_folder(data));
    const std::string admin = need(token_file(data + "/admin.token")),
                      join = need(token_file(data + "/join.token"));
    const std::string url = url_of(options.listen);

    Supervisor supervisor(data + "/logs");
    std::vector<std::string> scheduler = {(programs / "crater-scheduler").string(),
                                          "--listen",
                                          options.listen,
                                          "--store",
                                          data + "/crater.db",
                                          "--admin-token-file",
                                          admin,
                                          "--join-token-file",
                                          join};
    if (auto console = console_folder(options, programs); !console.empty())
        scheduler.insert(scheduler.end(), {"--console-dir", console});
    if (!options.config.empty()) scheduler.insert(scheduler.end(), {"--config", options.config});
    supervisor.add({.name = "scheduler", .command = scheduler, .stop_order = 2});

    std::vector<std::string> agent = {
        (programs / "crater-agent").string(), "--scheduler", url, "--token-file", join, "--data", data};
    if (::geteuid() != 0) agent.push_back("--allow-unenforced");
    if (options.keep_tasks) agent.push_back("--keep-tasks");
    std::vector<std::string> simulated = agent;
    if (!options.agent_config.empty()) agent.insert(agent.end(), {"--config", options.agent_config});
    if (!options.no_agent) supervisor.add({.name = "agent", .command = agent, .stop_order = 1});
    if (!options.nodes.empty()) {
        simulated.insert(simulated.end(), {"--nodes", options.nodes});
        supervisor.add({.name = "simulated-nodes", .command = simulated, .stop_order = 1});
    }

    need(supervisor.start("scheduler"));
    need(supervisor.wait_until_serving(url + "/readyz", Millis(30'000)));
    need(supervisor.start_rest());
    need(daemon::write_file(data + "/url", url + "\n", 0644));
    const std::string secret = need(daemon::read_secret(admin));
    std::cout << "Crater is up.\n"
              << "  console      " << url << "/#token=" << secret << "\n"
              << "  API          " << url << "/api/v1, described in " << url << "/openapi.json\n"
              << "  token file   " << admin << "\n"
              << "  logs         " << data << "/logs\n"
              << "Ctrl-C stops it" << (options.keep_tasks ? "; tasks go on." : ", tasks first.") << std::endl;
    context.exit_status = supervisor.run();
    std::error_code ignored;
    fs::remove(data + "/url", ignored);
}

}  // namespace

void add_up(CLI::App& app, Context& context) {
    auto options = std::make_shared<UpOptions>();
    auto* command = app.add_subcommand("up", "Scheduler and agent on this machine, until Ctrl-C");
    command->add_option("--data", options->data, "Data folder [" + data_path() + "]");
    command->add_option("--listen", options->listen, "Address and port of API and console")
        ->capture_default_str();
    command->add_option("--nodes", options->nodes, "File of simulated nodes to add")
        ->check(CLI::ExistingFile);
    command->add_option("--config", options->config, "The scheduler's configuration")
        ->check(CLI::ExistingFile);
    command->add_option("--agent-config", options->agent_config, "The agent's configuration")
        ->check(CLI::ExistingFile);
    command->add_option("--console-dir", options->console, "Folder of the built console");
    command->add_flag("--no-agent", options->no_agent, "Do not use this machine's own hardware");
    command->add_flag("--keep-tasks", options->keep_tasks,
                      "Leave tasks running when stopped; the next start adopts them");
    command->callback([&context, options] { up(context, *options); });
}

}  // namespace crater::cli
