// Who decides where an arrival goes: one of the published policies, or Crater's own engine. Both are driven
// the same way.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "crater/base/quantity.h"
#include "crater/replay/trace.h"

namespace crater::replay {

struct Arrival {
    std::int64_t number = 0;  // 0, 1, 2, ...
    int request = 0;          // position in Trace::requests
    Instant at;
};

struct Placement {
    int server = -1;          // position in Trace::servers; -1 = refused
    std::uint32_t cards = 0;  // a set, by position
    explicit operator bool() const { return server >= 0; }
};

// Keeps a reference to the trace. One thread.
class Placer {
  public:
    virtual ~Placer() = default;
    // Places the pod now, or refuses it for good.
    virtual Placement arrive(const Arrival& arrival) = 0;
    // Whether the last arrival was the occasion to learn something anew, such as prices.
    virtual bool learned() const { return false; }
    // A pod that was placed ends.
    virtual void leave(const Arrival& arrival, const Placement& placement, Instant now) = 0;
};

// The published policies by name, then `price`, the engine's own; `engine:NAME` is any policy of the engine.
std::vector<std::string> policy_names();
std::vector<std::string> engine_policy_names();
// `seed` is for the policy that draws. An unknown name is an error that lists the known ones.
Result<std::unique_ptr<Placer>> make_placer(const std::string& policy, const Trace& trace,
                                            std::uint64_t seed);

}  // namespace crater::replay
