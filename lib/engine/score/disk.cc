#include <algorithm>

#include "score/score.h"

namespace crater::engine::score {
namespace {

double disk_value(const Look& look, const Choice& choice) {
    if (choice.disk < 0) return 1;
    const DiskUnit& disk = look.node.disks[static_cast<std::size_t>(choice.disk)];
    // 0.85 and better is ideal; a disk that was never measured is taken for a middling one.
    const double steady = disk.stability > 0 ? std::min(1.0, disk.stability / 0.85) : 0.5;
    const bool poor = (disk.stability > 0 && disk.stability < 0.7) ||
                      (disk.iops > 0 && disk.iops < 500'000) || disk.latency > 150;
    return poor ? 0.3 * steady : steady;
}

}  // namespace

extern const Score disk;
const Score disk{"disk", "Steadiness of the disk it gets; below 0.7, or a consumer NVMe, counts 0.3 of that.",
                 disk_value};

}  // namespace crater::engine::score
