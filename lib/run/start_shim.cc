#include "start_shim.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>

extern char** environ;

namespace crater::run {

Result<Fd> spawn_shim(const std::string& program, const std::string& folder) {
    int pipe_ends[2];
    if (::pipe2(pipe_ends, O_CLOEXEC) != 0)
        return fail(Code::internal, std::string("pipe: ") + std::strerror(errno));
    Fd reader(pipe_ends[0]), writer(pipe_ends[1]);
    ::fcntl(reader.get(), F_SETFL, O_NONBLOCK);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    for (int fd = 0; fd < 3; ++fd) ::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
    ::posix_spawn_file_actions_adddup2(&actions, writer.get(), 3);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    char* const argv[] = {const_cast<char*>("crater-shim"), const_cast<char*>(folder.c_str()), nullptr};
    char* const no_environment[] = {nullptr};
    pid_t child = 0;
    const int error = ::posix_spawn(&child, program.c_str(), &actions, &attributes, argv, no_environment);
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    if (error != 0) return fail(Code::internal, "cannot run " + program + ": " + std::strerror(error));
    // The first process only forks the one that stays.
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    return reader;
}

ShimLock look_at_lock(const std::string& folder) {
    ShimLock lock;
    const Fd fd(::open((folder + "/shim.lock").c_str(), O_RDWR | O_CLOEXEC));
    if (!fd) return lock;
    struct flock range {};
    range.l_type = F_WRLCK;
    range.l_whence = SEEK_SET;
    lock.held = ::fcntl(fd.get(), F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
    std::istringstream in(read_text(folder + "/shim.lock").value_or(""));
    std::string start;
    lock.written = static_cast<bool>(in >> lock.pid >> start >> lock.boot);
    return lock;
}

}  // namespace crater::run
