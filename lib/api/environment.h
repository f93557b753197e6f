// Names of environment variables: what a document may set, and which values are never shown. SPEC 4, 10.4.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "crater/base/error.h"

namespace crater::api {

// Refuses names that no process can have and names that Crater sets itself; the rendezvous of a gang is
// Crater's only for gangs.
Result<void> check_environment(const std::map<std::string, std::string>& env, bool gang);
// *TOKEN*, *SECRET*, *PASSWORD*, *KEY*, in any case.
bool secret_name(std::string_view name);

}  // namespace crater::api
