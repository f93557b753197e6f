// Any server that can take the pod, and any of its cards that can.
#include <vector>

#include "peers/peer.h"

namespace crater::replay {
namespace {

class Random final : public Peer {
  public:
    explicit Random(std::uint64_t seed) : rng_(seed) {}

    int score(const ServerState&, const Request&) override { return 0; }
    int choose_server(std::span<const int> scores) override {
        able_.clear();
        for (std::size_t s = 0; s < scores.size(); ++s)
            if (scores[s] >= 0) able_.push_back(static_cast<int>(s));
        return drawn();
    }
    int choose_card(const ServerState& server, const Request& request) override {
        able_.clear();
        for (int c = 0; c < server.cards; ++c)
            if (server.left[static_cast<std::size_t>(c)] >= request.per_card) able_.push_back(c);
        return drawn();
    }

  private:
    int drawn() { return able_.empty() ? -1 : able_[rng_.below(able_.size())]; }

    SeededRng rng_;
    std::vector<int> able_;
};

}  // namespace

std::unique_ptr<Peer> make_random(std::uint64_t seed) { return std::make_unique<Random>(seed); }

}  // namespace crater::replay
