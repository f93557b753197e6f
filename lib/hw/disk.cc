#include "disk.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <filesystem>
#include <optional>

namespace crater::hw {
namespace {

constexpr int depth_max = 8;

std::string last_part(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

std::string device_of_path(const Tree& tree, const std::vector<MountPoint>& mounts, const std::string& path,
                           int depth);

// The folder in /sys of the disk that a block device lies on.
std::string whole_disk(const Tree& tree, const std::vector<MountPoint>& mounts, const std::string& device,
                       int depth) {
    std::string folder = tree.real(device);
    if (folder.empty() || depth > depth_max) return folder;
    if (tree.exists(folder + "/partition")) folder.erase(folder.rfind('/'));
    const auto slaves = tree.list(folder + "/slaves");  // LVM, RAID, encryption
    if (slaves.size() == 1) return whole_disk(tree, mounts, folder + "/slaves/" + slaves.front(), depth + 1);
    if (const auto file = tree.line(folder + "/loop/backing_file"); !file.empty())
        if (auto below = device_of_path(tree, mounts, file, depth + 1); !below.empty()) return below;
    return folder;
}

std::string device_of_mount(const Tree& tree, const std::vector<MountPoint>& mounts, const MountPoint& mount,
                            int depth) {
    if (tree.exists("/sys/dev/block/" + mount.device))
        return whole_disk(tree, mounts, "/sys/dev/block/" + mount.device, depth);
    if (mount.type == "overlay") return device_of_path(tree, mounts, mount.option("upperdir"), depth + 1);
    // btrfs and others show an anonymous number, but name their device.
    if (mount.source.starts_with("/dev/")) {
        const std::string real = tree.is_machine() ? tree.real(mount.source) : mount.source;
        return whole_disk(tree, mounts, "/sys/class/block/" + last_part(real.empty() ? mount.source : real),
                          depth);
    }
    return {};
}

std::string device_of_path(const Tree& tree, const std::vector<MountPoint>& mounts, const std::string& path,
                           int depth) {
    if (path.empty() || depth > depth_max) return {};
    const MountPoint* mount = mount_of(mounts, path);
    // Inside a container the overlay's upper folder lies outside of what we see, "below" the overlay itself.
    if (!mount || (depth > 0 && mount->type == "overlay" && mount->option("upperdir") == path)) return {};
    return device_of_mount(tree, mounts, *mount, depth);
}

std::string disk_type(const Tree& tree, const std::string& folder) {
    if (last_part(folder).starts_with("nvme")) return "nvme";
    const auto rotational = tree.number(folder + "/queue/rotational");
    if (!rotational) return "unknown";
    if (*rotational == 0) return "ssd";
    // A virtual disk says "rotational" for want of knowledge.
    return last_part(folder).starts_with("vd") || last_part(folder).starts_with("xvd") ? "unknown" : "hdd";
}

// Of the folder, or of the nearest above it when it has not been made yet.
std::optional<struct statvfs> file_system(const Tree& tree, std::string path) {
    struct statvfs space {};
    while (statvfs(tree.full(path).c_str(), &space) != 0) {
        const auto slash = path.rfind('/');
        if (slash == std::string::npos || path == "/") return std::nullopt;
        path.resize(std::max<std::size_t>(slash, 1));
    }
    return space;
}

}  // namespace

Disk read_disk(const Tree& tree, const std::vector<MountPoint>& mounts, const std::string& data_path) {
    Disk disk;
    std::error_code error;
    auto path = std::filesystem::weakly_canonical(tree.is_machine() ? data_path : tree.full(data_path), error)
                    .string();
    path = error ? data_path : path.substr(tree.root().size());
    if (path.empty()) path = "/";
    const MountPoint* mount = mount_of(mounts, path);
    disk.mount = mount ? mount->point : path;
    const std::string folder = device_of_path(tree, mounts, path, 0);
    disk.name = !folder.empty() ? last_part(folder) : mount ? mount->type : "unknown";
    disk.type = folder.empty() ? "unknown" : disk_type(tree, folder);
    disk.numa_node = folder.empty() ? -1 : tree.numa_node(folder);
    if (const auto space = file_system(tree, path)) {
        disk.capacity = Bytes(static_cast<std::int64_t>(space->f_blocks * space->f_frsize));
        disk.free = Bytes(static_cast<std::int64_t>(space->f_bavail * space->f_frsize));
    }
    return disk;
}

Bytes free_space(const Tree& tree, const std::string& data_path) {
    const auto space = file_system(tree, data_path);
    return Bytes(space ? static_cast<std::int64_t>(space->f_bavail * space->f_frsize) : 0);
}

std::vector<DiskCounters> read_disk_counters(const Tree& tree) {
    constexpr std::string_view stacked[] = {"loop", "ram", "zram", "dm-", "md", "sr", "fd", "nbd"};
    constexpr std::int64_t sector = 512;  // of /proc/diskstats, whatever the device's own
    std::vector<DiskCounters> out;
    const std::string text = tree.text("/proc/diskstats");
    for (auto line : words(text, "\n")) {
        const auto parts = words(line);
        if (parts.size() < 13) continue;
        const std::string name(parts[2]);
        if (std::any_of(std::begin(stacked), std::end(stacked), [&](auto s) { return name.starts_with(s); }))
            continue;
        if (tree.exists("/sys/class/block/" + name + "/partition")) continue;
        const auto number = [&](std::size_t i) { return whole_number(parts[i]).value_or(0); };
        out.push_back({.name = name,
                       .reads = number(3),
                       .writes = number(7),
                       .bytes_read = number(5) * sector,
                       .bytes_written = number(9) * sector,
                       .busy_ms = number(12)});
    }
    return out;
}

}  // namespace crater::hw
