// The server that is left with the least, cores and cards weighing the same: 100 (1 - cpu/128000/2 -
// gpu/8000/2) of what would be left.
#include "peers/peer.h"

namespace crater::replay {
namespace {

class BestFit final : public Peer {
  public:
    int score(const ServerState& server, const Request& request) override {
        const std::int64_t cpu = server.cpu - request.cpu, gpu = server.gpu - request.gpu();
        constexpr std::int64_t all = 2 * cpu_scale, per_gpu = cpu_scale / gpu_scale;
        return static_cast<int>(100 * (all - cpu - per_gpu * gpu) / all);
    }
};

}  // namespace

std::unique_ptr<Peer> make_best_fit() { return std::make_unique<BestFit>(); }

}  // namespace crater::replay
