#include "supervisor.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <iostream>

#include "crater/base/clock.h"
#include "crater/daemon/daemon.h"
#include "crater/wire/http.h"

namespace crater::cli {
namespace {

constexpr int failures_max = 5;  // in a row: then it will not get better by itself
constexpr std::int64_t second_us = 1'000'000;
// longer than the usual grace period of a large model's task
constexpr std::int64_t stop_grace_us = 330 * second_us;
constexpr off_t log_bytes_max = 64 << 20;

std::int64_t now_us() { return system_clock()->ticks_us(); }

sigset_t handled_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (int signal : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) sigaddset(&set, signal);
    return set;
}

// The next signal, or 0 after `wait_us`.
int next_signal(std::int64_t wait_us) {
    const sigset_t set = handled_signals();
    const timespec wait{wait_us / second_us, wait_us % second_us * 1000};
    const int signal = sigtimedwait(&set, nullptr, &wait);
    return signal < 0 ? 0 : signal;
}

}  // namespace

Supervisor::Supervisor(std::string logs) : logs_(std::move(logs)) {
    const sigset_t set = handled_signals();
    sigprocmask(SIG_BLOCK, &set, nullptr);
    signal(SIGPIPE, SIG_IGN);
}

Supervisor::~Supervisor() { stop_all(); }

Result<void> Supervisor::spawn(Child& child) {
    const std::string log = logs_ + "/" + child.name + ".log";
    struct stat size {};
    if (::stat(log.c_str(), &size) == 0 && size.st_size > log_bytes_max)
        ::rename(log.c_str(), (log + ".1").c_str());
    const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (out < 0) return fail(Code::unavailable, log + ": " + std::strerror(errno));
    std::vector<char*> arguments;
    for (std::string& word : child.command) arguments.push_back(word.data());
    arguments.push_back(nullptr);

    const pid_t parent = ::getpid();
    child.pid = ::fork();
    if (child.pid == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, nullptr);
        // Should this process be killed outright, its children stop as if told to. Ctrl-C at the terminal
        // reaches only this process, which stops them in order.
        ::setpgid(0, parent);
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
        signal(SIGINT, SIG_IGN);
        if (::getppid() != parent) _exit(1);
        ::dup2(out, 1);
        ::dup2(out, 2);
        ::execv(arguments[0], arguments.data());
        ::dprintf(2, "%s: %s\n", arguments[0], std::strerror(errno));
        _exit(127);
    }
    ::close(out);
    if (child.pid < 0) return fail(Code::unavailable, child.name + ": " + std::strerror(errno));
    child.started_us = now_us();
    child.restart_at_us = 0;
    return {};
}

Result<void> Supervisor::start(const std::string& name) {
    ::setpgid(0, 0);
    for (Child& child : children_)
        if (child.name == name) return spawn(child);
    return fail(Code::internal, "there is no child " + name);
}

Result<void> Supervisor::start_rest() {
    for (Child& child : children_)
        if (child.pid == 0) CRATER_TRY_VOID(spawn(child));
    return {};
}

Result<void> Supervisor::wait_until_serving(const std::string& url, Millis deadline) {
    wire::HttpClient client;
    const std::int64_t end = now_us() + deadline.count() * 1000;
    while (now_us() < end) {
        auto answer = client.send({.url = url, .headers = {}, .body = {}, .timeout = Millis(2'000)});
        if (answer && answer->status == 200) return {};
        if (const int signal = next_signal(50'000); signal == SIGTERM || signal == SIGINT)
            return fail(Code::cancelled, "stopped before it was up");
        for (Child& child : children_) {
            int status = 0;
            if (child.pid > 0 && ::waitpid(child.pid, &status, WNOHANG) == child.pid) {
                child.pid = 0;
                return fail(Code::unavailable, "the " + child.name + " could not start: " + last_words(child),
                            "", "crater doctor says what is amiss");
            }
        }
    }
    return fail(Code::timeout, url + " did not answer within " + format(deadline), "", "see " + logs_);
}

std::string Supervisor::last_words(const Child& child) const {
    auto log = daemon::read_file(logs_ + "/" + child.name + ".log");
    if (!log) return "no log";
    while (log->ends_with('\n')) log->pop_back();
    return log->substr(log->rfind('\n') == std::string::npos ? 0 : log->rfind('\n') + 1);
}

void Supervisor::reap() {
    for (Child& child : children_) {
        int status = 0;
        if (child.pid <= 0 || ::waitpid(child.pid, &status, WNOHANG) != child.pid) continue;
        const std::int64_t now = now_us();
        child.failures = now - child.started_us > 60 * second_us ? 1 : child.failures + 1;
        child.pid = 0;
        child.restart_at_us =
            now + std::min<std::int64_t>(30, std::int64_t{1} << child.failures) * second_us / 4;
        std::cerr << "crater: the " << child.name << " ended "
                  << (WIFSIGNALED(status) ? "by signal " + std::to_string(WTERMSIG(status))
                                          : "with status " + std::to_string(WEXITSTATUS(status)))
                  << (give_up(child) ? "; giving up: " + last_words(child) : "; it is started again")
                  << std::endl;
    }
}

bool Supervisor::give_up(const Child& child) const { return child.failures >= failures_max; }

int Supervisor::run() {
    const bool on_terminal = ::isatty(STDIN_FILENO) == 1;
    for (;;) {
        const int signal = next_signal(250'000);
        // On a terminal SIGHUP says that it is gone; a daemon is asked to read its configuration again.
        if (signal == SIGHUP && !on_terminal) {
            for (const Child& child : children_)
                if (child.pid > 0) ::kill(child.pid, SIGHUP);
        } else if (signal == SIGTERM || signal == SIGINT || signal == SIGHUP) {
            std::cerr << "crater: stopping" << std::endl;
            stop_all();
            return 0;
        }
        reap();
        for (Child& child : children_) {
            if (child.pid != 0) continue;
            if (give_up(child)) {
                stop_all();
                return 1;
            }
            if (now_us() >= child.restart_at_us)
                if (auto started = spawn(child); !started)
                    std::cerr << "crater: " << started.error().text() << std::endl;
        }
    }
}

// Agents first, so that their tasks end and are reported; then the scheduler. A second signal ends all at
// once.
void Supervisor::stop_all() {
    for (int order = 1; order <= 2; ++order) {
        for (Child& child : children_)
            if (child.pid > 0 && child.stop_order == order) ::kill(child.pid, SIGTERM);
        const std::int64_t end = now_us() + stop_grace_us;
        bool forced = false;
        for (;;) {
            bool any = false;
            for (Child& child : children_) {
                if (child.pid <= 0 || child.stop_order != order) continue;
                int status = 0;
                if (::waitpid(child.pid, &status, WNOHANG) == child.pid)
                    child.pid = 0;
                else
                    any = true;
            }
            if (!any) break;
            const int signal = next_signal(100'000);
            if ((signal == SIGTERM || signal == SIGINT || now_us() > end) && !forced) {
                forced = true;
                for (Child& child : children_)
                    if (child.pid > 0) ::kill(child.pid, SIGKILL);
            }
        }
    }
}

}  // namespace crater::cli
