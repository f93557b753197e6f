#include "root.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace shim {
namespace {

constexpr int shadow_entries_max = 1024;
constexpr const char* small_tmpfs = "mode=0755,size=4m,nr_inodes=16k";

struct Builder {
    const Launch& launch;
    Message& why;
    List<dev_t> own_devices;         // tmpfs made here: folders may be made in them
    List<const char*> own_prefixes;  // binds marked `o`

    bool failed(const char* what, const char* path) {
        why = Message("%s %s: %s", what, path, strerror(errno));
        return false;
    }

    bool owns(const char* path) const {
        struct stat st {};
        if (stat(path, &st) != 0) return false;
        for (std::size_t i = 0; i < own_devices.count; ++i)
            if (own_devices.items[i] == st.st_dev) return true;
        for (std::size_t i = 0; i < own_prefixes.count; ++i)
            if (starts_with(path, own_prefixes.items[i])) return true;
        return false;
    }

    bool mount_tmpfs(const char* path, const char* options) {
        if (mount("crater", path, "tmpfs", MS_NOSUID | MS_NODEV, options) != 0)
            return failed("cannot mount a tmpfs on", path);
        struct stat st {};
        if (stat(path, &st) == 0) own_devices.add(st.st_dev);
        return true;
    }

    // Puts everything below the folder `from` into the empty folder `to`.
    bool fill(int from, const char* to, const char* skip) {
        const int fd = openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR* dir = fd < 0 ? nullptr : fdopendir(fd);
        if (!dir) return failed("cannot list", to);
        int entries = 0;
        while (const dirent* entry = readdir(dir)) {
            const char* name = entry->d_name;
            if (!strcmp(name, ".") || !strcmp(name, "..") || (skip && !strcmp(name, skip))) continue;
            if (++entries > shadow_entries_max) {
                errno = E2BIG;
                closedir(dir);
                return failed("cannot put a mount into", to);
            }
            const Path source("/proc/self/fd/%d/%s", from, name), target("%s/%s", to, name);
            struct stat st {};
            if (lstat(source, &st) != 0) continue;
            if (S_ISLNK(st.st_mode)) {
                Path link;
                const ssize_t n = readlink(source, link.data, sizeof link.data - 1);
                if (n > 0) {
                    link.data[n] = 0;
                    if (symlink(link, target) != 0) continue;
                }
                continue;
            }
            if (!make_node(target, S_ISDIR(st.st_mode))) continue;
            mount(source, target, nullptr, MS_BIND | MS_REC, nullptr);  // what cannot be bound is not there
        }
        closedir(dir);
        return true;
    }

    static bool make_node(const char* path, bool folder) {
        if (folder) return mkdir(path, 0755) == 0;
        const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (fd < 0) return false;
        close(fd);
        return true;
    }

    // Makes room for new entries in a folder of the machine without touching it: a tmpfs with the same
    // content.
    bool shadow(const char* path) {
        struct stat st {};
        const int from = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (from < 0 || fstat(from, &st) != 0) return failed("cannot open", path);
        const bool done = mount_tmpfs(path, small_tmpfs) && fill(from, path, nullptr);
        if (done && (chmod(path, st.st_mode & 07777) != 0 || chown(path, st.st_uid, st.st_gid) != 0)) {
            close(from);
            return failed("cannot set the owner of", path);
        }
        close(from);
        return done;
    }

    bool traversable(const struct stat& st) const {
        if (launch.root_task) return true;
        if (st.st_uid == launch.uid) return st.st_mode & S_IXUSR;
        if (st.st_gid == launch.gid) return st.st_mode & S_IXGRP;
        return st.st_mode & S_IXOTH;
    }

