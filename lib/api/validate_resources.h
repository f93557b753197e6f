// The part of validate() that looks at what a task asks for.
#pragma once

#include "crater/base/error.h"
#include "crater/model/resources.h"

namespace crater::api {

// Fields of errors are named below `resources.`.
Result<void> check_resources(const Resources& resources);

}  // namespace crater::api
