// For tests: a recorded machine, unpacked from testdata/NAME into a temporary folder and removed with the
// object. The format is a text: "== /path" starts a file whose content follows, "== /path -> target" is a
// link, '#' before the first is remarks.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "crater/base/clock.h"

namespace crater::hw {

class RecordedTree {
  public:
    explicit RecordedTree(const std::string& name) {
        char pattern[] = "/tmp/crater-hw-XXXXXX";
        root_ = mkdtemp(pattern);
        std::ifstream in(std::string(CRATER_HW_TESTDATA) + "/" + name);
        EXPECT_TRUE(in) << name;
        std::string path, content;
        for (std::string line; std::getline(in, line);) {
            if (!line.starts_with("== ")) {
                content += line + "\n";
                continue;
            }
            if (!path.empty()) write(path, content);
            content.clear();
            path = line.substr(3);
            const auto arrow = path.find(" -> ");
            if (arrow == std::string::npos) continue;
            link(path.substr(0, arrow), path.substr(arrow + 4));
            path.clear();
        }
        if (!path.empty()) write(path, content);
    }
    ~RecordedTree() { std::filesystem::remove_all(root_); }
    RecordedTree(const RecordedTree&) = delete;
    RecordedTree& operator=(const RecordedTree&) = delete;

    const std::string& root() const { return root_; }
    void write(const std::string& path, const std::string& content) const {
        std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
        std::ofstream(root_ + path, std::ios::trunc) << content;
    }

  private:
    void link(const std::string& path, const std::string& target) const {
        std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
        std::filesystem::create_symlink(target, root_ + path);
    }
    std::string root_;
};

// A clock that tests move.
class TestClock final : public Clock {
  public:
    Instant now() const override { return {us / 1000}; }
    std::int64_t ticks_us() const override { return us; }
    std::int64_t us = 1'000'000'000;
};

}  // namespace crater::hw
