#include "own_limits.h"

#include <algorithm>

namespace crater::hw {
namespace {

std::string status_value(std::string_view status, std::string_view key) {
    for (auto line : words(status, "\n"))
        if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ':')
            return std::string(trimmed(line.substr(key.size() + 1)));
    return {};
}

bool lists(std::string_view text, std::string_view name) {
    for (auto part : words(text, ","))
        if (part == name) return true;
    return false;
}

// The folders of our group in one hierarchy, innermost first, ending at its mount.
std::vector<std::string> group_folders(const std::vector<MountPoint>& mounts, std::string_view controller,
                                       std::string_view group) {
    std::vector<std::string> folders;
    for (const auto& mount : mounts) {
        const bool ours = controller.empty() ? mount.type == "cgroup2"
                                             : mount.type == "cgroup" && lists(mount.options, controller);
        if (!ours) continue;
        std::string below(group);  // a container sees the mount's root as its own
        if (mount.root != "/" && below.starts_with(mount.root)) below.erase(0, mount.root.size());
        while (!below.empty() && below != "/") {
            folders.push_back(mount.point + below);
            below.erase(below.rfind('/'));
        }
        folders.push_back(mount.point);
        break;
    }
    return folders;
}

template <class Q>
void lower(std::optional<Q>& limit, std::int64_t value) {
    if (value > 0 && (!limit || value < limit->value)) limit = Q(value);
}

// `quota` of `period` microseconds.
void lower_cpu(Limits& limits, std::optional<std::int64_t> quota, std::optional<std::int64_t> period) {
    if (quota && period && *quota > 0 && *period > 0)
        lower(limits.cpu, std::max<std::int64_t>(1, *quota * 1000 / *period));
}

void read_v2(const Tree& tree, const std::string& folder, Limits& limits) {
    if (auto bytes = tree.number(folder + "/memory.max")) lower(limits.memory, *bytes);
    const std::string text = tree.line(folder + "/cpu.max");  // "max 100000" or "50000 100000"
    const auto parts = words(text);
    if (parts.size() == 2) lower_cpu(limits, whole_number(parts[0]), whole_number(parts[1]));
}

}  // namespace

Limits read_limits(const Tree& tree, const std::vector<MountPoint>& mounts) {
    Limits limits;
    const std::string status = tree.text("/proc/self/status");
    limits.cpus = cpu_list(status_value(status, "Cpus_allowed_list"));
    limits.numa = cpu_list(status_value(status, "Mems_allowed_list"));

    const std::string groups = tree.text("/proc/self/cgroup");
    for (auto line : words(groups, "\n")) {  // "0::/path" or "4:cpu,cpuacct:/path"
        const auto first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string_view::npos || second == std::string_view::npos) continue;
        const auto controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
        if (controllers.empty()) {
            for (const auto& folder : group_folders(mounts, "", group)) read_v2(tree, folder, limits);
        } else if (lists(controllers, "memory")) {
            for (const auto& folder : group_folders(mounts, "memory", group))
                if (auto bytes = tree.number(folder + "/memory.limit_in_bytes")) lower(limits.memory, *bytes);
        } else if (lists(controllers, "cpu")) {
            for (const auto& folder : group_folders(mounts, "cpu", group))
                lower_cpu(limits, tree.number(folder + "/cpu.cfs_quota_us"),
                          tree.number(folder + "/cpu.cfs_period_us"));
        }
    }
    return limits;
}

}  // namespace crater::hw
