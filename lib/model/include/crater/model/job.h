// What a user submits (JobSpec, immutable once accepted) and what becomes of it (JobStatus). SPEC 10.5.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "crater/model/allocation.h"
#include "crater/model/node.h"
#include "crater/model/resources.h"
#include "crater/model/state.h"

namespace crater {

enum class JobType { unset, training, inference, batch, interactive };
inline std::span<const EnumName<JobType>> enum_names(JobType) {
    static constexpr EnumName<JobType> names[] = {{JobType::unset, ""},
                                                  {JobType::training, "training"},
                                                  {JobType::inference, "inference"},
                                                  {JobType::batch, "batch"},
                                                  {JobType::interactive, "interactive"}};
    return names;
}

// low 100, medium 500, high 700, critical 900, or 0..1000; -1 = not given (the queue's).
struct Priority {
    int value = -1;
    bool operator==(const Priority&) const = default;
};
Result<void> from_text(std::string_view text, Priority& out);
std::string to_text(const Priority& priority);

// What runs: in documents a list of arguments, or one string for /bin/sh -c.
struct Command {
    std::vector<std::string> argv;  // already {"/bin/sh","-c",text} when it was a string
    bool operator==(const Command&) const = default;
};
inline Result<void> from_list(std::vector<std::string> words, Command& out) {
    out.argv = std::move(words);
    return {};
}
inline Result<void> from_text(std::string_view text, Command& out) {
    if (text.empty()) return fail(Code::invalid, "the command is empty");
    out.argv = {"/bin/sh", "-c", std::string(text)};
    return {};
}
inline std::vector<std::string> to_list(const Command& command) { return command.argv; }

struct Mount {
    std::string source, target;
    bool read_only = false;
};
template <class V>
void describe(V& v, Mount& m) {
    v.field("source", m.source, "Path on the node.", {.required = true});
    v.field("target", m.target, "Path in the task.", {.required = true});
    v.field("read_only", m.read_only, "Not writable by the task.");
}

struct NodeConstraint {
    std::map<std::string, std::string> labels;  // all must match
    std::vector<std::string> include, exclude;  // node names
    std::string pool;
    bool exclusive = false;
};
template <class V>
void describe(V& v, NodeConstraint& n) {
    v.field("labels", n.labels, "Labels that the node must carry.");
    v.field("include", n.include, "Only these nodes.");
    v.field("exclude", n.exclude, "Never these nodes.");
    v.field("pool", n.pool, "Named pool the node must belong to.");
    v.field("exclusive", n.exclusive, "No other job on the node.");
}

enum class NumaPolicy { best_effort, strict, none };
inline std::span<const EnumName<NumaPolicy>> enum_names(NumaPolicy) {
    static constexpr EnumName<NumaPolicy> names[] = {
        {NumaPolicy::best_effort, "best_effort"}, {NumaPolicy::strict, "strict"}, {NumaPolicy::none, "none"}};
    return names;
}

// How near the tasks of a job are to be to each other. Nodes say where they stand by the labels topology.rack
// and topology.spine.
enum class TopologyLevel { none, node, rack, spine };
inline std::span<const EnumName<TopologyLevel>> enum_names(TopologyLevel) {
    static constexpr EnumName<TopologyLevel> names[] = {{TopologyLevel::none, ""},
                                                        {TopologyLevel::node, "node"},
                                                        {TopologyLevel::rack, "rack"},
                                                        {TopologyLevel::spine, "spine"}};
    return names;
}
inline constexpr std::string_view rack_label = "topology.rack", spine_label = "topology.spine";
struct Topology {
    TopologyLevel level = TopologyLevel::none;
    bool required = false;
};
template <class V>
void describe(V& v, Topology& t) {
    v.field("level", t.level, "Its tasks stand on one node, in one rack or under one spine switch.");
    v.field("required", t.required, "Nowhere else; otherwise the next level up where one has no room.");
}

struct JobSelector {
    std::map<std::string, std::string> labels;  // all must match; never empty
};
template <class V>
void describe(V& v, JobSelector& s) {
    v.field("labels", s.labels, "Labels that a job carries, all of them.", {.required = true});
}
// Holds both ways: a job that is kept away from is kept away.
struct AntiAffinity {
    std::vector<JobSelector> jobs;
    bool spread_tasks = false;
};
template <class V>
void describe(V& v, AntiAffinity& a) {
    v.field("jobs", a.jobs,
            "Other jobs that share no node with it: any that carries the labels of one of these.");
    v.field("spread_tasks", a.spread_tasks, "Each of its tasks on another node.");
}

// What the datasets and models that a job names mean for where it goes: to the nodes that have most of them
// in their cache, or to those alone that have all of them.
enum class DataLocality { preferred, required };
inline std::span<const EnumName<DataLocality>> enum_names(DataLocality) {
    static constexpr EnumName<DataLocality> names[] = {{DataLocality::preferred, "preferred"},
                                                       {DataLocality::required, "required"}};
    return names;
}

enum class RestartPolicy { never, on_failure };
inline std::span<const EnumName<RestartPolicy>> enum_names(RestartPolicy) {
    static constexpr EnumName<RestartPolicy> names[] = {{RestartPolicy::never, "never"},
                                                        {RestartPolicy::on_failure, "on_failure"}};
    return names;
}
struct Restart {
    RestartPolicy policy = RestartPolicy::never;
    std::int64_t max = 3;
};
template <class V>
void describe(V& v, Restart& r) {
    v.field("policy", r.policy, "When a failed task is started again.");
    v.field("max", r.max, "How many times.", {.minimum = 0, .maximum = 100});
}

struct JobSpec {
    std::string name;
    std::map<std::string, std::string> labels;
    JobType type = JobType::unset;  // inferred when unset
    std::string queue;              // empty: the queue of the type
    std::string tenant;             // empty: the submitter's
    Priority priority;
    std::int64_t tasks = 1;
    Resources resources;  // per task
    std::string image;
    Command command;
    std::string working_dir;
    std::map<std::string, std::string> env;
    std::vector<Mount> mounts;
    NodeConstraint node;
    NumaPolicy numa_binding_policy = NumaPolicy::best_effort;
    Topology topology;
    AntiAffinity anti_affinity;
    std::vector<Toleration> tolerations;
    DataLocality data_locality = DataLocality::preferred;
    std::vector<std::string> datasets, models;  // ids
    bool prefer_low_utilization = false;
    std::optional<bool> preemptible;  // absent: the queue's default
    Millis grace_period{30'000};
    Millis max_queue_time{0};  // 0 = no limit
    Millis duration{0};        // expected; 0 = unknown
    Millis time_limit{0};      // 0 = none
    double min_gpu_utilization_percent = 0;
    std::vector<std::string> after_ok, after_any;
    std::string output;
    std::string quota_policy;
    Restart restart;
    std::int64_t array = 0;  // jobs that one submission becomes; 0 = it is one
};
template <class V>
void describe(V& v, JobSpec& j) {
    v.field("name", j.name, "Name for people; any printable text up to 128 characters.");
    v.field("labels", j.labels, "Free labels.");
    v.field("type", j.type, "Kind of work; inferred from the command when absent.",
            {.alias = "workload_type"});
    v.field("queue", j.queue, "Queue to wait in; by type when absent.");
    v.field("tenant", j.tenant, "Who pays: names joined by /.");
    v.field("priority", j.priority, "low 100, medium 500, high 700, critical 900, or 0 to 1000.");
    v.field("tasks", j.tasks, "Equal tasks placed together.", {.minimum = 1, .maximum = 4096});
    v.field("resources", j.resources, "What each task needs.");
    v.field("image", j.image, "Container image; needs the docker runtime.");
    v.field("command", j.command, "What runs: a list, or a string for /bin/sh -c.");
    v.field("working_dir", j.working_dir, "Absolute path the command starts in.");
    v.field("env", j.env,
            "Environment; values of *TOKEN*, *SECRET*, *PASSWORD*, *KEY* are masked when shown.");
    v.field("mounts", j.mounts, "Paths to mount.");
    v.field("node", j.node, "Which nodes may serve.");
    v.field("numa_binding_policy", j.numa_binding_policy, "strict refuses cross-domain placement.");
    v.field("topology", j.topology, "How near its tasks are to each other.");
    v.field("anti_affinity", j.anti_affinity, "Which tasks share no node.");
    v.field("tolerations", j.tolerations, "Taints of nodes that do not keep it away.");
    v.field("data_locality", j.data_locality,
            "preferred: it goes where most of its data is cached; required: only where all of it is.");
    v.field("datasets", j.datasets, "Ids of datasets that it reads.");
    v.field("models", j.models, "Ids of models whose weights it loads.");
    v.field("prefer_low_utilization", j.prefer_low_utilization,
            "It goes to nodes whose cards are really used least, for work that stands ready (warm pools).");
    v.field("preemptible", j.preemptible,
            "Whether it may be stopped for others; the queue's default when absent.");
    v.field("grace_period", j.grace_period, "Time between SIGTERM and SIGKILL.");
    v.field("max_queue_time", j.max_queue_time, "Longest wait wanted.");
    v.field("duration", j.duration, "Expected run time; drives estimates, and is no limit.");
    v.field("time_limit", j.time_limit, "The run is ended after this.");
    v.field("min_gpu_utilization_percent", j.min_gpu_utilization_percent, "Least GPU use expected.",
            {.minimum = 0, .maximum = 100});
    v.field("after_ok", j.after_ok, "Jobs that must finish well first.");
    v.field("after_any", j.after_any, "Jobs that must end first.");
    v.field("output", j.output, "Folder kept and listed when the job ends.");
    v.field("quota_policy", j.quota_policy, "Named set of caps the job is put under.");
    v.field("restart", j.restart, "What happens when a task fails.");
    v.field("array", j.array, "That many independent jobs, each with its CRATER_ARRAY_INDEX from 0.",
            {.minimum = 0, .maximum = 10000});
}

struct TaskStatus {
    std::int64_t index = 0;
    State state = State::pending;
    Reason reason = Reason::none;
    std::string detail;
    std::int64_t attempt = 0;              // starts counted from 1; 0 = never started
    Instant since;                         // when `state` was entered
    std::optional<Allocation> allocation;  // held while state_row(state).holds
    std::int64_t exit_code = -1;           // of the last attempt; -1 = none yet
    Instant started, ended;                // of the last attempt
};
template <class V>
void describe(V& v, TaskStatus& t) {
    v.field("index", t.index, "Place in the job, from 0.");
    v.field("state", t.state, "State.");
    v.field("reason", t.reason, "Why it is in this state.");
    v.field("detail", t.detail, "Why, in particular.");
    v.field("attempt", t.attempt, "Which start this is, from 1.");
    v.field("since", t.since, "When the state was entered.");
    v.field("allocation", t.allocation, "The exact slices it holds.");
    v.field("exit_code", t.exit_code, "Exit code of the last attempt; -1 when none.");
    v.field("started", t.started, "Start of the last attempt.");
    v.field("ended", t.ended, "End of the last attempt.");
}

struct JobStatus {
    std::string id;
    State state = State::pending;
    Reason reason = Reason::submitted;
    std::string detail;
    Instant submitted, started, ended;  // first start; final end
    std::int64_t preemptions = 0, restarts = 0;
    std::vector<TaskStatus> tasks;
    std::int64_t sequence = 0;  // of the last status callback
};
template <class V>
void describe(V& v, JobStatus& j) {
    v.field("id", j.id, "Job id.");
    v.field("state", j.state, "State, the least advanced of its tasks'.");
    v.field("reason", j.reason, "Why it is in this state.");
    v.field("detail", j.detail, "Why, in particular.");
    v.field("submitted", j.submitted, "When it was accepted.");
    v.field("started", j.started, "When it first started.");
    v.field("ended", j.ended, "When it ended.");
    v.field("preemptions", j.preemptions, "How often it was stopped for others.");
    v.field("restarts", j.restarts, "How often it was started again after a failure.");
    v.field("tasks", j.tasks, "Its tasks.");
    v.field("sequence", j.sequence, "Number of the last status change told to others.");
}

}  // namespace crater
