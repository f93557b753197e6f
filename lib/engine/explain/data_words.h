// Where data is cached, in words.
#pragma once

#include <string>

#include "state/cluster.h"
#include "state/data.h"

namespace crater::engine {

// "does not have dataset imagenet in its cache"
std::string missing_data_words(const WantedData& wanted, const Node& node);
// "dataset imagenet is cached on 3 nodes, model llama-7b on no node"
std::string cached_where_words(const WantedData& wanted, const Cluster& cluster);

}  // namespace crater::engine
