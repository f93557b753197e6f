// What the node offers, after the agent's configuration had its say.
#pragma once

#include "crater/agent/agent.h"

namespace crater::agent {

// The source's inventory with name, labels and pools, cut down to the configured resource pools.
Result<NodeInventory> configured_inventory(const Config& config, hw::Source& source,
                                           const run::Runtime& runtime);

}  // namespace crater::agent
