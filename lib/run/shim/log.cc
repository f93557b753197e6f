#include "log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace shim {

Log::Log(const char* path, const char* dir, long long bytes_max)
    : path_(path), dir_(dir), bytes_max_(bytes_max) {
    open_next();
}

void Log::open_next() {
    const Path next("%s.next", path_), old("%s.1", path_), index("%s/log.index", dir_),
        index_new("%s/log.index.new", dir_);
    const int fd = open(next, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    struct stat st {};
    if (fd < 0 || fstat(fd, &st) != 0) return;
    const long long base = base_ + size_;
    Message text("%llu %lld\n", static_cast<unsigned long long>(st.st_ino), base);
    if (fd_ >= 0)
        text = Message("%llu %lld\n%llu %lld\n", static_cast<unsigned long long>(st.st_ino), base, inode_,
                       base_);
    const int list = open(index_new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const bool listed = list >= 0 && write_all(list, text.data, strlen(text));
    if (list >= 0) close(list);
    if (!listed || rename(index_new, index) != 0) {
        close(fd);
        return;
    }
    if (fd_ >= 0) {
        rename(path_, old);
        close(fd_);
    }
    rename(next, path_);
    fd_ = fd;
    inode_ = st.st_ino;
    base_ = base;
    size_ = 0;
}

void Log::put(const char* data, std::size_t size) {
    while (size > 0) {
        if (size_ >= bytes_max_ || fd_ < 0) open_next();
        const long long room = bytes_max_ - size_;
        const std::size_t part =
            room < static_cast<long long>(size) ? static_cast<std::size_t>(room > 0 ? room : 0) : size;
        const ssize_t done = fd_ >= 0 && part > 0 ? ::write(fd_, data, part) : -1;
        if (done < 0 && errno == EINTR && fd_ >= 0 && part > 0) continue;
        if (done <= 0) {
            lost_ += static_cast<long long>(size);
            return;
        }
        size_ += done;
        data += done;
        size -= static_cast<std::size_t>(done);
    }
}

void Log::write(const char* data, std::size_t size) {
    if (lost_ > 0) {
        const Message note("\n[crater: %lld bytes of output were lost, the disk was full]\n", lost_);
        const long long before = lost_;
        lost_ = 0;
        put(note, strlen(note));
        if (lost_ > 0) lost_ = before;
    }
    put(data, size);
}

}  // namespace shim
