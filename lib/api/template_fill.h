// What runs for a task type whose document brings no command: a template of the scheduler's configuration,
// filled from the document.
//
// {{train_dataset}} stands for a field of the document: by its dotted path (data_config.train_dataset) or,
// for those of model_config, data_config and the portraits, by its last name; model_config.name is also
// {{model_name}}. Every argument of a list stays one argument whatever the field holds; in text that a shell
// reads (sh -c) the value becomes one quoted word. Where a word cannot be quoted or that cannot be told
// (inside quotes, after ${, $(, a backtick, #, a here-document, with eval) only values of plain characters
// are taken. Values are never searched for references again.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "crater/api/documents.h"

namespace crater::api {

using References = std::map<std::string, std::string>;
References references_of(const nlohmann::json& document);

Result<Template> fill(const Template& form, const References& references, std::string_view task_type);

}  // namespace crater::api
