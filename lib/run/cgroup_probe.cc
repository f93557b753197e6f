// Whether limits really hold here: each is set on a scratch group and broken by a process made for it.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cgroup.h"
#include "fs.h"

namespace crater::run {
namespace {

constexpr Bytes probe_memory{16 << 20};
constexpr int looks_max = 1500;  // times 2 ms

// Runs in a child of a program with threads: nothing but system calls.
using Offence = int (*)();

int spin() {
    for (;;) std::atomic_signal_fence(std::memory_order_seq_cst);
}
int take_memory() {
    const std::size_t size = static_cast<std::size_t>(probe_memory.value) * 4;
    auto* at = static_cast<volatile char*>(
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (at == MAP_FAILED) return 2;
    for (std::size_t i = 0; i < size; i += 4096) at[i] = 1;
    return 1;  // got it all
}
int fork_again() {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    if (child < 0) return errno == EAGAIN ? 0 : 2;
    waitpid(child, nullptr, 0);
    return 1;
}
int count_cpus() {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) == 1 ? 0 : 1;
}

// Starts `offence` inside the group; -1 when it cannot be.
pid_t offend(const std::string& folder, Offence offence) {
    const Fd procs(::open((folder + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
    if (!procs) return -1;
    const pid_t child = fork();
    if (child != 0) return child;
    if (::write(procs.get(), "0", 1) != 1) _exit(3);
    _exit(offence());
}

int end_of(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return status;
}

bool exits_zero(const std::string& folder, Offence offence) {
    const pid_t child = offend(folder, offence);
    const int status = child > 0 ? end_of(child) : -1;
    return status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// CPU time that a process used, in ticks of the kernel's clock.
long ticks_of(pid_t process) {
    const std::string stat = read_text("/proc/" + std::to_string(process) + "/stat").value_or("");
    const auto name_end = stat.rfind(')');
    long user = 0, system = 0;
    if (name_end == std::string::npos ||
        std::sscanf(stat.c_str() + name_end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld",
                    &user, &system) != 2)
        return 0;
    return user + system;
}

// The quota holds when the spinner was throttled, and also when it never came to use up its quota because
// others kept the machine busy: a loaded node is no reason to call its limits void.
bool throttles(const std::string& folder) {
    const pid_t child = offend(folder, spin);
    if (child <= 0) return false;
    bool seen = false;
    for (int look = 0; look < looks_max && !seen; ++look) {
        const std::string stat = read_text(folder + "/cpu.stat").value_or("");
        const auto at = stat.find("nr_throttled ");
        seen = at != std::string::npos && std::strtoll(stat.c_str() + at + 13, nullptr, 10) > 0;
        if (!seen) ::usleep(2000);
    }
    // twice the quota of a tenth of a core
    const long allowed = ::sysconf(_SC_CLK_TCK) * (looks_max * 2 / 1000) / 5;
    const bool starved = ticks_of(child) < allowed;
    ::kill(child, SIGKILL);
    end_of(child);
    return seen || starved;
}

bool kills_for_memory(const std::string& folder) {
    const pid_t child = offend(folder, take_memory);
    const int status = child > 0 ? end_of(child) : -1;
    return status >= 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

std::string any_disk() {
    for (const auto& name : list_folder("/sys/class/block")) {
        const std::string at = "/sys/class/block/" + name;
        const auto size = read_text(at + "/size");
        if (exists(at + "/device") && size && *size != "0\n") return name;
    }
    return {};
}

}  // namespace

void Cgroups::self_test() {
    std::string why;
    const bool parent = make_parent(why);
    const std::string scratch = "probe." + std::to_string(::getpid());
    const auto folders = parent ? make_plain(scratch) : std::vector<std::string>();
    const auto check = [&](Controller c, const Limits& limits, auto&& held) {
        if (!of(c)) return;
        std::string& verdict = row(c);
        const std::string at = folder(c, scratch);
        if (!parent || std::find(folders.begin(), folders.end(), at) == folders.end()) {
            verdict = parent ? "cannot make " + at : why;
            return;
        }
        verdict = "enforced";
        if (const auto set = apply(scratch, limits); !set) {
            verdict = set.error().message;
        } else if (!held(at)) {
            verdict = "the limit was set and did not hold";
        }
    };
    const auto only = [](auto&& set) {
        Limits limits;
        set(limits);
        return limits;
    };
    // Each of these must be apart from the others: what does not hold yet is not applied.
    check(Controller::pids, only([](Limits& l) { l.pids = 1; }),
          [](const auto& at) { return exits_zero(at, fork_again); });
    if (holds(Controller::pids) && !write_control(folder(Controller::pids, scratch) + "/pids.max", "max")) {
    }
    const Hierarchy* cpuset = of(Controller::cpuset);
    const std::string cpus =
        cpuset
            ? read_text(cpuset->mount + (cpuset->v2 ? "/cpuset.cpus.effective" : "/cpuset.cpus")).value_or("")
            : "";
    const auto all = parse_set(cpus);
    check(Controller::cpuset, only([&](Limits& l) { l.cpu_set = {all.empty() ? 0 : all.front()}; }),
          [](const auto& at) { return exits_zero(at, count_cpus); });
    check(Controller::memory, only([](Limits& l) { l.memory = probe_memory; }), kills_for_memory);
    check(Controller::cpu, only([](Limits& l) { l.cpu = l.cpu_quota = MilliCpu(100); }), throttles);
    const std::string disk = any_disk();
    if (of(Controller::disk_io) && disk.empty())
        row(Controller::disk_io) = "there is no disk to try it on";
    else
        check(Controller::disk_io, only([&](Limits& l) {
                  l.disk = disk, l.disk_iops = Iops(1000), l.disk_bandwidth = BytesPerSecond(1 << 20);
              }),
              [&](const std::string& at) {
                  const bool v2 = of(Controller::disk_io)->v2;
                  const auto text =
                      read_text(at + (v2 ? "/io.max" : "/blkio.throttle.read_iops_device")).value_or("");
                  return text.find(disk_number(disk)) != std::string::npos &&
                         text.find("1000") != std::string::npos;
              });
    if (parent) {
        kill(scratch);
        for (int look = 0; look < looks_max && !remove(scratch); ++look) ::usleep(2000);
    }
}

CgroupReport probe_cgroups(const std::string& parent) {
    Cgroups groups(parent);
    groups.self_test();
    return groups.report();
}

}  // namespace crater::run
