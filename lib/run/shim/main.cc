// crater-shim DIR/tasks/<id>: keeps one task alive and accountable while agents come and go. Needs nothing
// but the kernel.
//
// On descriptor 3, when it is open, it answers its starter once: "R" it holds the lock and goes on, "L"
// another shim does or did, "E" + text it cannot.
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
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

#include "disk.h"
#include "init.h"
#include "launch.h"
#include "log.h"
#include "record.h"

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC 4
#endif

namespace shim {
namespace {

constexpr int answer_fd = 3;
constexpr long long disk_period_ms = 2'000;    // between two looks at what the task's folders take
constexpr long long kill_patience_ms = 5'000;  // until an init that does not answer is killed itself

void answer(char kind, const char* text) {
    const Message out("%c%s", kind, text);
    if (write_all(answer_fd, out.data, strlen(out))) {
    }
    close(answer_fd);
}

// The kernel's word on the task's memory. v2: inotify on memory.events; v1: an eventfd registered with the
// group.
struct MemoryWatch {
    const char* path = nullptr;
    int fd = -1;

    void open_on(const char* events_path) {
        path = events_path;
        if (!path) return;
        if (!strstr(path, "memory.oom_control")) {
            fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
            if (fd >= 0) inotify_add_watch(fd, path, IN_MODIFY);
            return;
        }
        Path control("%s", path);
        strcpy(strrchr(control.data, '/') + 1, "cgroup.event_control");
        const int oom = open(path, O_RDONLY | O_CLOEXEC), events = open(control, O_WRONLY | O_CLOEXEC);
        fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        const Message line("%d %d", fd, oom);
        if (events < 0 || !write_all(events, line.data, strlen(line))) {
        }  // then seen at the end only
        if (events >= 0) close(events);
    }
    long long kills() const {
        char* text = path ? read_file(path, nullptr) : nullptr;
        const char* at = text ? strstr(text, "oom_kill ") : nullptr;
        const long long count = at ? number(at + 9) : 0;
        free(text);
        return count;
    }
    long long due_until = 0;  // an event comes before its kill is counted: look again until then
    void drain() {
        char buffer[4096];
        while (fd >= 0 && read(fd, buffer, sizeof buffer) > 0) due_until = uptime_ms() + 1'000;
    }
};

class Supervisor {
  public:
    explicit Supervisor(Launch& launch)
        : launch_(launch), log_(launch.log, launch.dir, launch.log_max_bytes) {}

    int run() {
        reserve_exit(launch_.dir);
        memory_.open_on(launch_.memory_events);
        watch_ = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        if (watch_ >= 0) inotify_add_watch(watch_, launch_.dir, IN_MOVED_TO);
        sigset_t term;
        sigemptyset(&term);
        sigaddset(&term, SIGTERM);
        signals_ = signalfd(-1, &term, SFD_CLOEXEC | SFD_NONBLOCK);

        if (const long long grace = stop_request(launch_.dir); grace >= 0) {
            exit_.stopped = true;  // told to end before it began
            exit_.code = 128 + SIGTERM;
        } else if (start()) {
            while (init_ > 0) step();
        }
        drain_output();
        exit_.oom = exit_.oom || memory_.kills() > 0;
        exit_.ended_ms = now_ms();
        write_exit(launch_.dir, exit_);
        return 0;
    }

  private:
    bool start() {
        int output[2], control[2];
        if (pipe2(output, O_CLOEXEC) != 0 ||
            socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) != 0)
            return failed(126, "cannot make pipes: %s");
        fcntl(output[0], F_SETFL, O_NONBLOCK);
        if (launch_.namespaces && unshare(CLONE_NEWPID) != 0)
            return failed(126, "cannot make a pid namespace: %s");
        if (!launch_.namespaces) prctl(PR_SET_CHILD_SUBREAPER, 1);
        init_ = fork();
        if (init_ < 0) return failed(126, "cannot start a process: %s");
        if (init_ == 0) {
            close(control[0]);
            run_init(launch_, control[1], output[1]);
        }
        close(control[1]);
        close(output[1]);
        output_ = output[0];
        control_ = control[0];
        return true;
    }

