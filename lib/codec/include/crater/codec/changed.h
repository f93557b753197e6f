// In which of its fields a described struct differs from another: for a configuration that is read again.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "crater/codec/codec.h"

namespace crater::codec {

// The top-level keys, sorted. Secrets count.
template <class T>
std::vector<std::string> changed_fields(const T& a, const T& b) {
    const Json before = to_json(a, {.reveal = true}), after = to_json(b, {.reveal = true});
    std::set<std::string> keys;  // what is empty is not written: a key may be in one of them only
    for (const Json* tree : {&before, &after})
        for (const auto& [key, value] : tree->items()) keys.insert(key);
    std::vector<std::string> changed;
    for (const std::string& key : keys)
        if (before.value(key, Json()) != after.value(key, Json())) changed.push_back(key);
    return changed;
}

}  // namespace crater::codec
