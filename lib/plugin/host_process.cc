#include "host_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace crater::plugin {
namespace {

Error system_error(const std::string& what) {
    return {Code::unavailable, what + ": " + std::strerror(errno), {}, {}};
}

bool readable_fd(int fd, std::int64_t wait_us) {
    pollfd poll{fd, POLLIN, 0};
    const timespec wait{wait_us / 1'000'000, wait_us % 1'000'000 * 1000};
    int ready = 0;
    while ((ready = ::ppoll(&poll, 1, &wait, nullptr)) < 0 && errno == EINTR) {
    }
    return ready > 0;
}

// A duplicate above the numbers that the child wants, so that none is overwritten before it is used.
Fd above_well_known(const Fd& fd) { return Fd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 16)); }

}  // namespace

void Fd::reset() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
}

Result<std::unique_ptr<HostProcess>> HostProcess::start(const Command& command) {
    std::unique_ptr<HostProcess> process(new HostProcess);
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return fail(system_error("socketpair"));
    process->socket_ = Fd(ends[0]);
    const Fd its_end(ends[1]);
    CRATER_TRY_VOID(process->make_memory());
    CRATER_TRY_VOID(process->spawn(command, its_end));
    return process;
}

Result<void> HostProcess::make_memory() {
    memory_fd_ = Fd(::memfd_create("crater-plugin", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!memory_fd_) return fail(system_error("memfd_create"));
    if (::ftruncate(memory_fd_.get(), shared_bytes) != 0) return fail(system_error("ftruncate"));
    // Whoever could cut it short could end the scheduler with it.
    if (::fcntl(memory_fd_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return fail(system_error("sealing the shared memory"));
    void* memory = ::mmap(nullptr, shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd_.get(), 0);
    if (memory == MAP_FAILED) return fail(system_error("mmap"));
    memory_ = static_cast<std::byte*>(memory);
    return {};
}

Result<void> HostProcess::spawn(const Command& command, const Fd& its_end) {
    const Fd socket = above_well_known(its_end), memory = above_well_known(memory_fd_);
    if (!socket || !memory) return fail(system_error("fcntl"));
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    for (int fd = 0; fd < 2; ++fd) ::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
    ::posix_spawn_file_actions_adddup2(&actions, socket.get(), socket_fd);
    ::posix_spawn_file_actions_adddup2(&actions, memory.get(), memory_fd);
    ::posix_spawn_file_actions_addclosefrom_np(&actions, memory_fd + 1);
    // A group of its own: a Ctrl-C meant for the scheduler is not meant for it, and what it starts ends with
    // it.
    sigset_t none, all;
    ::sigemptyset(&none), ::sigfillset(&all);
    ::posix_spawnattr_setflags(&attributes,
                               POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    char* const argv[] = {const_cast<char*>("crater-plugin-host"), const_cast<char*>(command.name.c_str()),
                          const_cast<char*>(command.file.c_str()), const_cast<char*>(command.config.c_str()),
                          nullptr};
    char* const no_environment[] = {nullptr};
    const int error = ::posix_spawn(&pid_, command.host.c_str(), &actions, &attributes, argv, no_environment);
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    if (error == 0) return {};
    pid_ = 0;
    return fail(Code::unavailable, "cannot run " + command.host + ": " + std::strerror(error), "plugin_host");
}

HostProcess::~HostProcess() {
    if (pid_ > 0) end();
    if (memory_) ::munmap(memory_, shared_bytes);
}

bool HostProcess::readable(std::int64_t wait_us) const { return readable_fd(socket_.get(), wait_us); }

HostProcess::Got HostProcess::receive(void* packet, std::size_t size, std::int64_t wait_us) {
    if (!socket_) return Got::end;
    if (wait_us > 0 && !readable(wait_us)) return Got::nothing;
    const ssize_t got = ::recv(socket_.get(), packet, size, MSG_DONTWAIT | MSG_TRUNC);
    if (got == static_cast<ssize_t>(size)) return Got::packet;
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Got::nothing;
    return Got::end;  // closed, or a packet that the host never sends
}

bool HostProcess::send(const Ask& ask) {
    return socket_ && ::send(socket_.get(), &ask, sizeof ask, MSG_NOSIGNAL | MSG_DONTWAIT) ==
                          static_cast<ssize_t>(sizeof ask);
}

// A process that is dying already keeps its status when it is killed, so nothing needs to be waited for.
std::string HostProcess::end() {
    char byte;
    const bool closed = socket_ && ::recv(socket_.get(), &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
    socket_.reset();
    reap();
    if (!reaped_) return "does not end";
    if (WIFEXITED(status_)) return "ended itself with status " + std::to_string(WEXITSTATUS(status_));
    const int signal = WTERMSIG(status_);
    if (signal == SIGKILL)
        return closed ? "closed its connection, or was killed" : "was ended by the scheduler";
    return std::string("crashed: ") + ::strsignal(signal) + " (signal " + std::to_string(signal) + ")";
}

void HostProcess::retire() { socket_.reset(); }

bool HostProcess::gone() {
    siginfo_t info{};
    if (reaped_) return true;
    if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid != pid_)
        return false;
    ::kill(-pid_, SIGKILL);  // what it started and left behind, while its number is still its own
    while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    return reaped_ = true;
}

bool HostProcess::wait_gone(std::int64_t wait_us) {
    const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));  // glibc 2.36 lacks it for C++
    if (!gone() && process) readable_fd(process.get(), wait_us);
    return gone();
}

// Gone at once, unless the kernel holds it: then it is left to itself.
void HostProcess::reap() {
    if (gone()) return;
    ::kill(-pid_, SIGKILL);
    wait_gone(1'000'000);
}

}  // namespace crater::plugin
