// Changes what is logged while the process runs: for a configuration that is read again.
#pragma once

#include "crater/base/log.h"

namespace crater::log {

void set_level(Level level);  // from any thread

}  // namespace crater::log
