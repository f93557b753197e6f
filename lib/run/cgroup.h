// Control groups of tasks: one group per task under `parent` in every hierarchy this machine has (v1, v2 or
// both), foreign groups untouched. A limit is held by whichever version carries its controller. Blocking
// calls on kernel files, microseconds each; the owner's thread only.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "crater/base/error.h"
#include "crater/base/quantity.h"
#include "crater/run/runtime.h"

namespace crater::run {

enum class Controller { cpu, memory, pids, disk_io, cpuset };
inline constexpr std::size_t controller_count = 5;

struct Limits {
    MilliCpu cpu;                       // the request: weight; 0 = none
    MilliCpu cpu_quota;                 // 0 = no quota
    std::vector<std::int64_t> cpu_set;  // empty = all
    std::int64_t numa_node = -1;        // memory from this domain only; -1 = any
    Bytes memory;                       // 0 = no limit; swap counts
    std::int64_t pids = 0;              // 0 = no limit
    std::string disk;                   // "nvme0n1"
    Iops disk_iops;
    BytesPerSecond disk_bandwidth;
};
// What a task's slices mean here: quota = request × 1.5 (training 3, several cards at least 4), none with
// CPUs of its own. SPEC 4.
Limits limits_of(const JobSpec& spec, const Allocation& allocation);

struct GroupFiles {
    std::vector<std::string> folders;        // to join
    std::string memory_events, cgroup_kill;  // empty when not there
};

struct GroupUsage {
    bool known = false;
    std::int64_t cpu_us = 0, memory_bytes = 0, read_bytes = 0, write_bytes = 0, pids = 0;
};

class Cgroups {
  public:
    // Looks at what is mounted (`mountinfo` as /proc/self/mountinfo gives it); makes nothing.
    explicit Cgroups(std::string parent, const std::string& mountinfo = "/proc/self/mountinfo");
    // Makes the parent group and tries every limit in a scratch group. Until then nothing is held.
    void self_test();

    const CgroupReport& report() const { return report_; }
    bool holds(Controller c) const { return row(c) == "enforced"; }
    const std::string& why_not(Controller c) const { return row(c); }
    std::string mechanism(Controller c) const;  // "cgroup v1", "cgroup v2", "advisory"

    // Makes the group if need be and sets its limits, those whose controllers hold; again is harmless.
    Result<GroupFiles> make(const std::string& name, const Limits& limits);
    // A group without limits, for the shims.
    std::vector<std::string> make_plain(const std::string& name);
    GroupUsage usage(const std::string& name) const;
    void kill(const std::string& name) const;
    // True when the group is in no hierarchy any more; false while processes are in it. "" is the parent.
    bool remove(const std::string& name) const;
    std::vector<std::string> names() const;  // groups below the parent

  private:
    struct Hierarchy {
        std::string mount;
        bool v2 = false;
    };
    const std::string& row(Controller c) const;
    std::string& row(Controller c);
    std::string folder(const Hierarchy& h, const std::string& name) const {
        return h.mount + "/" + parent_ + "/" + name;
    }
    // The task's folder in the hierarchy of a controller; "" when there is none.
    std::string folder(Controller c, const std::string& name) const;
    const Hierarchy* of(Controller c) const;
    bool make_parent(std::string& why);
    Result<void> apply(const std::string& name, const Limits& limits);
    Result<void> apply_cpu(const std::string& at, bool v2, const Limits& limits) const;
    Result<void> apply_memory(const std::string& at, bool v2, Bytes limit) const;
    Result<void> apply_disk(const std::string& at, bool v2, const Limits& limits) const;
    Result<void> apply_cpuset(const std::string& at, const Limits& limits) const;

    std::string parent_;
    std::vector<Hierarchy> hierarchies_;         // distinct, in order of mounting
    std::array<int, controller_count> place_{};  // index into hierarchies_, -1 = none
    CgroupReport report_;
};

// "259:0" of a disk's name; a partition's disk. Empty when it is not on this machine.
std::string disk_number(std::string name);

}  // namespace crater::run
