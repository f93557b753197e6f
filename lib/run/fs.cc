#include "fs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

namespace crater::run {
namespace {

tl::unexpected<Error> system_failure(std::string_view what, const std::string& path) {
    return fail(Code::internal, std::string(what) + " " + path + ": " + std::strerror(errno));
}

bool write_bytes(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t done = ::write(fd, text.data(), text.size());
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(done));
    }
    return true;
}

Result<void> replace(const std::string& folder, const std::string& name, std::string_view text,
                     bool durable) {
    const std::string path = folder + "/" + name, temp = path + ".new";
    {
        const Fd fd(::open(temp.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
        if (!fd) return system_failure("cannot write", temp);
        if (!write_bytes(fd.get(), text) || (durable && ::fsync(fd.get()) != 0))
            return system_failure("cannot write", temp);
    }
    if (::rename(temp.c_str(), path.c_str()) != 0) return system_failure("cannot write", path);
    if (!durable) return {};
    const Fd dir(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!dir || ::fsync(dir.get()) != 0) return system_failure("cannot sync", folder);
    return {};
}

}  // namespace

void Fd::reset() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
}

std::optional<std::string> read_text(const std::string& path, std::size_t bytes_max) {
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return std::nullopt;
    std::string text;
    char buffer[8192];
    while (text.size() < bytes_max) {
        const ssize_t got = ::read(fd.get(), buffer, std::min(sizeof buffer, bytes_max - text.size()));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return std::nullopt;
        if (got == 0) break;
        text.append(buffer, static_cast<std::size_t>(got));
    }
    return text;
}

Result<void> write_whole(const std::string& folder, const std::string& name, std::string_view text) {
    return replace(folder, name, text, false);
}
Result<void> write_durable(const std::string& folder, const std::string& name, std::string_view text) {
    return replace(folder, name, text, true);
}

Result<void> write_control(const std::string& path, std::string_view text) {
    const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!fd) return system_failure("cannot open", path);
    if (::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        return system_failure("cannot write \"" + std::string(text) + "\" to", path);
    return {};
}

Result<void> make_folder(const std::string& path, mode_t mode, uid_t uid, gid_t gid) {
    for (std::size_t at = 1; at != std::string::npos && at < path.size();) {
        at = path.find('/', at + 1);
        const std::string part = path.substr(0, at);
        if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST)
            return system_failure("cannot make the folder", part);
    }
    const Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat st {};
    if (!fd || ::fstat(fd.get(), &st) != 0) return system_failure("cannot open the folder", path);
    const bool other = (uid != static_cast<uid_t>(-1) && st.st_uid != uid) ||
                       (gid != static_cast<gid_t>(-1) && st.st_gid != gid);
    if (other && ::fchown(fd.get(), uid, gid) != 0) return system_failure("cannot give away", path);
    if ((st.st_mode & 07777) != mode && ::fchmod(fd.get(), mode) != 0)
        return system_failure("cannot set the mode of", path);
    return {};
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

void remove_tree(const std::string& path) {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
}

std::vector<std::string> list_folder(const std::string& path) {
    std::vector<std::string> names;
    std::error_code error;
    for (auto it = std::filesystem::directory_iterator(path, error);
         !error && it != std::filesystem::directory_iterator(); it.increment(error))
        names.push_back(it->path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

std::optional<Record> parse_record(std::string_view text) {
    Record record;
    while (!text.empty()) {
        const auto line_end = text.find('\n');
        if (line_end == std::string_view::npos) return std::nullopt;
        const auto line = text.substr(0, line_end);
        text.remove_prefix(line_end + 1);
        if (line == "end=1") return record;
        const auto equals = line.find('=');
        if (equals == std::string_view::npos) return std::nullopt;
        record[std::string(line.substr(0, equals))] = line.substr(equals + 1);
    }
    return std::nullopt;
}

std::string format_record(const Record& record) {
    std::string text;
    for (const auto& [key, value] : record) {
        text += key + "=";
        for (const char c : value) text += c == '\n' || c == '\0' ? ' ' : c;
        text += '\n';
    }
    return text + "end=1\n";
}

std::int64_t number_in(const Record& record, const std::string& key, std::int64_t otherwise) {
    const auto it = record.find(key);
    if (it == record.end()) return otherwise;
    std::int64_t value = otherwise;
    std::from_chars(it->second.data(), it->second.data() + it->second.size(), value);
    return value;
}

std::string format_set(const std::vector<std::int64_t>& numbers) {
    auto sorted = numbers;
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    std::string text;
    for (std::size_t i = 0; i < sorted.size();) {
        std::size_t last = i;
        while (last + 1 < sorted.size() && sorted[last + 1] == sorted[last] + 1) ++last;
        if (!text.empty()) text += ',';
        text += std::to_string(sorted[i]);
        if (last > i) text += '-' + std::to_string(sorted[last]);
        i = last + 1;
    }
    return text;
}

std::vector<std::int64_t> parse_set(std::string_view text) {
    std::vector<std::int64_t> numbers;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at < end) {
        std::int64_t first = 0;
        auto [rest, error] = std::from_chars(at, end, first);
        if (error != std::errc()) break;
        std::int64_t last = first;
        if (rest < end && *rest == '-') {
            const auto second = std::from_chars(rest + 1, end, last);
            if (second.ec != std::errc()) break;
            rest = second.ptr;
        }
        for (std::int64_t n = first; n <= last && numbers.size() < 65536; ++n) numbers.push_back(n);
        if (rest >= end || *rest != ',') break;
        at = rest + 1;
    }
    return numbers;
}

}  // namespace crater::run
