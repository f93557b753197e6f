#include "cgroup.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "fs.h"

namespace crater::run {
namespace {

constexpr std::int64_t period_us = 100'000;
constexpr std::string_view v1_names[controller_count] = {"cpu", "memory", "pids", "blkio", "cpuset"};
constexpr std::string_view v2_names[controller_count] = {"cpu", "memory", "pids", "io", "cpuset"};

std::string trimmed(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    return text;
}

std::vector<std::string> words(const std::string& text, char separator) {
    std::vector<std::string> out;
    std::istringstream in(text);
    for (std::string word; std::getline(in, word, separator);)
        if (!word.empty()) out.push_back(word);
    return out;
}

// mountinfo writes blanks and backslashes in octal.
std::string unescaped(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 3 < text.size()) {
            out += static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8));
            i += 3;
        } else {
            out += text[i];
        }
    }
    return out;
}

std::int64_t number_of(const std::string& text) { return std::strtoll(text.c_str(), nullptr, 10); }

// The number behind `key` in lines of "key number"; 0 when absent.
std::int64_t keyed(const std::string& text, std::string_view key) {
    std::istringstream in(text);
    std::string word;
    std::int64_t value = 0;
    while (in >> word >> value)
        if (word == key) return value;
    return 0;
}

bool make_group(const std::string& path) { return ::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST; }

// v1: a new cpuset takes no processes before it has CPUs and memory.
void fill_cpuset(const std::string& at) {
    const std::string above = std::filesystem::path(at).parent_path();
    for (const char* file : {"/cpuset.cpus", "/cpuset.mems"}) {
        if (!trimmed(read_text(at + file).value_or("?")).empty()) continue;
        if (!write_control(at + file, trimmed(read_text(above + file).value_or("")))) continue;
    }
}

}  // namespace

Limits limits_of(const JobSpec& spec, const Allocation& allocation) {
    Limits limits;
    limits.cpu = allocation.cpu;
    std::int64_t tenths = spec.type == JobType::training ? 30 : 15;
    if (allocation.gpus.size() > 1) tenths = std::max<std::int64_t>(tenths, 40);
    if (allocation.cpu_set.empty()) limits.cpu_quota = MilliCpu(allocation.cpu.value * tenths / 10);
    limits.cpu_set = allocation.cpu_set;
    if (spec.numa_binding_policy == NumaPolicy::strict) limits.numa_node = allocation.numa_node;
    limits.memory = allocation.memory;
    limits.pids = 4096;
    limits.disk = allocation.disk;
    limits.disk_iops = allocation.disk_iops;
    limits.disk_bandwidth = allocation.disk_bandwidth;
    return limits;
}

std::string disk_number(std::string name) {
    if (name.starts_with("/dev/")) name.erase(0, 5);
    if (name.empty() || name.find("..") != std::string::npos) return {};
    std::error_code error;
    std::filesystem::path at = std::filesystem::canonical("/sys/class/block/" + name, error);
    if (error) return {};
    if (exists(at / "partition")) at = at.parent_path();
    return trimmed(read_text(at / "dev").value_or(""));
}

Cgroups::Cgroups(std::string parent, const std::string& mountinfo) : parent_(std::move(parent)) {
    place_.fill(-1);
    std::array<bool, controller_count> first_is_v2{};
    bool any_v1 = false, any_v2 = false;
    for (const std::string& line : words(read_text(mountinfo, 16 << 20).value_or(""), '\n')) {
        const auto dash = line.find(" - ");
        const auto left = words(line.substr(0, dash), ' ');
        const auto right =
            dash == std::string::npos ? std::vector<std::string>() : words(line.substr(dash + 3), ' ');
        if (left.size() < 5 || right.size() < 2) continue;
        const bool v2 = right[0] == "cgroup2";
        if (!v2 && right[0] != "cgroup") continue;
        Hierarchy h{unescaped(left[4]), v2};
        const std::string controllers =
            v2 ? trimmed(read_text(h.mount + "/cgroup.controllers").value_or("")) : right.back();
        const auto list = words(controllers, v2 ? ' ' : ',');
        const auto has = [&](std::string_view name) {
            return std::find(list.begin(), list.end(), name) != list.end();
        };
        // Those that carry a limit, the processor time account, and those by which a service manager finds a
        // daemon's processes.
        bool wanted = v2 || has("cpuacct") || has("freezer") || has("name=systemd");
        for (std::size_t c = 0; c < controller_count; ++c) {
            if (!has(v2 ? v2_names[c] : v1_names[c]) || place_[c] >= 0) continue;
            place_[c] = static_cast<int>(hierarchies_.size());
            first_is_v2[c] = v2;
            wanted = true;
            (v2 ? any_v2 : any_v1) = true;
        }
        if (wanted) hierarchies_.push_back(std::move(h));
    }
    const bool v2_mounted =
        std::any_of(hierarchies_.begin(), hierarchies_.end(), [](const Hierarchy& h) { return h.v2; });
    report_.version = any_v1 ? (v2_mounted ? "hybrid" : "v1") : any_v2 ? "v2" : "none";
    for (std::size_t c = 0; c < controller_count; ++c)
        row(static_cast<Controller>(c)) = place_[c] >= 0 ? "not tried" : "no such controller is mounted";
}

