// The launch file DIR/tasks/<id>/shim.launch: what the shim is told. Strings, each ended by NUL; the first is
// "crater-shim=1" (the version), the last "end=1" (so that a torn file is recognised). Each is key=value;
// keys may repeat:
//
//   log, log_max_bytes                where output goes; rotated once at that size
//   uid, gid                          who the command runs as
//   namespaces=1                      own mount, pid and ipc namespaces, `root` being the folder for the new
//   root root_task=1                       stays root cgroup                            folder of a control
//   group that the command joins (v1: one per controller) shim_cgroup                       the same for the
//   shim itself, best effort memory_events                     memory.events (v2) or memory.oom_control (v1)
//   of the task's group cgroup_kill                       cgroup.kill of the task's group bind=FLAGS, then
//   source, target   r: read only, u: opened with the task user's rights, o: folders may be made in it, ?:
//   skipped when
//                                     the source is missing, b: the target is made (a folder on a tmpfs)
//                                     where missing
//   hide=PATH                         an empty folder over PATH
//   tmpfs=PATH                        a writable tmpfs over PATH
//   cpus=0,1,2  numa=bind:1|prefer:1  affinity and memory policy
//   cwd, arg, env                     the command
//   time_limit_ms, grace_ms           0 = none
//   disk_bytes, disk_folder           the task ends when its folders hold more than that; 0 = no limit
#pragma once

#include "util.h"

namespace shim {

struct Mount {
    enum Kind { none, bind, hide, tmpfs } kind = none;
    const char* flags = "";
    const char* source = "";
    const char* target = "";
    int fd = -1;
    bool has(char flag) const;
};

struct Launch {
    const char *dir = "", *log = "", *root = "", *cwd = "", *memory_events = nullptr, *cgroup_kill = nullptr;
    const char *cpus = nullptr, *numa = nullptr;
    long long log_max_bytes = 64LL << 20, time_limit_ms = 0, grace_ms = 30'000, disk_bytes = 0;
    unsigned uid = 65534, gid = 65534;
    bool namespaces = false, root_task = false;
    List<const char*> cgroups, shim_cgroups, disk_folders;
    List<char*> args, env;
    List<Mount> mounts;
};

// nullptr, or what is wrong. The strings live as long as the program.
const char* load(const char* dir, Launch& out);

}  // namespace shim
