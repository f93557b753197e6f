// Reads what the shim's log pump writes (shim/log.h): two files, one offset.
#pragma once

#include <string>
#include <utility>

#include "crater/base/error.h"

namespace crater::run {

// An offset before the oldest byte kept is moved up to it; the second value is where to go on.
Result<std::pair<std::string, std::int64_t>> read_log(const std::string& path, const std::string& index,
                                                      std::int64_t offset, std::size_t bytes_max);

}  // namespace crater::run
