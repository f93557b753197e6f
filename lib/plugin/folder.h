// What lies in the plugins' folder, by a name and a stamp that differs when the file is another one.
#pragma once

#include <map>
#include <string>

#include "crater/base/error.h"

namespace crater::plugin {

struct Found {
    std::string file, config;
    std::string stamp;
    std::string wrong;  // why it must not be loaded; empty when it may
};
// By name of the plugin. A folder that is not there holds none.
Result<std::map<std::string, Found>> plugins_in(const std::string& folder);

}  // namespace crater::plugin
