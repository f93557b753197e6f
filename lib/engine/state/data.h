// Datasets and models by a fingerprint of their ids: what a node has and what a job names are compared as
// numbers, without a table of all ids that any job ever named.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "crater/base/ids.h"

namespace crater::engine {

enum class DataKind : std::uint64_t { dataset = 1, model };

inline std::uint64_t data_key(DataKind kind, const std::string& id) {
    return hash64(id, static_cast<std::uint64_t>(kind));
}

// Sorted: the order in which ids are told means nothing.
using DataKeys = std::vector<std::uint64_t>;
inline bool has_key(const DataKeys& keys, std::uint64_t key) {
    return std::binary_search(keys.begin(), keys.end(), key);
}

// What a job names.
struct WantedData {
    bool required = false;
    std::vector<std::string> datasets, models;  // sorted
    DataKeys dataset_keys, model_keys;

    bool all_in(const DataKeys& keys) const {
        const auto in = [&](std::uint64_t key) { return has_key(keys, key); };
        return std::all_of(dataset_keys.begin(), dataset_keys.end(), in) &&
               std::all_of(model_keys.begin(), model_keys.end(), in);
    }
};

}  // namespace crater::engine
