// The server whose free cores and cards point least in the direction of the request:
// 100 (1 - (cpu_left/128000 * cpu/128000 + gpu_left/8000 * gpu/8000) / 2).
#include "peers/peer.h"

namespace crater::replay {
namespace {

class DotProduct final : public Peer {
  public:
    int score(const ServerState& server, const Request& request) override {
        constexpr std::int64_t per_gpu = cpu_scale / gpu_scale, all = std::int64_t{2} * cpu_scale * cpu_scale;
        const std::int64_t product =
            std::int64_t{server.cpu} * request.cpu + per_gpu * server.gpu * per_gpu * request.gpu();
        return static_cast<int>(100 * (all - product) / all);
    }
};

}  // namespace

std::unique_ptr<Peer> make_dot_product() { return std::make_unique<DotProduct>(); }

}  // namespace crater::replay
