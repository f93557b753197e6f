// Drives Crater's own engine in simulated time, as the scheduler does: facts in, a pass, decisions out.
#pragma once

#include "crater/engine/engine.h"
#include "crater/replay/timed.h"

namespace crater::replay {

engine::Settings timed_settings(const TimedOptions& options);
NodeInventory timed_node(const Fleet& fleet, int node);
JobSpec timed_spec(const TimedJob& job, const EngineChoice& choice);

class TimedEngine final : public TimedDecider {
  public:
    TimedEngine(const Workload& workload, const EngineChoice& choice, const TimedOptions& options);
    void arrived(int job, Millis told, Millis now) override;
    void ended(int job, Millis now) override;
    void stopped(int job, Millis kept, Millis now) override;
    void checkpointed(int job, Millis now) override;
    TimedPlan pass(Millis now) override;

  private:
    const TimedJob& spec(int j) const { return workload_.jobs[static_cast<std::size_t>(j)]; }
    std::shared_ptr<const JobSpec> shared_spec(const TimedJob& job);
    int card_of(const std::string& node, std::int64_t index) const;

    const Workload& workload_;
    EngineChoice choice_;
    bool saves_on_stop_;
    engine::Engine engine_;
    std::map<std::string, int, std::less<>> nodes_;
    // equal requests share one
    std::map<std::tuple<int, int, int, int, bool>, std::shared_ptr<const JobSpec>> specs_;
    std::vector<std::int64_t> stops_;
};

}  // namespace crater::replay
