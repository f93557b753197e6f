// Live use of the machine: rates between two looks at the kernel's counters.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "crater/base/clock.h"
#include "crater/model/node.h"
#include "disk.h"
#include "network.h"
#include "tree.h"

namespace crater::hw {

struct SampledParts {
    std::vector<std::int64_t> cpus;  // whose use counts; empty = all
    std::vector<NetworkInterface> networks;
    std::string data_path;
    Bytes memory_total;  // of the inventory
};

class Sampler {
  public:
    Sampler(Tree tree, const Clock& clock) : tree_(std::move(tree)), clock_(clock) {}
    void watch(SampledParts parts) { parts_ = std::move(parts); }
    // All but the cards. The first sample has no rates.
    NodeSample sample(Instant now);

  private:
    struct CpuTime {
        std::int64_t busy = 0, total = 0;
    };
    struct Counters {
        std::int64_t at_us = 0;
        CpuTime cpu;
        std::vector<DiskCounters> disks;
        NetworkCounters network;
    };
    Counters read() const;
    CpuTime read_cpu_time() const;
    static void add_disk_rates(const Counters& before, const Counters& now, double seconds, NodeSample& out);

    Tree tree_;
    const Clock& clock_;
    SampledParts parts_;
    std::optional<Counters> before_;
};

}  // namespace crater::hw