    // A place to mount on. A folder that the task user could not pass is emptied on the way: it saw nothing
    // of it before.
    bool make_target(const char* path, bool folder, Path& target) {
        target = Path("%s", launch.root);
        for (const char* at = path; *at;) {
            while (*at == '/') ++at;
            const std::size_t n = strcspn(at, "/");
            if (n == 0) break;
            const Path parent("%s", target.data);
            target = Path("%s/%.*s", parent.data, static_cast<int>(n), at);
            at += n;
            const bool last = at[strspn(at, "/")] == 0;
            struct stat st {};
            if (stat(target, &st) == 0) {
                if (!last && S_ISDIR(st.st_mode) && !traversable(st) && !mount_tmpfs(target, small_tmpfs))
                    return false;
                continue;
            }
            if (!owns(parent) && !shadow(parent)) return false;
            if (!make_node(target, !last || folder) && errno != EEXIST)
                return failed("cannot make the mount point", path);
        }
        return true;
    }

    static bool read_only(const char* target) {
        struct {
            unsigned long long set, clear, propagation, userns;
        } attributes{1 /* MOUNT_ATTR_RDONLY */, 0, 0, 0};
        if (syscall(442 /* mount_setattr */, AT_FDCWD, target, AT_RECURSIVE, &attributes,
                    sizeof attributes) == 0)
            return true;
        return mount(nullptr, target, nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) == 0;
    }

    bool apply(const Mount& m) {
        Path target;
        if (m.kind == Mount::bind) {
            if (m.fd < 0) return true;  // optional and absent
            struct stat st {};
            if (fstat(m.fd, &st) != 0) return failed("cannot see", m.source);
            if (!make_target(m.target, S_ISDIR(st.st_mode), target)) return false;
            if (mount(Path("/proc/self/fd/%d", m.fd), target, nullptr, MS_BIND | MS_REC, nullptr) != 0)
                return failed("cannot mount", m.source);
            if (m.has('r') && !read_only(target)) return failed("cannot make read only", m.source);
            if (m.has('o')) own_prefixes.add(strdup(target));
            return true;
        }
        target = Path("%s%s", launch.root, m.target);
        struct stat st {};
        if (stat(target, &st) != 0) return true;  // nothing to hide
        if (!make_target(m.target, true, target)) return false;
        return mount_tmpfs(target, m.kind == Mount::hide ? small_tmpfs : "mode=1777");
    }

    bool build() {
        if (mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0)
            return failed("cannot detach", "/");
        if (!mount_tmpfs(launch.root, small_tmpfs)) return false;
        // Binding a folder of the machine that this root lies in must not take the root along.
        if (mount(nullptr, launch.root, nullptr, MS_UNBINDABLE, nullptr) != 0)
            return failed("cannot keep apart", launch.root);
        const int machine = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (machine < 0 || !fill(machine, launch.root, "proc")) return failed("cannot build", launch.root);
        close(machine);
        const Path proc("%s/proc", launch.root);
        if (mkdir(proc, 0755) != 0 ||
            mount("proc", proc, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0)
            return failed("cannot mount", "/proc");
        for (std::size_t i = 0; i < launch.mounts.count; ++i)
            if (!apply(launch.mounts.items[i])) return false;
        if (chdir(launch.root) != 0 || syscall(SYS_pivot_root, ".", ".") != 0 ||
            umount2(".", MNT_DETACH) != 0 || chdir("/") != 0)
            return failed("cannot enter", launch.root);
        return true;
    }
};

}  // namespace

bool open_sources(Launch& launch, Message& why) {
    setgroups(0, nullptr);
    for (std::size_t i = 0; i < launch.mounts.count; ++i) {
        Mount& m = launch.mounts.items[i];
        if (m.kind != Mount::bind) continue;
        const bool as_user = m.has('u') && !launch.root_task;
        if (as_user) {
            setfsgid(launch.gid);
            setfsuid(launch.uid);
        }
        m.fd = open(m.source, O_PATH | O_CLOEXEC);
        const int error = errno;
        if (as_user) {
            setfsuid(0);
            setfsgid(0);
        }
        if (m.fd < 0 && !m.has('?')) {
            why = Message("mount source %s: %s", m.source, strerror(error));
            return false;
        }
    }
    return true;
}

bool enter_root(const Launch& launch, Message& why) { return Builder{launch, why, {}, {}}.build(); }

}  // namespace shim
