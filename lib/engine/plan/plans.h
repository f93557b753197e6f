// A plan that is only asked about, worked out on the books and taken back when the answer is made.
#pragma once

#include "engine_impl.h"

namespace crater::engine {

class Engine::Impl::Plans {
  public:
    Plans(Impl& engine, Instant now);
    ~Plans();
    Plans(const Plans&) = delete;
    Plans& operator=(const Plans&) = delete;

    Result<WhatIf> operator()(const SupposeSubmit& plan);
    Result<WhatIf> operator()(const SupposePreempt& plan);
    Result<WhatIf> operator()(const SupposeDrain& plan);
    Result<WhatIf> operator()(const SupposeLoss& plan);
    Result<WhatIf> operator()(const SupposeQuota& plan);
    Result<WhatIf> operator()(const SupposeDefrag& plan);

  private:
    Result<int> node_named(const std::string& name) const;
    JobEffect& add(const JobSlot& slot, Effect effect, std::string detail);
    void count_loss(const JobSlot& slot, JobEffect& effect);
    std::vector<std::string> nodes_of(const JobSlot& slot) const;
    std::vector<std::string> nodes_of(const std::vector<Slices>& slices) const;
    // Its slices are free, and its tenant's.
    void lift(const JobSlot& slot);
    // Where it would go now; it stays there for the rest of the plan.
    const std::vector<Slices>* settle(JobSlot& slot);
    // As if it waited again from the start.
    static JobSlot again(const JobSlot& slot);
    void victims_or_why(JobSlot& slot);
    // Everybody who holds something on the node leaves it and looks for another place.
    void empty_node(int node, bool lost);
    // Who of those that wait would start, in the order of a pass. `below`: only of this tenant and what is
    // below it.
    void who_starts(const std::string& below);
    bool of_tenant(const JobSlot& slot, const std::string& path) const;

    Impl& e_;
    const Instant now_;
    const std::size_t mark_;
    const Tenants tenants_;  // as they were
    std::deque<Outcome> settled_;
    WhatIf out_;
};

}  // namespace crater::engine
