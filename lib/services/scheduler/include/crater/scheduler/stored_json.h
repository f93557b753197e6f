// A stored value as JSON, for people who look into a store.
#pragma once

#include <string>
#include <string_view>

#include "crater/base/error.h"

namespace crater::scheduler {

// Numbers and texts under keys of their own stay as they are. Secrets are masked unless `reveal`.
Result<std::string> stored_json(std::string_view key, std::string_view value, bool reveal = false);

}  // namespace crater::scheduler
