// What is ready on this machine and what is not: a line each, with what to do.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "../commands.h"
#include "../print.h"
#include "crater/hw/source.h"
#include "crater/run/runtime.h"

namespace crater::cli {
namespace {

struct Finding {
    std::string verdict;  // ok, note, problem
    std::string what, text, todo;
};

constexpr double space_needed_bytes = 1e9;

Finding check_gpu() {
    void* library = ::dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!library)
        return {"note", "gpu", "no NVIDIA driver here: this machine offers CPU, memory and disk only",
                "install the driver (515 or newer) where there is a card"};
    ::dlclose(library);
    auto inventory = hw::machine_source({.data_path = "/"}, *system_clock())->inventory();
    if (!inventory || inventory->gpus.empty())
        return {"problem", "gpu", "the NVIDIA driver is installed but shows no card",
                "see what nvidia-smi says"};
    return {"ok", "gpu", std::to_string(inventory->gpus.size()) + " x " + inventory->gpus.front().model, ""};
}

Finding check_cgroups() {
    const run::CgroupReport report = run::probe_cgroups();
    std::string missing;
    for (const auto& [name, found] : {std::pair{"cpu", report.cpu},
                                      {"memory", report.memory},
                                      {"pids", report.pids},
                                      {"disk io", report.disk_io},
                                      {"cpuset", report.cpuset}})
        if (found != "enforced") missing += std::string(missing.empty() ? "" : "; ") + name + ": " + found;
    if (report.version == "none")
        return {"problem", "cgroup", "no cgroup can be written: limits would be advisory only",
                "run the agent as root, or give it a delegated cgroup"};
    if (!missing.empty())
        return {"problem", "cgroup", report.version + ", not enforced: " + missing,
                "run the agent as root with the cgroup file systems writable, or allow_unenforced: true"};
    return {"ok", "cgroup", report.version + ": CPU, memory, processes and disk IO are enforced", ""};
}

Finding check_space(const std::string& data) {
    std::filesystem::path folder = data;
    while (!std::filesystem::exists(folder) && folder.has_parent_path() && folder != folder.parent_path())
        folder = folder.parent_path();
    struct statvfs stat {};
    if (::statvfs(folder.c_str(), &stat) != 0)
        return {"problem", "disk", data + ": " + std::strerror(errno), "choose another folder with --data"};
    const double free = static_cast<double>(stat.f_bavail) * static_cast<double>(stat.f_frsize);
    if (::access(folder.c_str(), W_OK) != 0)
        return {"problem", "disk", data + " cannot be written: " + std::strerror(errno),
                "choose another folder with --data, or run as its owner"};
    if (free < space_needed_bytes)
        return {"problem", "disk", "only " + bytes_text(free) + " free for " + data + ", 1 GB is the least",
                "make room, or choose another folder with --data"};
    return {"ok", "disk", bytes_text(free) + " free for " + data, ""};
}

Finding check_port(const std::string& listen) {
    const auto colon = listen.rfind(':');
    sockaddr_in address{};
    address.sin_family = AF_INET;
    if (colon == std::string::npos ||
        ::inet_pton(AF_INET, listen.substr(0, colon).c_str(), &address.sin_addr) != 1)
        return {"problem", "port", "\"" + listen + "\" is no address:port", "such as 127.0.0.1:8080"};
    address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(listen.c_str() + colon + 1)));
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int yes = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    const int bound = ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address);
    const int error = errno;
    ::close(fd);
    if (bound == 0) return {"ok", "port", listen + " is free", ""};
    if (error == EADDRINUSE)
        return {"problem", "port", listen + " is taken",
                "stop who listens there (ss -ltnp), or choose another with --listen"};
    return {"problem", "port", listen + ": " + std::strerror(error), "choose another with --listen"};
}

Finding check_user() {
    if (::geteuid() != 0)
        return {"note", "user", "not root: tasks run as you and their limits are advisory",
                "run as root to have tasks isolated and limits held"};
    if (::getpwnam("crater-task")) return {"ok", "user", "tasks run as crater-task", ""};
    return {"note", "user", "the account crater-task does not exist yet",
            "crater up makes it, or: useradd --system --no-create-home crater-task"};
}

Finding check_programs() {
    const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    std::string missing;
    for (const char* program : {"crater-scheduler", "crater-agent", "crater-shim"})
        if (!std::filesystem::exists(folder / program))
            missing += std::string(missing.empty() ? "" : ", ") + program;
    if (missing.empty()) return {"ok", "programs", "scheduler, agent and shim are in " + folder.string(), ""};
    return {"problem", "programs", missing + " missing in " + folder.string(),
            "build or install them beside crater"};
}

Finding check_memory() {
    std::ifstream file("/proc/meminfo");
    std::string key;
    double kib = 0;
    for (std::string unit; file >> key >> kib; std::getline(file, unit))
        if (key == "MemAvailable:") break;
    if (kib * 1024 < 512e6)
        return {"problem", "memory", "only " + bytes_text(kib * 1024) + " available",
                "Crater itself needs about 100 MB; tasks need theirs"};
    return {"ok", "memory", bytes_text(kib * 1024) + " available", ""};
}

}  // namespace

void add_doctor(CLI::App& app, Context& context) {
    struct Options {
        std::string data, listen = "127.0.0.1:8080";
    };
    auto options = std::make_shared<Options>();
    auto* doctor = app.add_subcommand("doctor", "Is this machine ready? A line each, with what to do");
    doctor->add_option("--data", options->data, "Data folder that would be used");
    doctor->add_option("--listen", options->listen, "Address and port that would be used")
        ->capture_default_str();
    doctor->callback([&context, options] {
        const std::string data = options->data.empty() ? data_path() : options->data;
        const std::vector<Finding> findings = {check_programs(),
                                               check_user(),
                                               check_cgroups(),
                                               check_gpu(),
                                               check_memory(),
                                               check_space(data),
                                               check_port(options->listen)};
        Json answer = {{"findings", Json::array()}, {"problems", 0}};
        int problems = 0;
        for (const Finding& finding : findings) {
            problems += finding.verdict == "problem";
            answer["findings"].push_back({{"verdict", finding.verdict},
                                          {"what", finding.what},
                                          {"text", finding.text},
                                          {"todo", finding.todo}});
        }
        answer["problems"] = problems;
        print_answer(context, answer, [&] {
            for (const Finding& finding : findings)
                std::cout << (finding.verdict == "ok"     ? "ok       "
                              : finding.verdict == "note" ? "note     "
                                                          : "PROBLEM  ")
                          << finding.what << ": " << finding.text
                          << (finding.todo.empty() ? "" : " -> " + finding.todo) << "\n";
        });
        if (problems > 0) context.exit_status = 1;
    });
}

}  // namespace crater::cli
