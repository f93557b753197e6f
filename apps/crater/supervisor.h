// Child processes that are started again when they end, and stopped in order. One thread, the caller's.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "crater/base/error.h"
#include "crater/base/quantity.h"

namespace crater::cli {

class Supervisor {
  public:
    struct Child {
        std::string name;
        std::vector<std::string> command;
        int stop_order = 1;  // lower ones are stopped first
        pid_t pid = 0;
        int failures = 0;  // in a row, each within a minute of its start
        std::int64_t started_us = 0, restart_at_us = 0;
    };

    // Output of each child is appended to LOGS/NAME.log.
    explicit Supervisor(std::string logs);
    ~Supervisor();
    void add(Child child) { children_.push_back(std::move(child)); }
    Result<void> start(const std::string& name);
    Result<void> start_rest();
    // Until the URL answers 200; fails with the child's last words when it ends before, or at the deadline.
    Result<void> wait_until_serving(const std::string& url, Millis deadline);
    // Until SIGTERM or SIGINT; then stops the children in order. Returns the exit status: 0, or 1 when a
    // child could not be kept running.
    int run();

  private:
    Result<void> spawn(Child& child);
    void reap();
    void stop_all();
    bool give_up(const Child& child) const;
    std::string last_words(const Child& child) const;

    std::string logs_;
    std::vector<Child> children_;
};

}  // namespace crater::cli
