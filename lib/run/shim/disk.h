// What a task's folders take on the disk.
#pragma once

#include "util.h"

namespace shim {

// Bytes of blocks, links not followed, other file systems below left out. A file with several names counts in
// parts.
long long disk_used(const List<const char*>& folders);

}  // namespace shim
