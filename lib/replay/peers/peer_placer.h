// Drives a published policy: keeps the cluster, and each server's score for each request until the server
// changes.
#pragma once

#include "crater/replay/placer.h"
#include "peers/peer.h"

namespace crater::replay {

class PeerPlacer final : public Placer {
  public:
    PeerPlacer(const Trace& trace, std::unique_ptr<Peer> peer);
    Placement arrive(const Arrival& arrival) override;
    void leave(const Arrival& arrival, const Placement& placement, Instant now) override;

  private:
    // Of one request: what every server scored when the log of changes was `seen` long.
    struct Scores {
        std::vector<int> of;
        std::size_t seen = 0;
    };
    void refresh(Scores& scores, const Request& request);

    const Trace& trace_;
    std::unique_ptr<Peer> peer_;
    std::vector<ServerState> servers_;
    std::vector<Scores> scores_;         // by request
    std::vector<int> changed_;           // servers, the latest last
    std::vector<std::uint64_t> looked_;  // by server: the refresh that looked at it last
    std::uint64_t refreshes_ = 0;
};

}  // namespace crater::replay
