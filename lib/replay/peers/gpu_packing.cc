// Cards in use first, then servers in use, then idle servers: a band of scores each, fuller cards higher
// within the first.
#include <algorithm>

#include "peers/peer.h"

namespace crater::replay {
namespace {

constexpr int idle_cards_score = 50, idle_server_score = 33;

class GpuPacking final : public Peer {
  public:
    int score(const ServerState& server, const Request& request) override {
        if (request.cards == 0) return 0;
        const auto left = left_in_order(server);
        const auto end = left.begin() + server.cards;
        if (left.front() == whole_card) return std::max(idle_server_score - server.cards, server.cards);
        // The tightest cards that serve.
        int taken = 0, idle = 0, parts = 0;
        for (auto it = left.begin(); it != end && taken < request.cards; ++it) {
            if (*it < request.per_card) continue;
            ++taken;
            idle += *it == whole_card;
            parts += *it * 100 / whole_card;
        }
        if (idle > 0) return std::max(idle_cards_score - idle, idle_server_score);
        return std::max(100 - parts / 10, idle_cards_score);
    }
};

}  // namespace

std::unique_ptr<Peer> make_gpu_packing() { return std::make_unique<GpuPacking>(); }

}  // namespace crater::replay
