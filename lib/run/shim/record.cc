#include "record.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace shim {
namespace {

// Field 22 of /proc/self/stat, behind the name in brackets.
unsigned long long start_time() {
    const char* text = read_file("/proc/self/stat", nullptr);
    const char* at = text ? strrchr(text, ')') : nullptr;
    for (int field = 2; at && field < 22; ++field) at = strchr(at + 1, ' ');
    return at ? strtoull(at + 1, nullptr, 10) : 0;
}

}  // namespace

Lock take_lock(const char* dir, Message& why) {
    const int fd = open(Path("%s/shim.lock", dir), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct flock range {};
    range.l_type = F_WRLCK;
    range.l_whence = SEEK_SET;
    if (fd < 0) {
        why = Message("shim.lock: %s", strerror(errno));
        return Lock::error;
    }
    if (fcntl(fd, F_OFD_SETLK, &range) != 0) {
        if (errno == EAGAIN || errno == EACCES) return Lock::held;
        why = Message("shim.lock: %s", strerror(errno));
        return Lock::error;
    }
    struct stat st {};
    if (fstat(fd, &st) != 0 || st.st_size > 0 || access(Path("%s/exit", dir), F_OK) == 0) return Lock::used;
    const char* boot = read_file("/proc/sys/kernel/random/boot_id", nullptr);
    const Message text("%d %llu %.36s\n", getpid(), start_time(), boot ? boot : "-");
    if (!write_all(fd, text.data, strlen(text))) {
        why = Message("shim.lock: %s", strerror(errno));
        return Lock::error;
    }
    return Lock::taken;  // the descriptor stays open as long as we live
}

void reserve_exit(const char* dir) {
    const int fd = open(Path("%s/exit.new", dir), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return;
    if (posix_fallocate(fd, 0, 2048) != 0) {
    }  // best effort
    close(fd);
}

void write_started(const char* dir, long long ms) {
    const Message text("at=%lld\nend=1\n", ms);
    write_file(dir, "started", text, false);
}

void write_exit(const char* dir, const Exit& exit) {
    char error[sizeof exit.error.data];
    std::size_t n = 0;
    for (const char* at = exit.error; *at; ++at) error[n++] = *at == '\n' ? ' ' : *at;
    error[n] = 0;
    const Text<2048> text(
        "code=%d\nsignal=%d\noom=%d\ntime_limit=%d\nshutdown=%d\nstopped=%d\nkilled=%d\nstarted=%lld\nended=%"
        "lld\n"
        "disk_full=%d\ndisk_used=%lld\n"
        "error=%s\nend=1\n",
        exit.code, exit.signal, exit.oom, exit.time_limit, exit.shutdown, exit.stopped, exit.killed,
        exit.started_ms, exit.ended_ms, exit.disk_full, exit.disk_used, error);
    // Nobody else knows how the task ended, so a full disk is waited for.
    while (!write_file(dir, "exit", text, true) && errno != ENOENT) sleep(1);
}

long long stop_request(const char* dir) {
    char* text = read_file(Path("%s/stop", dir), nullptr);
    long long grace = -1;
    if (text && starts_with(text, "grace_ms=") && strstr(text, "\nend=1\n")) grace = number(text + 9);
    free(text);
    return grace;
}

}  // namespace shim
