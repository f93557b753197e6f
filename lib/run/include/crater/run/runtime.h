// How a task is started, held to its slices, stopped and found again. The agent owns one Runtime per kind
// (`process`, `none`).
//
// A task is named by (job, index, attempt). `start` and `stop` answer through events on the owner's loop;
// starting the same task again is harmless. Tasks outlive the agent: after a restart `adopt` returns what
// still runs and every exit that happened meanwhile.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "crater/base/clock.h"
#include "crater/base/error.h"
#include "crater/model/allocation.h"
#include "crater/model/job.h"
#include "crater/model/node.h"

namespace crater::run {

struct TaskId {
    std::string job;
    std::int64_t task = 0, attempt = 0;
    auto operator<=>(const TaskId&) const = default;
    std::string text() const { return job + "." + std::to_string(task) + "." + std::to_string(attempt); }
};

struct Launch {
    TaskId id;
    JobSpec spec;
    Allocation allocation;
    std::map<std::string, std::string> env;  // CRATER_* and gang variables, already complete
    std::string tenant;
    bool run_as_root = false;
};

// What happens to a task. `state` is preparing, running, or a final one; final events carry the exit.
struct TaskEvent {
    TaskId id;
    State state = State::preparing;
    Reason reason = Reason::none;
    std::string detail;
    std::int64_t exit_code = -1;  // 128 + signal when killed by one
    Instant at;
    bool advisory = false;  // a limit could not be enforced and the node allows that
};

struct TaskUsage {
    TaskId id;
    double cpu_cores = 0;
    Bytes memory;
    std::int64_t read_bytes = 0, write_bytes = 0, pids = 0;
};

struct Adopted {
    Launch launch;
    TaskEvent last;  // running, or the exit that happened meanwhile
};

// An ended attempt whose exit is known where it must be, and whose record, log and folder are still here.
struct Kept {
    TaskId id;
    Instant ended;
};
// A folder of a job that outlives its attempts.
struct JobFolder {
    enum class Kind { checkpoints, output } kind = Kind::checkpoints;
    std::string job;
    Instant used;  // when its last attempt here ended
};
// Of the disk below the runtime's data; total 0 = unknown.
struct Space {
    Bytes free, total;
};

class Runtime {
  public:
    using Listener = std::function<void(TaskEvent)>;
    virtual ~Runtime() = default;
    // Before anything else. Events come on the owner's loop.
    virtual void listen(Listener listener) = 0;
    // What runs and what ended, as found now; a start that a crash interrupted is carried on, limits are set
    // again. No events for what is returned here, only for what follows.
    virtual std::vector<Adopted> adopt() = 0;
    // A task that is known already answers with its last event again.
    virtual void start(Launch launch) = 0;
    // SIGTERM to the task's processes, SIGKILL after `grace`. The final event then has state `outcome` and
    // the given reason, unless the task had already ended by itself. A task that is not here answers with
    // `outcome` at once; a second stop may shorten the grace and change the outcome.
    virtual void stop(const TaskId& id, Millis grace, State outcome, Reason reason, std::string detail) = 0;
    // The exit of an ended task is known where it must be: `adopt` does not return it again. Its log and
    // folder stay until `forget`.
    virtual void settle(const TaskId& id) { (void)id; }
    // Drops the record, logs and folder of an ended task; a running one is ignored.
    virtual void forget(const TaskId& id) = 0;
    // What could be dropped: who does so, and when, is the owner's business (agent/retention.h).
    virtual std::vector<Kept> kept() { return {}; }
    virtual std::vector<JobFolder> job_folders() { return {}; }  // of jobs of which nothing runs here
    virtual void drop(const JobFolder& folder) { (void)folder; }
    virtual Space space() { return {}; }
    virtual std::vector<TaskUsage> usage() = 0;
    // Bytes of the task's log from `offset`; the offset after them. not_found when there is no such log.
    virtual Result<std::pair<std::string, std::int64_t>> log(const TaskId& id, std::int64_t offset,
                                                             std::size_t bytes_max) = 0;
    virtual Enforcement enforcement() const = 0;
};

struct ProcessOptions {
    // DIR: DIR/tasks/<id>/{launch.json,exit.json,shim.pid,work/}, DIR/logs/<id>.log, DIR/checkpoints/<job>/
    std::string data;
    std::string shim;  // path of crater-shim
    // ensure_task_user makes it; without it tasks run as nobody, without root as the agent's user
    std::string task_user = "crater-task";
    bool allow_root_tasks = false;
    // run where a limit cannot be held; shown as advisory. Otherwise the task is refused
    bool allow_unenforced = false;
    bool simulated = false;  // a simulated node: no limits, no device check
    std::string cgroup_parent = "crater";
    std::size_t log_bytes_max = 64u << 20;  // per task; then rotated once
    Millis poll{200};
};
Result<std::unique_ptr<Runtime>> process_runtime(ProcessOptions options, Loop& loop, const Clock& clock);

// Makes the unprivileged system account that tasks run as, when it is absent; needs root. For `crater up` and
// packages.
Result<void> ensure_task_user(const std::string& name = "crater-task");
// The environment of a task as far as its node knows it (SPEC 4); the launch's own variables win over these,
// these over the user's.
std::map<std::string, std::string> task_environment(const Launch& launch, const ProcessOptions& options);
// Where the job's output is, seen from the node: the folder it names when that exists or is mounted, else
// DIR/output/<job>.
std::string output_path(const Launch& launch, const ProcessOptions& options);

// `none`: a task occupies its slices for its spec's `duration` (1 s when absent) and succeeds; with a time
// limit below that, it fails by it. Lives in memory only: `adopt` returns nothing after a restart.
std::unique_ptr<Runtime> occupying_runtime(Loop& loop, const Clock& clock);

// Which cgroup mechanism this machine offers and what was really seen to hold in a scratch group. For doctor
// and the inventory.
struct CgroupReport {
    std::string version;                             // "v1", "hybrid", "v2", "none"
    std::string cpu, memory, pids, disk_io, cpuset;  // "enforced", or why not
};
CgroupReport probe_cgroups(const std::string& parent = "crater");

}  // namespace crater::run
