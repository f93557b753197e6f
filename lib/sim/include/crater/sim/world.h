// A whole cluster in one process under a seed: the real scheduler and agent services over a virtual clock,
// network and disk, virtual machines and tasks. One queue of events ordered by (time, insertion number);
// everything random comes from the seed; two runs of a seed give the same trace.
//
//     World world({.seed = 7, .agents = 2});
//     world.submit(...); world.inject({.fault = Fault::partition, .at = 20s, .node = 1, .span = 30s});
//     world.run_for(1min); world.heal(); world.run_until_idle(10min);
//
// Checkers look after every step (checkers.h); a violation ends the run with a sentence and the trace.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "crater/hw/source.h"
#include "crater/model/job.h"
#include "crater/model/node.h"
#include "crater/model/tenant.h"
#include "crater/sim/coverage.h"
#include "crater/sim/faults.h"

namespace crater::sim {

// What is always so, beside the faults that are injected.
struct Weather {
    double message_loss = 0;  // a lost message closes its link, as TCP does
    Millis delay_max{50};     // of a message
    Millis commit_latency_max{20};
    Millis restart_delay_max{5'000};
    Millis clock_skew_max{0};  // of each process from the true time, either way
    int callback_failures_percent = 20;
    int task_failures_percent = 8;
};
// How the cluster is set; a seed draws it within bounds.
struct Settings {
    Millis heartbeat_interval{5'000}, heartbeat_timeout{15'000}, lost_grace{20'000};
    Millis defragment_every{0};     // 0 = not by itself
    Millis min_run_time{60'000};    // of a victim
    std::vector<QueueSpec> queues;  // empty = the shipped ones
};
struct WorldOptions {
    std::uint64_t seed = 1;
    int agents = 2;  // equal ones, n1, n2 ...
    int gpus_per_node = 4;
    std::vector<hw::SimulatedNode> nodes;  // or these
    Weather weather;
    Settings settings;
};
struct Violation {
    std::string checker, text;
};
struct Counts {
    std::uint64_t events = 0, faults = 0, messages = 0, commits = 0, submitted = 0;
    std::uint64_t faults_without_effect = 0;  // injected where there was nothing to strike
};

class World {
  public:
    explicit World(WorldOptions options);
    ~World();

    // ---- what clients do: each goes on asking until it was heard ----
    // Remembered as acknowledged when the reply came.
    void submit(JobSpec spec, std::string id);
    void cancel(std::string id);
    void evict(std::string id);  // and resume it a little later
    void drain(int node, bool evict, Millis span);
    void taint(int node, Millis span);
    void maintain(int node, Millis after, Millis span);
    void set_quota(std::string tenant, Quota hard);
    void defragment();

    // ---- what goes wrong ----
    void inject(const Injection& injection);
    void heal();  // no more faults, and no more failing callbacks, links or tasks

    void run_for(Millis span);
    // Until every acknowledged job that can run has ended, or the limit; true when idle.
    bool run_until_idle(Millis limit);

    // Ids of the jobs whose submit was answered, in that order.
    const std::vector<std::string>& acknowledged() const;
    const std::vector<Violation>& violations() const;
    const Coverage& coverage() const;
    Counts counts() const;
    std::uint64_t events() const;
    Millis elapsed() const;            // of virtual time
    std::uint64_t trace_hash() const;  // of all that happened
    std::string trace(std::size_t last) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace crater::sim
