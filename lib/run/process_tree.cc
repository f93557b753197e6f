#include "process_tree.h"

#include <signal.h>
#include <unistd.h>

#include <map>
#include <sstream>

#include "fs.h"

namespace crater::run {
namespace {

struct Process {
    pid_t parent = 0;
    std::int64_t ticks = 0, pages = 0;
};

std::map<pid_t, Process> all_processes() {
    std::map<pid_t, Process> all;
    for (const auto& name : list_folder("/proc")) {
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        const std::string stat = read_text("/proc/" + name + "/stat").value_or("");
        const auto bracket = stat.rfind(')');
        if (bracket == std::string::npos) continue;
        std::istringstream in(stat.substr(bracket + 1));
        std::string state, skip;
        Process p;
        in >> state >> p.parent;
        for (int field = 5; field < 14; ++field) in >> skip;
        std::int64_t user = 0, system = 0;
        in >> user >> system;
        for (int field = 16; field < 24; ++field) in >> skip;
        in >> p.pages;
        p.ticks = user + system;
        all[static_cast<pid_t>(std::stol(name))] = p;
    }
    return all;
}

}  // namespace

GroupUsage tree_usage(pid_t top) {
    GroupUsage usage;
    const auto all = all_processes();
    std::vector<pid_t> below{top};
    for (std::size_t i = 0; i < below.size(); ++i)
        for (const auto& [pid, p] : all) {
            if (p.parent != below[i]) continue;
            below.push_back(pid);
            usage.known = true;
            usage.cpu_us += p.ticks * 1'000'000 / ::sysconf(_SC_CLK_TCK);
            usage.memory_bytes += p.pages * ::sysconf(_SC_PAGESIZE);
            ++usage.pids;
            std::istringstream io(read_text("/proc/" + std::to_string(pid) + "/io").value_or(""));
            std::string key;
            for (std::int64_t value = 0; io >> key >> value;) {
                if (key == "read_bytes:") usage.read_bytes += value;
                if (key == "write_bytes:") usage.write_bytes += value;
            }
        }
    return usage;
}

void kill_by_environment(const std::string& entry) {
    const std::string needle = '\0' + entry + '\0';
    for (const auto& name : list_folder("/proc")) {
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        const auto env = read_text("/proc/" + name + "/environ");
        if (env && ('\0' + *env + '\0').find(needle) != std::string::npos)
            ::kill(static_cast<pid_t>(std::stol(name)), SIGKILL);
    }
}

}  // namespace crater::run
