#include "util.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace shim {

void print(char* out, std::size_t size, const char* format, va_list list) {
    if (vsnprintf(out, size, format, list) < 0) out[0] = 0;
}

void* grow(void* items, std::size_t bytes) {
    void* more = realloc(items, bytes);
    if (!more) abort();
    return more;
}

char* read_file(const char* path, std::size_t* size) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return nullptr;
    std::size_t used = 0, room = 4096;
    char* data = static_cast<char*>(grow(nullptr, room));
    for (;;) {
        if (used + 1 >= room) data = static_cast<char*>(grow(data, room *= 2));
        const ssize_t got = read(fd, data + used, room - used - 1);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        used += static_cast<std::size_t>(got);
    }
    close(fd);
    data[used] = 0;
    if (size) *size = used;
    return data;
}

bool write_all(int fd, const void* data, std::size_t size) {
    const char* at = static_cast<const char*>(data);
    while (size > 0) {
        const ssize_t done = write(fd, at, size);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        at += done;
        size -= static_cast<std::size_t>(done);
    }
    return true;
}

bool write_text(const char* path, const char* text) {
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const bool done = write_all(fd, text, strlen(text));
    close(fd);
    return done;
}

// No O_TRUNC: a file that reserved its space keeps it until the new text is in place.
bool write_file(const char* folder, const char* name, const char* text, bool durable) {
    const std::size_t size = strlen(text);
    const Path temp("%s/%s.new", folder, name), final_name("%s/%s", folder, name);
    const int fd = open(temp, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return false;
    const bool written = write_all(fd, text, size) && ftruncate(fd, static_cast<off_t>(size)) == 0 &&
                         (!durable || fsync(fd) == 0);
    close(fd);
    if (!written || rename(temp, final_name) != 0) return false;
    const int dir = !durable ? -1 : open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir >= 0) {
        fsync(dir);
        close(dir);
    }
    return true;
}

long long number(const char* text) { return text ? strtoll(text, nullptr, 10) : 0; }

long long now_ms() {
    timespec t{};
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * 1000LL + t.tv_nsec / 1'000'000;
}

long long uptime_ms() {
    timespec t{};
    clock_gettime(CLOCK_BOOTTIME, &t);
    return t.tv_sec * 1000LL + t.tv_nsec / 1'000'000;
}

bool starts_with(const char* text, const char* prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

}  // namespace shim
