// The disk behind a folder, and counters of all disks.
#pragma once

#include <string>
#include <vector>

#include "crater/model/node.h"
#include "mounts.h"
#include "tree.h"

namespace crater::hw {

// Through partitions, LVM, loop files and overlays down to the device. A folder on no device (tmpfs, NFS)
// gives the file system's name and type "unknown". Measured values are left 0.
Disk read_disk(const Tree& tree, const std::vector<MountPoint>& mounts, const std::string& data_path);
// Free space of the file system of `data_path`.
Bytes free_space(const Tree& tree, const std::string& data_path);

struct DiskCounters {
    std::string name;
    std::int64_t reads = 0, writes = 0, bytes_read = 0, bytes_written = 0, busy_ms = 0;
};
// Whole disks only: no partitions, no loop, RAM or stacked devices.
std::vector<DiskCounters> read_disk_counters(const Tree& tree);

}  // namespace crater::hw
