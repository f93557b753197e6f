// Fragmentation gradient descent: the server, and of it the card, whose fragmentation grows least: 100
// sigmoid(d / 1000) with d = F(before) - F(after). Cutting the score to a whole number is part of the policy:
// many servers come out equal and the first is taken.
#include <cmath>

#include "fragmentation.h"
#include "peers/peer.h"

namespace crater::replay {
namespace {

class Fgd final : public Peer {
  public:
    explicit Fgd(const Trace& trace) : fragmentation_(typical_pods(trace)) {}

    int score(const ServerState& server, const Request& request) override {
        return best(server, request).score;
    }
    int choose_card(const ServerState& server, const Request& request) override {
        return best(server, request).card;
    }

  private:
    struct Best {
        int score = -1, card = -1;
    };
    Best best(const ServerState& server, const Request& request) {
        const double before = fragmentation_.of(server);
        if (!request.shares_card())
            return {gained(before, server, request, whole_cards(server, request.cards)), -1};
        Best out;
        for (int c = 0; c < server.cards; ++c) {
            if (server.left[static_cast<std::size_t>(c)] < request.per_card) continue;
            const int score = gained(before, server, request, Cards{1} << c);
            if (score > out.score) out = {score, c};
        }
        return out;
    }
    int gained(double before, ServerState after, const Request& request, Cards cards) {
        take(after, request, cards);
        const double less = before - fragmentation_.of(after);
        return static_cast<int>(1.0 / (1.0 + std::exp(-(less / 1000))) * 100.0);
    }

    Fragmentation fragmentation_;
};

}  // namespace

std::unique_ptr<Peer> make_fgd(const Trace& trace) { return std::make_unique<Fgd>(trace); }

}  // namespace crater::replay
