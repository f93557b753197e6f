// Processes of a task seen through /proc: where there is no control group to ask.
#pragma once

#include <sys/types.h>

#include <string>

#include "cgroup.h"

namespace crater::run {

// What all processes below `top` use.
GroupUsage tree_usage(pid_t top);
// Kills every process that carries `entry` ("NAME=value") in its environment.
void kill_by_environment(const std::string& entry);

}  // namespace crater::run
