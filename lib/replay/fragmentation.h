// How much of a server's free GPU a typical pod could not use: F(server) of the FGD paper (Weng et al.,
// ATC'23). The typical pods are the most frequent requests of the original list that make up 95 % of it;
// memory plays no part.
#pragma once

#include <unordered_map>
#include <vector>

#include "cluster.h"

namespace crater::replay {

// One of the typical requests and its part of them all.
struct TypicalPod {
    int cpu = 0, cards = 0, per_card = 0;
    std::uint64_t accepts = 0;
    double part = 0;
};
// The most frequent first; of equally frequent ones the larger by (cpu, milli, cards, models).
std::vector<TypicalPod> typical_pods(const Trace& trace);

class Fragmentation {
  public:
    explicit Fragmentation(std::vector<TypicalPod> pods) : pods_(std::move(pods)) {}
    // Milli of free GPU that a typical pod cannot use on the server. The additions and their order are the
    // published ones: scores are cut to whole numbers, so that a last bit decides ties. Remembered by what is
    // left of the server.
    double of(const ServerState& server);

  private:
    struct Key {
        std::uint64_t cards = 0, rest = 0;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const;
    };
    static Key key_of(const ServerState& server);
    double compute(const ServerState& server) const;

    std::vector<TypicalPod> pods_;
    std::unordered_map<Key, double, Hash> known_;
};

}  // namespace crater::replay
