// An exclusive lock beside a file, held for the life of the object and released by the kernel when the
// process ends in any way.
#pragma once

#include <string>

#include "crater/base/error.h"

namespace crater::store {

class LockFile {
  public:
    // Code::conflict, with the owner's process id, when somebody else holds it.
    static Result<LockFile> take(const std::string& path);
    LockFile(LockFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    LockFile& operator=(LockFile&&) = delete;
    ~LockFile();

  private:
    explicit LockFile(int fd) : fd_(fd) {}
    int fd_ = -1;
};

}  // namespace crater::store
