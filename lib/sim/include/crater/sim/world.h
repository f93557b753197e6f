// A whole cluster in one process under a seed: the real scheduler and agent services over a virtual clock, network and disk. One queue of
// events ordered by (time, insertion number); everything random comes from the seed; two runs of a seed give the same trace.
//
//     World world({.seed = 7, .agents = 2});
//     world.submit(...); world.run_for(1min); world.crash_scheduler(); world.run_until_idle(10min);
//
// Checkers run after each step; a violation ends the run with a sentence and the trace.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "crater/model/job.h"
#include "crater/model/node.h"
#include "crater/model/tenant.h"

namespace crater::sim {

struct Faults {
    double message_loss = 0;         // a lost message closes its link, as TCP does
    Millis delay_max{50};            // of a message
    Millis commit_latency_max{20};
    double crash_per_minute = 0;     // of each service
    Millis restart_delay_max{5'000};
};
struct WorldOptions {
    std::uint64_t seed = 1;
    int agents = 2;
    int gpus_per_node = 4;
    Faults faults;
};
struct Violation { std::string checker, text; };

class World {
  public:
    explicit World(WorldOptions options);
    ~World();
    // Submits through the scheduler's own command; remembered as acknowledged when the reply came.
    void submit(JobSpec spec, std::string id);
    void cancel(std::string id);
    void evict(std::string id);   // and resume it a little later
    void drain(int index, bool evict, Millis span);
    void set_quota(std::string tenant, Quota hard);
    void crash_scheduler();            // loses what is not durable; comes back after a random delay
    void crash_agent(int index);       // its tasks live on
    void reboot(int index);            // they do not
    void fill_disk();                  // the scheduler's next commit fails: it ends and is started anew
    void partition(int index, Millis span);
    void heal();                       // no more faults
    void run_for(Millis span);
    // Until every acknowledged job that can run has ended, or the limit; true when idle.
    bool run_until_idle(Millis limit);

    // Ids of the jobs whose submit was answered, in that order.
    const std::vector<std::string>& acknowledged() const;
    const std::vector<Violation>& violations() const;
    std::uint64_t events() const;
    std::uint64_t trace_hash() const;  // of all that happened
    std::string trace(std::size_t last) const;

  private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace crater::sim
