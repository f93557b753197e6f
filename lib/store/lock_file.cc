#include "lock_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace crater::store {
namespace {

std::string owner_named_in(int fd) {
    char text[32] = {};
    const ssize_t got = ::pread(fd, text, sizeof text - 1, 0);
    std::string pid(text, got > 0 ? static_cast<std::size_t>(got) : 0);
    while (!pid.empty() && (pid.back() < '0' || pid.back() > '9')) pid.pop_back();
    return pid.empty() ? "another process" : "process " + pid;
}

}  // namespace

Result<LockFile> LockFile::take(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail(Code::unavailable, "cannot open the lock file " + path + ": " + std::strerror(errno));
    LockFile lock(fd);
    while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EINTR) continue;
        if (errno != EWOULDBLOCK)
            return fail(Code::unavailable, "cannot lock " + path + ": " + std::strerror(errno));
        return fail(Code::conflict,
                    "the store is in use by " + owner_named_in(fd) + " (lock file " + path + ")", {},
                    "stop it first, or choose another data folder");
    }
    // The pid is for that message only; the lock does not depend on it.
    const std::string pid = std::to_string(::getpid()) + "\n";
    if (::ftruncate(fd, 0) == 0) (void)!::pwrite(fd, pid.data(), pid.size(), 0);
    return lock;
}

LockFile::~LockFile() {
    if (fd_ >= 0) ::close(fd_);
}

}  // namespace crater::store
