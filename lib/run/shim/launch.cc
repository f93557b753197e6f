#include "launch.h"

#include <cstring>

namespace shim {

bool Mount::has(char flag) const { return strchr(flags, flag) != nullptr; }

const char* load(const char* dir, Launch& out) {
    std::size_t size = 0;
    char* at = read_file(Path("%s/shim.launch", dir), &size);
    if (!at) return "the launch file cannot be read";
    const char* const end = at + size;
    if (size == 0 || end[-1] != 0) return "the launch file is torn";
    if (strcmp(at, "crater-shim=1") != 0) return "the launch file is of another version";
    out.dir = dir;
    const auto next = [&]() -> char* {
        if (at >= end) return nullptr;
        char* text = at;
        at += strlen(at) + 1;
        return text;
    };
    next();
    while (char* key = next()) {
        char* value = strchr(key, '=');
        if (!value) return "the launch file has a line without a value";
        *value++ = 0;
        const auto is = [&](const char* name) { return strcmp(key, name) == 0; };
        if (is("end")) return nullptr;
        if (is("log"))
            out.log = value;
        else if (is("root"))
            out.root = value;
        else if (is("cwd"))
            out.cwd = value;
        else if (is("memory_events"))
            out.memory_events = value;
        else if (is("cgroup_kill"))
            out.cgroup_kill = value;
        else if (is("cpus"))
            out.cpus = value;
        else if (is("numa"))
            out.numa = value;
        else if (is("log_max_bytes"))
            out.log_max_bytes = number(value);
        else if (is("time_limit_ms"))
            out.time_limit_ms = number(value);
        else if (is("grace_ms"))
            out.grace_ms = number(value);
        else if (is("disk_bytes"))
            out.disk_bytes = number(value);
        else if (is("disk_folder"))
            out.disk_folders.add(value);
        else if (is("uid"))
            out.uid = static_cast<unsigned>(number(value));
        else if (is("gid"))
            out.gid = static_cast<unsigned>(number(value));
        else if (is("namespaces"))
            out.namespaces = number(value) == 1;
        else if (is("root_task"))
            out.root_task = number(value) == 1;
        else if (is("cgroup"))
            out.cgroups.add(value);
        else if (is("shim_cgroup"))
            out.shim_cgroups.add(value);
        else if (is("arg"))
            out.args.add(value);
        else if (is("env"))
            out.env.add(value);
        else if (is("hide") || is("tmpfs")) {
            Mount mount;
            mount.kind = is("hide") ? Mount::hide : Mount::tmpfs;
            mount.target = value;
            out.mounts.add(mount);
        } else if (is("bind")) {
            Mount mount;
            mount.kind = Mount::bind;
            mount.flags = value;
            mount.source = next();
            mount.target = mount.source ? next() : nullptr;
            if (!mount.target) return "the launch file is torn";
            out.mounts.add(mount);
        } else
            return "the launch file has an unknown key";
    }
    return "the launch file is torn";
}

}  // namespace shim
