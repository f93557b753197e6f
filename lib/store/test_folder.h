// A fresh folder that goes with the test.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "crater/base/error.h"

namespace crater::store {

class TestFolder {
  public:
    TestFolder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "crater-store-XXXXXX").string();
        CRATER_CHECK(::mkdtemp(pattern.data()) != nullptr);
        path_ = pattern;
    }
    TestFolder(const TestFolder&) = delete;
    ~TestFolder() { std::filesystem::remove_all(path_); }
    std::string file(const std::string& name) const { return path_ + "/" + name; }
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

}  // namespace crater::store
