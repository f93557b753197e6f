// Drives Crater's own engine as the scheduler does: JobAdded, a pass, and the pass either placed the job or
// it is taken back.
#pragma once

#include "crater/engine/engine.h"
#include "crater/replay/placer.h"

namespace crater::replay {

// What the experiment knows nothing of is off: live load, how many tasks share a card, cores kept for
// pre-processing.
engine::Settings openb_settings();
// The server as a node: "0007-openb-node-0123", so that the order of names is that of ranks. Every card has
// the same memory, so that a part of a card is that part of its memory too and no card runs out of one before
// the other.
NodeInventory node_of(const Server& server, const std::string& model, std::size_t rank);
JobSpec job_of(const Request& request);

class EnginePlacer final : public Placer {
  public:
    EnginePlacer(const Trace& trace, Policy policy);
    Placement arrive(const Arrival& arrival) override;
    bool learned() const override { return learned_; }
    void leave(const Arrival& arrival, const Placement& placement, Instant now) override;

  private:
    engine::Engine engine_;
    bool learned_ = false;
    std::vector<std::shared_ptr<const JobSpec>> specs_;  // by request
};

}  // namespace crater::replay
