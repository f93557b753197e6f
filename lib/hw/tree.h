// Reading /proc and /sys below a root: the machine's own, or a recorded tree in tests. What cannot be read is
// empty: hardware that is not there is no error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace crater::hw {

class Tree {
  public:
    explicit Tree(std::string_view root = "/");

    std::string text(std::string_view path) const;  // the whole file
    std::string line(std::string_view path) const;  // its first line, blanks trimmed
    std::optional<std::int64_t> number(std::string_view path) const;
    std::vector<std::string> list(std::string_view path) const;  // names in a folder, sorted
    bool exists(std::string_view path) const;
    // Links resolved, as a path below the root again; "" when absent.
    std::string real(std::string_view path) const;
    // The NUMA domain of a device folder of /sys: its own or the nearest above it; -1 when none says.
    std::int64_t numa_node(std::string_view device) const;

    bool is_machine() const { return root_.empty(); }
    const std::string& root() const { return root_; }  // without the last slash: "" for the machine
    std::string full(std::string_view path) const { return root_ + std::string(path); }

  private:
    std::string root_;
};

std::string_view trimmed(std::string_view text);
std::vector<std::string_view> words(std::string_view text, std::string_view separators = " \t\n");
std::optional<std::int64_t> whole_number(std::string_view text);
// "0-3,8" -> 0 1 2 3 8, sorted; what is malformed is left out.
std::vector<std::int64_t> cpu_list(std::string_view text);

}  // namespace crater::hw
