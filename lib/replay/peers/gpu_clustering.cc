// Pods of one kind together: those that share a card, those of one whole card, of two, four, eight. Fuller
// servers first within that.
#include <algorithm>

#include "peers/peer.h"

namespace crater::replay {
namespace {

class GpuClustering final : public Peer {
  public:
    int score(const ServerState& server, const Request& request) override {
        if (request.cards == 0) return 0;
        const auto kind = request.shares_card() ? std::size_t{0} : static_cast<std::size_t>(request.cards);
        const auto kinds =
            std::count_if(server.holds.begin(), server.holds.end(), [](int pods) { return pods > 0; });
        const int company = kinds == 0 ? 25 : server.holds[kind] == 0 ? 0 : kinds == 1 ? 75 : 50;
        return company + 25 * (gpu_scale - server.gpu) / gpu_scale;
    }
};

}  // namespace

std::unique_ptr<Peer> make_gpu_clustering() { return std::make_unique<GpuClustering>(); }

}  // namespace crater::replay
