// The task's output on disk, bounded: <log> and, once that is full, <log>.1. An offset counts from the first
// byte ever written, so DIR/tasks/<id>/log.index says where each file begins: lines "inode offset", replaced
// whole before a file gets its name. A reader that meets a file whose inode is not listed looks again.
#pragma once

#include "util.h"

namespace shim {

class Log {
  public:
    Log(const char* path, const char* dir, long long bytes_max);
    // Never blocks the task: what the disk does not take is counted and told in the log when there is room
    // again.
    void write(const char* data, std::size_t size);

  private:
    void open_next();
    void put(const char* data, std::size_t size);

    const char* path_;
    const char* dir_;
    long long bytes_max_, size_ = 0, base_ = 0, lost_ = 0;
    unsigned long long inode_ = 0;
    int fd_ = -1;
};

}  // namespace shim
