// Documents are read into one JobSpec whatever they look like; these two speak of it in the words of the
// document.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "crater/base/error.h"

namespace crater::api {

// The place in the document that `field` of the JobSpec came from: "resources.gpu.memory" may be
// "resource_requirements.gpu.memory_mb". The field itself when the document has no such place.
std::string as_written(const nlohmann::json& tree, std::string_view field);

// Keys of SPEC that this version knows and does not serve: refused with what there is instead, rather than as
// unknown.
Result<void> refuse_not_offered(const nlohmann::json& tree);

}  // namespace crater::api