const std::string& Cgroups::row(Controller c) const {
    switch (c) {
        case Controller::cpu: return report_.cpu;
        case Controller::memory: return report_.memory;
        case Controller::pids: return report_.pids;
        case Controller::disk_io: return report_.disk_io;
        case Controller::cpuset: break;
    }
    return report_.cpuset;
}
std::string& Cgroups::row(Controller c) { return const_cast<std::string&>(std::as_const(*this).row(c)); }

const Cgroups::Hierarchy* Cgroups::of(Controller c) const {
    const int at = place_[static_cast<std::size_t>(c)];
    return at < 0 ? nullptr : &hierarchies_[static_cast<std::size_t>(at)];
}
std::string Cgroups::folder(Controller c, const std::string& name) const {
    const Hierarchy* h = of(c);
    return h ? folder(*h, name) : std::string();
}
std::string Cgroups::mechanism(Controller c) const {
    const Hierarchy* h = of(c);
    return !h || !holds(c) ? "advisory" : h->v2 ? "cgroup v2" : "cgroup v1";
}

bool Cgroups::make_parent(std::string& why) {
    const auto cpus = std::max<long>(1, ::sysconf(_SC_NPROCESSORS_ONLN));
    for (const Hierarchy& h : hierarchies_) {
        const std::string at = h.mount + "/" + parent_;
        if (!make_group(at)) {
            why = "cannot make " + at + ": " + std::strerror(errno);
            return false;
        }
        if (h.v2) {
            for (const auto& folder : {h.mount, at})
                for (const auto name : v2_names)
                    if (!write_control(folder + "/cgroup.subtree_control", "+" + std::string(name))) continue;
        }
    }
    // All tasks together weigh as much as the machine has cores, against what else runs on it.
    if (const Hierarchy* h = of(Controller::cpu)) {
        const std::string at = h->mount + "/" + parent_;
        const auto weight = h->v2 ? std::min<long>(10'000, cpus * 100) : cpus * 1024;
        if (!write_control(at + (h->v2 ? "/cpu.weight" : "/cpu.shares"), std::to_string(weight))) {
        }
    }
    if (const Hierarchy* h = of(Controller::cpuset); h && !h->v2) fill_cpuset(h->mount + "/" + parent_);
    return true;
}

Result<GroupFiles> Cgroups::make(const std::string& name, const Limits& limits) {
    GroupFiles files;
    files.folders = make_plain(name);
    CRATER_TRY_VOID(apply(name, limits));
    if (const Hierarchy* h = of(Controller::memory); h && holds(Controller::memory))
        files.memory_events = folder(*h, name) + (h->v2 ? "/memory.events" : "/memory.oom_control");
    for (const Hierarchy& h : hierarchies_)
        if (h.v2 && exists(folder(h, name) + "/cgroup.kill"))
            files.cgroup_kill = folder(h, name) + "/cgroup.kill";
    return files;
}

std::vector<std::string> Cgroups::make_plain(const std::string& name) {
    std::vector<std::string> folders;
    for (const Hierarchy& h : hierarchies_)
        if (make_group(folder(h, name))) folders.push_back(folder(h, name));
    if (const Hierarchy* h = of(Controller::cpuset); h && !h->v2) fill_cpuset(folder(*h, name));
    return folders;
}

Result<void> Cgroups::apply(const std::string& name, const Limits& limits) {
    const auto at = [&](Controller c) { return holds(c) ? folder(c, name) : std::string(); };
    const auto v2 = [&](Controller c) { return of(c)->v2; };
    if (const auto to = at(Controller::cpuset); !to.empty()) CRATER_TRY_VOID(apply_cpuset(to, limits));
    if (const auto to = at(Controller::cpu); !to.empty())
        CRATER_TRY_VOID(apply_cpu(to, v2(Controller::cpu), limits));
    if (const auto to = at(Controller::memory); !to.empty() && limits.memory)
        CRATER_TRY_VOID(apply_memory(to, v2(Controller::memory), limits.memory));
    if (const auto to = at(Controller::pids); !to.empty() && limits.pids > 0)
        CRATER_TRY_VOID(write_control(to + "/pids.max", std::to_string(limits.pids)));
    if (const auto to = at(Controller::disk_io); !to.empty())
        CRATER_TRY_VOID(apply_disk(to, v2(Controller::disk_io), limits));
    return {};
}

Result<void> Cgroups::apply_cpu(const std::string& at, bool v2, const Limits& limits) const {
    const std::int64_t quota =
        limits.cpu_quota ? std::max<std::int64_t>(1000, limits.cpu_quota.value * period_us / 1000) : -1;
    // Unused time of a period may be used in a later one, up to one period's worth. Absent on older kernels.
    const std::string burst = at + (v2 ? "/cpu.max.burst" : "/cpu.cfs_burst_us");
    const bool bursts = exists(burst);
    if (bursts) CRATER_TRY_VOID(write_control(burst, "0"));
    if (v2) {
        if (limits.cpu)
            CRATER_TRY_VOID(write_control(at + "/cpu.weight", std::to_string(std::clamp<std::int64_t>(
                                                                  limits.cpu.value / 10, 1, 10'000))));
        CRATER_TRY_VOID(write_control(
            at + "/cpu.max", (quota < 0 ? "max" : std::to_string(quota)) + " " + std::to_string(period_us)));
    } else {
        if (limits.cpu)
            CRATER_TRY_VOID(write_control(at + "/cpu.shares", std::to_string(std::max<std::int64_t>(
                                                                  2, limits.cpu.value * 1024 / 1000))));
        CRATER_TRY_VOID(write_control(at + "/cpu.cfs_period_us", std::to_string(period_us)));
        CRATER_TRY_VOID(write_control(at + "/cpu.cfs_quota_us", std::to_string(quota)));
    }
    if (bursts && quota > 0) CRATER_TRY_VOID(write_control(burst, std::to_string(quota)));
    return {};
}

Result<void> Cgroups::apply_memory(const std::string& at, bool v2, Bytes limit) const {
    const std::string bytes = std::to_string(limit.value);
    if (v2) {
        CRATER_TRY_VOID(write_control(at + "/memory.max", bytes));
        if (exists(at + "/memory.swap.max")) CRATER_TRY_VOID(write_control(at + "/memory.swap.max", "0"));
        if (exists(at + "/memory.oom.group")) CRATER_TRY_VOID(write_control(at + "/memory.oom.group", "1"));
        return {};
    }
    // Memory with swap may never be less than memory alone, so the order depends on the direction.
    const std::string plain = at + "/memory.limit_in_bytes", with_swap = at + "/memory.memsw.limit_in_bytes";
    const bool swap = exists(with_swap);
    if (!swap || write_control(plain, bytes)) {
        if (swap) return write_control(with_swap, bytes);
        return write_control(plain, bytes);
    }
    CRATER_TRY_VOID(write_control(with_swap, bytes));
    return write_control(plain, bytes);
}

Result<void> Cgroups::apply_disk(const std::string& at, bool v2, const Limits& limits) const {
    if (limits.disk.empty() || (!limits.disk_iops && !limits.disk_bandwidth)) return {};
    const std::string device = disk_number(limits.disk);
    if (device.empty()) return fail(Code::invalid, "disk " + limits.disk + " is not on this machine");
    if (v2) {
        std::string line = device;
        if (limits.disk_iops)
            line += " riops=" + std::to_string(limits.disk_iops.value) +
                    " wiops=" + std::to_string(limits.disk_iops.value);
        if (limits.disk_bandwidth)
            line += " rbps=" + std::to_string(limits.disk_bandwidth.value) +
                    " wbps=" + std::to_string(limits.disk_bandwidth.value);
        return write_control(at + "/io.max", line);
    }
    for (const char* direction : {"read", "write"}) {
        const std::string file = at + "/blkio.throttle." + direction;
        if (limits.disk_iops)
            CRATER_TRY_VOID(
                write_control(file + "_iops_device", device + " " + std::to_string(limits.disk_iops.value)));
        if (limits.disk_bandwidth)
            CRATER_TRY_VOID(write_control(file + "_bps_device",
                                          device + " " + std::to_string(limits.disk_bandwidth.value)));
    }
    return {};
}

Result<void> Cgroups::apply_cpuset(const std::string& at, const Limits& limits) const {
    if (limits.numa_node >= 0)
        CRATER_TRY_VOID(write_control(at + "/cpuset.mems", std::to_string(limits.numa_node)));
    if (!limits.cpu_set.empty())
        CRATER_TRY_VOID(write_control(at + "/cpuset.cpus", format_set(limits.cpu_set)));
    return {};
}

GroupUsage Cgroups::usage(const std::string& name) const {
    GroupUsage usage;
    for (const Hierarchy& h : hierarchies_) {
        const std::string at = folder(h, name);
        const auto text = [&](const char* file) { return read_text(at + "/" + file); };
        if (h.v2) {
            if (const auto stat = text("cpu.stat"); stat && of(Controller::cpu) == &h)
                usage.cpu_us = keyed(*stat, "usage_usec"), usage.known = true;
            if (const auto now = text("memory.current"))
                usage.memory_bytes = std::max<std::int64_t>(
                    0, number_of(*now) - keyed(text("memory.stat").value_or(""), "inactive_file"));
            if (const auto now = text("pids.current")) usage.pids = number_of(*now);
            for (const auto& part : words(text("io.stat").value_or(""), ' ')) {
                if (part.starts_with("rbytes=")) usage.read_bytes += number_of(part.substr(7));
                if (part.starts_with("wbytes=")) usage.write_bytes += number_of(part.substr(7));
            }
            continue;
        }
        if (const auto ns = text("cpuacct.usage")) usage.cpu_us = number_of(*ns) / 1000, usage.known = true;
        if (const auto now = text("memory.usage_in_bytes"))
            usage.memory_bytes = std::max<std::int64_t>(
                0, number_of(*now) - keyed(text("memory.stat").value_or(""), "total_inactive_file"));
        if (const auto now = text("pids.current")) usage.pids = number_of(*now);
        for (const auto& line : words(text("blkio.throttle.io_service_bytes").value_or(""), '\n')) {
            const auto part = words(line, ' ');
            if (part.size() != 3) continue;
            if (part[1] == "Read") usage.read_bytes += number_of(part[2]);
            if (part[1] == "Write") usage.write_bytes += number_of(part[2]);
        }
    }
    return usage;
}

void Cgroups::kill(const std::string& name) const {
    for (const Hierarchy& h : hierarchies_) {
        const std::string at = folder(h, name);
        if (h.v2 && write_control(at + "/cgroup.kill", "1")) continue;
        std::istringstream members(read_text(at + "/cgroup.procs").value_or(""));
        for (pid_t pid = 0; members >> pid;)
            if (pid > 1) ::kill(pid, SIGKILL);
    }
}

bool Cgroups::remove(const std::string& name) const {
    bool gone = true;
    for (const Hierarchy& h : hierarchies_)
        if (::rmdir(folder(h, name).c_str()) != 0 && errno != ENOENT) gone = false;
    return gone;
}

std::vector<std::string> Cgroups::names() const {
    std::vector<std::string> all;
    for (const Hierarchy& h : hierarchies_)
        for (auto& name : list_folder(h.mount + "/" + parent_))
            if (std::filesystem::is_directory(folder(h, name))) all.push_back(std::move(name));
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

}  // namespace crater::run
