// What the machine source asks of each vendor's cards. One thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "crater/model/node.h"
#include "tree.h"

namespace crater::hw {

class Accelerators {
  public:
    virtual ~Accelerators() = default;
    // Cards by index. A card once seen that no longer answers stays, unhealthy, with the reason.
    virtual std::vector<Gpu> cards() = 0;
    virtual std::vector<GpuSample> sample() = 0;
    // A card was lost, came back or reported a fault since `cards` was last asked.
    virtual bool changed() = 0;
    // Its cards are a test double's.
    virtual bool simulated() const = 0;
};

// NVIDIA cards through NVML. Without library or driver it has no cards, and looks again when asked again.
std::unique_ptr<Accelerators> nvidia_accelerators(std::string library, Tree tree);

}  // namespace crater::hw
