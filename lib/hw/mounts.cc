#include "mounts.h"

#include <algorithm>

namespace crater::hw {
namespace {

// The kernel writes blanks, tabs, newlines and backslashes of a path as \040 and the like.
std::string unescaped_mount(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool octal = text[i] == '\\' && i + 3 < text.size() &&
                           std::all_of(text.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                       text.begin() + static_cast<std::ptrdiff_t>(i) + 4,
                                       [](char c) { return c >= '0' && c <= '7'; });
        if (!octal) {
            out += text[i];
            continue;
        }
        out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
        i += 3;
    }
    return out;
}

bool covers(std::string_view folder, std::string_view path) {
    if (folder == "/") return path.starts_with('/');
    return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

}  // namespace

std::string MountPoint::option(std::string_view name) const {
    for (auto part : words(options, ","))
        if (part.starts_with(name) && part.size() > name.size() && part[name.size()] == '=')
            return std::string(part.substr(name.size() + 1));
    return {};
}

std::vector<MountPoint> read_mounts(const Tree& tree) {
    std::vector<MountPoint> mounts;
    const std::string text = tree.text("/proc/self/mountinfo");
    for (auto line : words(text, "\n")) {
        // id parent major:minor root point options [optional...] - type source super-options
        const auto split = line.find(" - ");
        if (split == std::string_view::npos) continue;
        const auto head = words(line.substr(0, split)), tail = words(line.substr(split + 3));
        if (head.size() < 6 || tail.size() < 2) continue;
        mounts.push_back({.device = std::string(head[2]),
                          .root = unescaped_mount(head[3]),
                          .point = unescaped_mount(head[4]),
                          .type = std::string(tail[0]),
                          .source = unescaped_mount(tail[1]),
                          .options = tail.size() > 2 ? unescaped_mount(tail[2]) : std::string{}});
    }
    return mounts;
}

const MountPoint* mount_of(const std::vector<MountPoint>& mounts, std::string_view path) {
    const MountPoint* best = nullptr;
    for (const auto& mount : mounts)
        if (covers(mount.point, path) && (!best || mount.point.size() >= best->point.size())) best = &mount;
    return best;
}

}  // namespace crater::hw
