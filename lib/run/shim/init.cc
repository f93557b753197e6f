#include "init.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "root.h"

namespace shim {
namespace {

void send_packet(int socket, const Packet& packet) {
    while (send(socket, &packet, sizeof packet, MSG_NOSIGNAL) < 0 && errno == EINTR) {
    }
}

// Parent of a process and whether it is still alive; -1 when it is gone.
int parent_of(int pid) {
    char text[512];
    const int fd = open(Path("/proc/%d/stat", pid), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    const ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0) return -1;
    text[n] = 0;
    const char* at = strrchr(text, ')');
    return at && at[1] && at[2] != 'Z' ? atoi(at + 4) : -1;
}

// Signals each process below `top` once; how many there were.
int signal_tree(int top, int signal) {
    struct Entry {
        int pid, parent;
    };
    List<Entry> all;
    DIR* dir = opendir("/proc");
    while (const dirent* entry = dir ? readdir(dir) : nullptr) {
        const int pid = atoi(entry->d_name);
        const int parent = pid > 0 ? parent_of(pid) : -1;
        if (parent > 0) all.add({pid, parent});
    }
    if (dir) closedir(dir);
    List<int> below;
    below.add(top);
    for (std::size_t i = 0; i < below.count; ++i)
        for (std::size_t k = 0; k < all.count; ++k)
            if (all.items[k].parent == below.items[i]) {
                below.add(all.items[k].pid);
                kill(all.items[k].pid, signal);
            }
    const int count = static_cast<int>(below.count) - 1;
    free(all.items);
    free(below.items);
    return count;
}

struct Failure {
    int code = 126;
    Message text;
};

[[noreturn]] void give_up(int error_pipe, int code, const Message& text) {
    const Failure failure{code, text};
    write_all(error_pipe, &failure, sizeof failure);
    _exit(code);
}

// What the agent may have set for itself is not for tasks.
void set_limits() {
    const rlimit none{0, 0}, any{RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_MEMLOCK, &any);  // locked memory counts in the group; GPU and RDMA libraries need it
    if (geteuid() == 0) setpriority(PRIO_PROCESS, 0, 0);
    char* score = read_file("/proc/self/oom_score_adj", nullptr);
    if (score && number(score) < 0) write_text("/proc/self/oom_score_adj", "0");
    free(score);
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        if (files.rlim_max > 65536) files.rlim_max = 65536;
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
}

void set_affinity(const char* cpus) {
    cpu_set_t* set = CPU_ALLOC(4096);
    const std::size_t size = CPU_ALLOC_SIZE(4096);
    if (!set) return;
    CPU_ZERO_S(size, set);
    for (const char* at = cpus; *at;) {
        char* end = nullptr;
        const long cpu = strtol(at, &end, 10);
        if (end == at) break;
        if (cpu >= 0 && cpu < 4096) CPU_SET_S(static_cast<std::size_t>(cpu), size, set);
        at = *end == ',' ? end + 1 : end;
    }
    sched_setaffinity(0, size, set);  // the cpuset holds it; where there is none it is advisory
}

void set_numa(const char* text) {
    const int node = atoi(strchr(text, ':') ? strchr(text, ':') + 1 : "");
    unsigned long mask[16] = {};
    if (node < 0 || node >= 1024) return;
    mask[node / 64] = 1UL << (node % 64);
    syscall(SYS_set_mempolicy, starts_with(text, "bind") ? 2 : 1, mask, 1024UL);
}

// True when the user's rights are all that is left.
bool drop_rights(const Launch& launch) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
    if (geteuid() != 0 || launch.root_task) return true;
    for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; ++cap) prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    return setgroups(0, nullptr) == 0 && setresgid(launch.gid, launch.gid, launch.gid) == 0 &&
           setresuid(launch.uid, launch.uid, launch.uid) == 0 && setuid(0) != 0;
}

