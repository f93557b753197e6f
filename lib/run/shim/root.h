// The file system that a task sees: the machine's, without Crater's own folders, with the task's folders and
// mounts put in.
#pragma once

#include "launch.h"

namespace shim {

// In a new mount namespace: opens the sources of binds, those marked `u` with no more rights than the task
// user has. False: `why` says what is missing.
bool open_sources(Launch& launch, Message& why);
// Builds the root and moves into it; the first process of a new pid namespace.
bool enter_root(const Launch& launch, Message& why);

}  // namespace shim
