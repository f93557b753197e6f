#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "crater/daemon/daemon.h"

namespace crater::daemon {

Result<std::string> read_file(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail(errno == ENOENT ? Code::not_found : Code::unavailable,
                    path + ": " + std::strerror(errno));
    std::string content;
    char piece[1 << 16];
    ssize_t got;
    while ((got = ::read(fd, piece, sizeof piece)) > 0) content.append(piece, static_cast<std::size_t>(got));
    const int read_error = got < 0 ? errno : 0;
    ::close(fd);
    if (read_error) return fail(Code::unavailable, path + ": " + std::strerror(read_error));
    return content;
}

Result<std::string> read_secret(const std::string& path) {
    CRATER_TRY(content, read_file(path));
    while (!content.empty() && (content.back() == '\n' || content.back() == '\r' || content.back() == ' '))
        content.pop_back();
    if (content.empty()) return fail(Code::invalid, path + " is empty");
    return content;
}

Result<void> write_file(const std::string& path, const std::string& content, unsigned mode) {
    const std::string temporary = path + ".new";
    const auto failed = [&](int error) {
        ::unlink(temporary.c_str());
        return fail(Code::unavailable, path + ": " + std::strerror(error));
    };
    const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    if (fd < 0) return failed(errno);
    std::size_t done = 0;
    while (done < content.size()) {
        const ssize_t wrote = ::write(fd, content.data() + done, content.size() - done);
        if (wrote < 0) {
            const int error = errno;
            ::close(fd);
            return failed(error);
        }
        done += static_cast<std::size_t>(wrote);
    }
    if (::fsync(fd) != 0 || ::close(fd) != 0 || ::rename(temporary.c_str(), path.c_str()) != 0)
        return failed(errno);
    return {};
}

}  // namespace crater::daemon
