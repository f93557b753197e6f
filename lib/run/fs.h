// Files of the run library: whole or not there. Failures are Code::internal with the path and the system's
// word.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crater/base/error.h"

namespace crater::run {

class Fd {
  public:
    Fd() = default;
    explicit Fd(int fd) : fd_(fd) {}
    Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Fd& operator=(Fd&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Fd() { reset(); }
    void reset();
    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }

  private:
    int fd_ = -1;
};

// At most `bytes_max` bytes; nothing when it cannot be read.
std::optional<std::string> read_text(const std::string& path, std::size_t bytes_max = 1 << 20);
// Temp file and rename, mode 0600: whole for every reader and after a crash of ours. `write_durable` with
// fsync of file and folder, so after one of the machine too.
Result<void> write_whole(const std::string& folder, const std::string& name, std::string_view text);
Result<void> write_durable(const std::string& folder, const std::string& name, std::string_view text);
// One write into an existing file of /sys or /proc.
Result<void> write_control(const std::string& path, std::string_view text);
// The folder with those above it (those with mode 0700). An existing one gets the mode and owner. uid -1 =
// leave.
Result<void> make_folder(const std::string& path, mode_t mode = 0700, uid_t uid = static_cast<uid_t>(-1),
                         gid_t gid = static_cast<gid_t>(-1));
bool exists(const std::string& path);
void remove_tree(const std::string& path);
std::vector<std::string> list_folder(const std::string& path);  // names, sorted

// key=value lines ending with end=1, as the shim writes them. Nothing when torn.
using Record = std::map<std::string, std::string>;
std::optional<Record> parse_record(std::string_view text);
std::string format_record(const Record& record);  // line breaks in values become spaces
std::int64_t number_in(const Record& record, const std::string& key, std::int64_t otherwise = 0);

// "0-3,8" from and to numbers in order; nothing for what is no such list.
std::string format_set(const std::vector<std::int64_t>& numbers);
std::vector<std::int64_t> parse_set(std::string_view text);

}  // namespace crater::run
