// The published policies that Crater is compared with, after hkust-adsl/kubernetes-scheduler-simulator
// (Apache-2.0) and the paper "Beware of Fragmentation" (ATC'23). Scores are whole numbers, cut towards zero,
// taken before the pod is placed; larger is better; the first server of those with the highest score is
// taken. One file each.
#pragma once

#include <memory>
#include <span>

#include "cluster.h"
#include "crater/base/clock.h"

namespace crater::replay {

// The largest server the published scores reckon with.
inline constexpr int cpu_scale = 128'000, gpu_scale = cards_max * whole_card;

class Peer {
  public:
    virtual ~Peer() = default;
    // Of a server that can take the request; 0 or more.
    virtual int score(const ServerState& server, const Request& request) = 0;
    // Which card of it, when the request shares one.
    virtual int choose_card(const ServerState& server, const Request& request) {
        return tightest_card(server, request.per_card);
    }
    // Which server: a position in `scores`, where -1 stands for one that cannot take it. -1 when none can.
    virtual int choose_server(std::span<const int> scores);
};

std::unique_ptr<Peer> make_fgd(const Trace& trace);
std::unique_ptr<Peer> make_best_fit();
std::unique_ptr<Peer> make_random(std::uint64_t seed);
std::unique_ptr<Peer> make_dot_product();
std::unique_ptr<Peer> make_gpu_packing();
std::unique_ptr<Peer> make_gpu_clustering();

}  // namespace crater::replay