    bool failed(int code, const char* format) {
        exit_.code = code;
        exit_.error = Message(format, strerror(errno));
        return false;
    }

    void step() {
        pollfd fds[5] = {{control_, POLLIN, 0},
                         {output_, POLLIN, 0},
                         {watch_, POLLIN, 0},
                         {memory_.fd, POLLIN, 0},
                         {signals_, POLLIN, 0}};
        if (poll(fds, 5, timeout()) < 0 && errno != EINTR) sleep(1);
        if (fds[1].revents) pump();
        if (fds[0].revents) hear();
        if (init_ <= 0) return;
        if (fds[2].revents) look_for_stop();
        if (fds[3].revents) memory_.drain();
        if (memory_.due_until > uptime_ms() && memory_.kills() > 0) {
            memory_.due_until = 0;
            exit_.oom = true;
            send('k');
        }
        signalfd_siginfo info;
        if (fds[4].revents && read(signals_, &info, sizeof info) > 0 && !exit_.stopped) {
            exit_.shutdown = true;
            end_with_grace(launch_.grace_ms);
        }
        const long long now = uptime_ms();
        if (limit_at_ > 0 && now >= limit_at_ && !ended_ && kill_at_ == 0) {
            exit_.time_limit = true;
            end_with_grace(launch_.grace_ms);
        }
        if (disk_at_ > 0 && now >= disk_at_ && kill_at_ == 0 && !ended_) look_at_disk(now);
        if (kill_at_ > 0 && now >= kill_at_ && !ended_) {
            exit_.killed = true;
            send('k');
            if (now >= kill_at_ + kill_patience_ms) kill_all();
        }
    }

    int timeout() const {
        const long long now = uptime_ms();
        long long next = -1;
        const auto soonest = [&](long long at) {
            const long long wait = at > now ? at - now : 0;
            if (next < 0 || wait < next) next = wait;
        };
        if (memory_.due_until > now) soonest(now + 20);
        if (limit_at_ > 0 && kill_at_ == 0 && !ended_) soonest(limit_at_);
        if (disk_at_ > 0 && kill_at_ == 0 && !ended_) soonest(disk_at_);
        if (kill_at_ > 0 && !ended_) soonest(exit_.killed ? now + 500 : kill_at_);
        return next > 3'600'000 ? 3'600'000 : static_cast<int>(next);
    }

    // More than it asked for ends it, as with memory. A folder that takes long to look at is looked at less
    // often.
    void look_at_disk(long long began) {
        const long long used = disk_used(launch_.disk_folders);
        const long long now = uptime_ms(), took = now - began;
        disk_at_ = now + (took * 20 > disk_period_ms ? took * 20 : disk_period_ms);
        if (used <= launch_.disk_bytes) return;
        exit_.disk_full = true;
        exit_.disk_used = used;
        kill_at_ = now;
    }

    void send(char kind) {
        Packet packet;
        packet.kind = kind;
        ::send(control_, &packet, sizeof packet, MSG_NOSIGNAL | MSG_DONTWAIT);
    }

    void kill_all() {
        if (launch_.cgroup_kill) write_text(launch_.cgroup_kill, "1");
        kill(init_, SIGKILL);
    }

    void end_with_grace(long long grace_ms) {
        const long long at = uptime_ms() + (grace_ms > 0 ? grace_ms : 0);
        if (kill_at_ == 0 || at < kill_at_) kill_at_ = at > 0 ? at : 1;
        send('t');
    }

    void look_for_stop() {
        char buffer[4096];
        while (read(watch_, buffer, sizeof buffer) > 0) {
        }
        const long long grace = stop_request(launch_.dir);
        if (grace < 0 || ended_) return;
        if (!exit_.oom && !exit_.time_limit && !exit_.disk_full) exit_.stopped = true;
        end_with_grace(grace);
    }

