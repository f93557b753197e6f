// Starting a shim and asking whether one lives.
#pragma once

#include <string>

#include "crater/base/error.h"
#include "fs.h"

namespace crater::run {

// The descriptor on which the shim answers once ("R", "L", "E..."); see shim/main.cc. Returns as soon as the
// shim has let go of us.
Result<Fd> spawn_shim(const std::string& program, const std::string& folder);

struct ShimLock {
    bool held = false;     // a shim, or the task's init, lives
    bool written = false;  // one began
    pid_t pid = 0;
    std::string boot;
};
// Looks without taking it: a shim that is about to must not be disturbed.
ShimLock look_at_lock(const std::string& folder);

}  // namespace crater::run
