// What crater-probe prints.
#pragma once

#include <iosfwd>

#include "crater/hw/probe_config.h"
#include "crater/model/node.h"

namespace crater::probe {

void print_inventory(std::ostream& out, const NodeInventory& inventory, const NodeSample& sample);
void print_measured(std::ostream& out, const hw::ProbeMeasured& measured);
void print_models(std::ostream& out);

}  // namespace crater::probe
