// Mounted file systems, from /proc/self/mountinfo.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tree.h"

namespace crater::hw {

struct MountPoint {
    std::string device;   // "254:0"
    std::string root;     // which folder of the file system is mounted
    std::string point;    // where
    std::string type;     // ext4, overlay, cgroup2, ...
    std::string source;   // "/dev/vda", "overlay", ...
    std::string options;  // of the file system: "rw,lowerdir=...,upperdir=..."

    // The value of `name=value` in the options; "" when absent.
    std::string option(std::string_view name) const;
};

std::vector<MountPoint> read_mounts(const Tree& tree);
// The mount that serves `path` (absolute, links resolved): the innermost, and of equal ones the last made.
const MountPoint* mount_of(const std::vector<MountPoint>& mounts, std::string_view path);

}  // namespace crater::hw