[[noreturn]] void run_command(const Launch& launch, const List<int>& groups, int output, int error_pipe) {
    setsid();
    for (std::size_t i = 0; i < groups.count; ++i)
        if (!write_all(groups.items[i], "0", 1))
            give_up(error_pipe, 126, Message("cannot join %s: %s", launch.cgroups.items[i], strerror(errno)));
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(nothing, 0);
    dup2(output, 1);
    dup2(output, 2);
    set_limits();
    if (launch.cpus) set_affinity(launch.cpus);
    if (launch.numa) set_numa(launch.numa);
    if (!drop_rights(launch)) give_up(error_pipe, 126, Message("cannot give up rights: %s", strerror(errno)));
    if (!launch.namespaces) prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (chdir(launch.cwd) != 0)
        give_up(
            error_pipe, errno == ENOENT || errno == ENOTDIR ? 127 : 126,
            Message("working_dir %s cannot be entered by uid %u: %s", launch.cwd, getuid(), strerror(errno)));
    for (int signal = 1; signal < NSIG; ++signal) {
        struct sigaction action {};
        action.sa_handler = SIG_DFL;
        sigaction(signal, &action, nullptr);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    environ = launch.env.items;
    const char* command = launch.args.items[0];
    execvp(command, launch.args.items);
    const int error = errno;
    if (error == ENOENT && access(command, F_OK) == 0)
        give_up(error_pipe, 127, Message("the interpreter that %s names is not there", command));
    if (error == ENOENT && !strchr(command, '/')) {
        const char* path = getenv("PATH");
        give_up(error_pipe, 127, Message("command not found: %s (looked in %s)", command, path ? path : ""));
    }
    give_up(error_pipe, error == ENOENT ? 127 : 126, Message("cannot run %s: %s", command, strerror(error)));
}

void reap(int socket, int main_pid, bool& ended) {
    int status = 0;
    for (int pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        if (pid == main_pid) {
            Packet packet;
            packet.kind = 'x';
            packet.number = status;
            send_packet(socket, packet);
            ended = true;
        }
}

[[noreturn]] void refuse(int socket, int code, const Message& text) {
    Packet packet;
    packet.kind = 'e';
    packet.number = code;
    packet.text = text;
    send_packet(socket, packet);
    _exit(1);
}

}  // namespace

void signal_below(int signal, bool pid_namespace) {
    if (pid_namespace) {
        kill(-1, signal);
        return;
    }
    // One round is enough for SIGTERM. What is killed cannot make more, so the rounds end.
    for (int round = 0; signal_tree(getpid(), signal) > 0 && signal == SIGKILL && round < 10'000; ++round)
        sched_yield();
}

void run_init(Launch& launch, int socket, int output) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "crater-init");
    prctl(PR_SET_DUMPABLE, 0);
    umask(022);
    Message why;
    // Groups are opened while their file system is in sight.
    List<int> groups;
    for (std::size_t i = 0; i < launch.cgroups.count; ++i) {
        const int fd = open(Path("%s/cgroup.procs", launch.cgroups.items[i]), O_WRONLY | O_CLOEXEC);
        if (fd < 0)
            refuse(socket, 126, Message("cannot open %s: %s", launch.cgroups.items[i], strerror(errno)));
        groups.add(fd);
    }
    if (launch.namespaces) {
        if (unshare(CLONE_NEWNS | CLONE_NEWIPC) != 0)
            refuse(socket, 126, Message("cannot make namespaces: %s", strerror(errno)));
        if (!open_sources(launch, why) || !enter_root(launch, why)) refuse(socket, 126, why);
    } else {
        prctl(PR_SET_CHILD_SUBREAPER, 1);
    }
    int errors[2];
    if (pipe2(errors, O_CLOEXEC) != 0) refuse(socket, 126, Message("pipe: %s", strerror(errno)));
    const pid_t main_pid = fork();
    if (main_pid < 0) refuse(socket, 126, Message("cannot start a process: %s", strerror(errno)));
    if (main_pid == 0) run_command(launch, groups, output, errors[1]);
    close(errors[1]);
    close(output);
    Failure failure;
    ssize_t got = 0;
    do got = read(errors[0], &failure, sizeof failure);
    while (got < 0 && errno == EINTR);
    close(errors[0]);
    if (got == static_cast<ssize_t>(sizeof failure)) refuse(socket, failure.code, failure.text);
    Packet begun;
    begun.kind = 's';
    send_packet(socket, begun);

    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    const int children = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    bool ended = false, orphaned = false;
    reap(socket, main_pid, ended);
    while (!ended && !orphaned) {
        pollfd fds[2] = {{children, POLLIN, 0}, {socket, POLLIN, 0}};
        if (poll(fds, 2, -1) < 0 && errno != EINTR) break;
        signalfd_siginfo info;
        while (read(children, &info, sizeof info) > 0) {
        }
        if (fds[1].revents) {
            Packet packet;
            const ssize_t n = recv(socket, &packet, sizeof packet, MSG_DONTWAIT);
            if (n > 0) signal_below(packet.kind == 'k' ? SIGKILL : SIGTERM, launch.namespaces);
            orphaned = n == 0;  // the shim is gone
        }
        reap(socket, main_pid, ended);
    }
    // What the command left behind ends with it.
    signal_below(SIGKILL, launch.namespaces);
    while (waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
    }
    _exit(0);
}

}  // namespace shim
