// A plugin's shared object in this process: found, checked, created. What is wrong with it is a sentence.
#pragma once

#include <string>

#include "crater/base/error.h"
#include "crater/plugin.h"

namespace crater::plugin_host {

struct Loaded {
    crater_plugin_descriptor descriptor{};  // zeros where the plugin's is shorter
    void* context = nullptr;
};
// Loads a copy of `file` in memory: the file may be overwritten while the plugin runs.
Result<Loaded> load(const std::string& name, const std::string& file, const std::string& config);

}  // namespace crater::plugin_host
