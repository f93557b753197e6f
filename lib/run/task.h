// A task on disk: where its files are, who it runs as, what it sees, and the launch file that tells the shim
// all of it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "cgroup.h"
#include "crater/base/describe.h"
#include "crater/run/runtime.h"

namespace crater::run {

// DIR is options.data, absolute and without links.
struct TaskPaths {
    std::string folder, work, temp, root, log, checkpoints, output;
};
TaskPaths task_paths(const ProcessOptions& options, const TaskId& id);

struct TaskUser {
    uid_t uid = 65534;
    gid_t gid = 65534;
    std::string name = "nobody";
};
// As root: the account `name`, else nobody; else who we are.
TaskUser task_user(const std::string& name);
// Whether mount, pid and ipc namespaces can be had. Tried once, in a child.
bool namespaces_work();

// Launch as it is kept in launch.json, with the boot it was made in.
struct LaunchRecord {
    std::string job;
    std::int64_t task = 0, attempt = 0;
    JobSpec spec;
    Allocation allocation;
    std::map<std::string, std::string> env;
    std::string tenant, boot;
    bool run_as_root = false;
};
template <class V>
void describe(V& v, LaunchRecord& r) {
    v.field("job", r.job, "Job.");
    v.field("task", r.task, "Task of the job.");
    v.field("attempt", r.attempt, "Which start.");
    v.field("spec", r.spec, "What runs.");
    v.field("allocation", r.allocation, "Its slices.");
    v.field("env", r.env, "Environment.");
    v.field("tenant", r.tenant, "Who pays.");
    v.field("boot", r.boot, "The machine's boot.");
    v.field("run_as_root", r.run_as_root, "Runs as root.");
}
std::string format_launch(const Launch& launch, const std::string& boot);
std::optional<std::pair<Launch, std::string>> parse_launch(const std::string& text);  // with its boot
std::string boot_id();

// What is wrong with the command, the working folder or the mounts, before anything is made; "" when nothing.
std::string launch_problem(const Launch& launch, const ProcessOptions& options);

struct Setting {
    bool namespaces = false;
    TaskUser user;
    GroupFiles groups;
    std::vector<std::string> shim_groups;
};
// Content of shim.launch (shim/launch.h).
std::string shim_launch(const Launch& launch, const ProcessOptions& options, const Setting& setting);

// How a task ended, from the shim's record.
TaskEvent final_event(const TaskId& id, const std::string& exit_text, const std::string& stop_text);
std::string format_stop(Millis grace, State outcome, Reason reason, const std::string& detail);

}  // namespace crater::run
