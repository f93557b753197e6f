#include "peers/peer_placer.h"

#include <algorithm>

namespace crater::replay {

int Peer::choose_server(std::span<const int> scores) {
    const auto best = std::max_element(scores.begin(), scores.end());
    return best == scores.end() || *best < 0 ? -1 : static_cast<int>(best - scores.begin());
}

PeerPlacer::PeerPlacer(const Trace& trace, std::unique_ptr<Peer> peer)
    : trace_(trace), peer_(std::move(peer)), servers_(empty_cluster(trace)) {
    scores_.resize(trace.requests.size());
    looked_.resize(servers_.size(), 0);
}

void PeerPlacer::refresh(Scores& scores, const Request& request) {
    const auto look_at = [&](std::size_t s) {
        scores.of[s] = servers_[s].can_take(request) ? peer_->score(servers_[s], request) : -1;
    };
    ++refreshes_;
    if (scores.of.empty()) {
        scores.of.resize(servers_.size());
        for (std::size_t s = 0; s < servers_.size(); ++s) look_at(s);
    } else {
        for (; scores.seen < changed_.size(); ++scores.seen) {
            const auto s = static_cast<std::size_t>(changed_[scores.seen]);
            if (looked_[s] == refreshes_) continue;
            looked_[s] = refreshes_;
            look_at(s);
        }
    }
    scores.seen = changed_.size();
}

Placement PeerPlacer::arrive(const Arrival& arrival) {
    const auto& request = trace_.requests[static_cast<std::size_t>(arrival.request)];
    Scores& scores = scores_[static_cast<std::size_t>(arrival.request)];
    refresh(scores, request);
    const int chosen = peer_->choose_server(scores.of);
    if (chosen < 0) return {};
    ServerState& server = servers_[static_cast<std::size_t>(chosen)];
    const int shared = request.shares_card() ? peer_->choose_card(server, request) : -1;
    const Placement out{chosen, cards_for(server, request, shared)};
    take(server, request, out.cards);
    changed_.push_back(chosen);
    return out;
}

void PeerPlacer::leave(const Arrival& arrival, const Placement& placement, Instant) {
    give_back(servers_[static_cast<std::size_t>(placement.server)],
              trace_.requests[static_cast<std::size_t>(arrival.request)], placement.cards);
    changed_.push_back(placement.server);
}

}  // namespace crater::replay
