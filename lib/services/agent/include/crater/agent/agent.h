// The agent of one node: tells the scheduler what the node has and how it does, takes orders, runs tasks,
// reports what became of them.
//
// Orders are idempotent and carry the leader's term; an older term is refused. A report is repeated until
// acknowledged, in order, and survives a restart of the agent because the runtime keeps the exit record until
// `Forget`/acknowledgement. The agent keeps its own table of what it holds and refuses an order that would
// put a device over its capacity, whatever the scheduler believes.
//
// Lives on one loop. Time, chance, hardware, runtime and network are parameters; the simulator drives this
// very class.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "crater/agent/specs.h"
#include "crater/base/clock.h"
#include "crater/base/describe.h"
#include "crater/hw/source.h"
#include "crater/run/runtime.h"
#include "crater/wire/link.h"

namespace crater::agent {

struct ResourcePool {
    std::string name, type, path;  // type: gpu, cpu, memory, disk
    std::vector<std::int64_t> devices;
    std::int64_t cores = 0, reserved_cores = 0;
    Bytes size;
};
template <class V>
void describe(V& v, ResourcePool& p) {
    v.field("name", p.name, "Pool.", {.required = true});
    v.field("type", p.type, "gpu, cpu, memory or disk.", {.required = true});
    v.field("devices", p.devices, "GPU indexes.");
    v.field("cores", p.cores, "Cores.", {.minimum = 0, .maximum = 1e6});
    v.field("reserved_cores", p.reserved_cores, "Cores kept for the system.", {.minimum = 0, .maximum = 1e6});
    v.field("size", p.size, "Most of the memory or disk that is offered.");
    v.field("path", p.path, "Folder on the disk that `size` bounds; all disks when absent.");
}

// How long what ended tasks left stays on the node; 0 = for ever. See agent/retention.h.
struct RetentionConfig {
    Millis logs{7ll * 86'400'000};
    Millis checkpoints{30ll * 86'400'000};
    Millis output{90ll * 86'400'000};
    double disk_free_min_percent = 5;
};
template <class V>
void describe(V& v, RetentionConfig& r) {
    v.field("logs", r.logs, "Log, record and working folder of an ended task; 0 keeps them.");
    v.field("checkpoints", r.checkpoints,
            "Checkpoints of a job after its last attempt on this node; 0 keeps them.");
    v.field("output", r.output, "Output of a job after its last attempt on this node; 0 keeps it.");
    v.field(
        "disk_free_min_percent", r.disk_free_min_percent,
        "With less of the data folder's disk free, logs and working folders of ended tasks go before their time, oldest first; 0 is off.",
        {.minimum = 0, .maximum = 90});
}

struct CacheConfig {
    std::string path;  // empty: /crater-cache where that is, else `data`/cache
};
template <class V>
void describe(V& v, CacheConfig& c) {
    v.field(
        "path", c.path,
        "Root of the node's cache: dataset/ID and model/ID below it; /crater-cache where that is, else data/cache.");
}
// The folder that the configuration means.
std::string cache_root(const struct Config& config);

// /etc/crater/agent.yaml. SPEC 4.
struct Config {
    std::vector<std::string> scheduler_endpoint;  // one or more; a single string is accepted
    std::string node_name;                        // the host's name when absent
    std::map<std::string, std::string> labels;
    std::vector<ResourcePool> resource_pools;
    std::string data = "/var/lib/crater";
    std::string token_file;
    std::string task_user = "crater-task";
    bool allow_root_tasks = false;
    bool allow_unenforced = false;
    std::string probe_config;
    Millis heartbeat_interval{10'000};  // the scheduler's value wins
    Millis heartbeat_timeout{30'000};
    RetentionConfig retention;
    CacheConfig cache;
    std::string log_level;  // empty: --log-level's
};
template <class V>
void describe(V& v, Config& c) {
    v.field("scheduler_endpoint", c.scheduler_endpoint, "URL of the scheduler; one or more.");
    v.field("node_name", c.node_name, "Name of this node; the host's name when absent.");
    v.field("labels", c.labels, "Labels.");
    v.field("resource_pools", c.resource_pools,
            "What of this machine Crater may use; what is left out is detected.");
    v.field("data", c.data, "Folder for tasks, logs and records.");
    v.field("token_file", c.token_file, "File with a token of the role agent-join.");
    v.field("task_user", c.task_user, "Account tasks run as.");
    v.field("allow_root_tasks", c.allow_root_tasks, "Whether an admin's job may run as root.");
    v.field("allow_unenforced", c.allow_unenforced,
            "Run tasks even where a limit cannot be held; shown as advisory.");
    v.field("probe_config", c.probe_config, "Calibration values.");
    v.field("heartbeat_interval", c.heartbeat_interval, "How often to report; the scheduler's value wins.");
    v.field("heartbeat_timeout", c.heartbeat_timeout, "Silence after which the link is dialled again.");
    v.field("retention", c.retention, "How long what ended tasks left stays here.");
    v.field("cache", c.cache, "Where datasets and models of which jobs know lie.");
    v.field("log_level", c.log_level, "debug, info, warning or error; --log-level when absent.");
}
// `scheduler`: the URL to use in place of those in the text.
Result<Config> read_config(std::string_view yaml, std::string_view scheduler = {});
// The top-level settings in which two configurations differ.
std::vector<std::string> changed_settings(const Config& a, const Config& b);

struct Env {
    const Clock& clock;
    Loop& loop;
    Rng& rng;
    hw::Source& source;
    run::Runtime& runtime;
    wire::Connector& connector;
    std::shared_ptr<Specs> specs = std::make_shared<Specs>();  // of agents on one loop one may do
};

struct Held {
    Allocation allocation;
    Millis grace{0};  // between SIGTERM and SIGKILL
    State state = State::preparing;
    Instant started;
};

class Agent {
  public:
    Agent(Config config, Env env);
    ~Agent();
    void start();  // adopts what still runs, then dials until it is told to stop
    // Ends the link. With `stop_tasks` every task gets SIGTERM and its grace first; `done` runs when all have
    // ended.
    void stop(bool stop_tasks, std::function<void()> done);

    // The configuration was read again: labels, pools and retention hold at once; what needs a restart is
    // named.
    struct Reloaded {
        std::vector<std::string> applied, at_restart;
    };
    Reloaded reload(Config config);

    // Its own books: what it holds, by (job, task, attempt).
    const std::map<run::TaskId, Held>& table() const;
    bool connected() const;

  private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

// The link between an inventory's capacity and a set of allocations: the first device that would be over, in
// words. Used by the agent before it takes an order, and by the simulator's checker.
Result<void> check_capacity(const NodeInventory& inventory, const std::map<run::TaskId, Held>& table,
                            const Allocation& extra);

}  // namespace crater::agent