    // What the init says; its end.
    void hear() {
        Packet packet;
        const ssize_t n = recv(control_, &packet, sizeof packet, MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (n > 0 && packet.kind == 's') {
            exit_.started_ms = now_ms();
            if (launch_.time_limit_ms > 0) limit_at_ = uptime_ms() + launch_.time_limit_ms;
            if (launch_.disk_bytes > 0 && launch_.disk_folders.count > 0)
                disk_at_ = uptime_ms() + disk_period_ms;
            write_started(launch_.dir, exit_.started_ms);
        } else if (n > 0 && packet.kind == 'x') {
            ended_ = true;
            take_status(packet.number);
        } else if (n > 0 && packet.kind == 'e') {
            ended_ = true;
            exit_.code = packet.number;
            exit_.error = packet.text;
        } else if (n <= 0) {
            int status = 0;
            while (waitpid(init_, &status, 0) < 0 && errno == EINTR) {
            }
            if (!ended_) take_status(WIFSIGNALED(status) ? status : SIGKILL);
            init_ = 0;
            // Without a pid namespace the init may have been killed alone.
            if (!launch_.namespaces) {
                signal_below(SIGKILL, false);
                while (waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
                }
            }
        }
    }

    void take_status(int status) {
        exit_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        exit_.code = exit_.signal ? 128 + exit_.signal : WEXITSTATUS(status);
    }

    bool pump() {
        static char buffer[64 << 10];
        const ssize_t n = read(output_, buffer, sizeof buffer);
        if (n > 0) log_.write(buffer, static_cast<std::size_t>(n));
        if (n == 0) {
            close(output_);  // nobody writes any more
            output_ = -1;
        }
        return n > 0;
    }
    void drain_output() {
        while (output_ >= 0 && pump()) {
        }
    }

    Launch& launch_;
    Log log_;
    Exit exit_;
    MemoryWatch memory_;
    pid_t init_ = 0;
    int output_ = -1, control_ = -1, watch_ = -1, signals_ = -1;
    bool ended_ = false;
    long long limit_at_ = 0, kill_at_ = 0, disk_at_ = 0;
};

void join_own_groups(const Launch& launch) {
    for (std::size_t i = 0; i < launch.shim_cgroups.count; ++i)
        write_text(Path("%s/cgroup.procs", launch.shim_cgroups.items[i]), "0");
    write_text("/proc/self/oom_score_adj", "-900");
}

int run(const char* dir) {
    Launch launch;
    if (const char* problem = load(dir, launch); problem || launch.args.count == 0) {
        answer('E', problem ? problem : "the launch file names no command");
        return 1;
    }
    // No child of the starter: its end, its signals and its terminal are none of ours.
    const pid_t child = fork();
    if (child != 0) return child < 0;
    setsid();
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    umask(077);
    if (chdir("/") != 0) {
    }
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < answer_fd; ++fd) dup2(nothing, fd);
    syscall(SYS_close_range, answer_fd + 1, ~0U, 0);
    fcntl(answer_fd, F_SETFD, FD_CLOEXEC);
    prctl(PR_SET_NAME, "crater-shim");
    prctl(PR_SET_DUMPABLE, 0);

    Message why;
    switch (take_lock(dir, why)) {
        case Lock::taken: break;
        case Lock::held:
        case Lock::used: answer('L', ""); return 0;
        case Lock::error: answer('E', why); return 1;
    }
    join_own_groups(launch);
    answer('R', "");
    return Supervisor(launch).run();
}

}  // namespace
}  // namespace shim

int main(int argc, char** argv) {
    if (argc != 2 || argv[1][0] != '/') {
        if (!shim::write_all(2, "usage: crater-shim FOLDER (started by crater-agent)\n", 52)) {
        }
        return 2;
    }
    return shim::run(argv[1]);
}
