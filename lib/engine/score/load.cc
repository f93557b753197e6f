#include <algorithm>

#include "place/policy.h"
#include "score/score.h"

namespace crater::engine::score {
namespace {

struct Shares {
    double sum = 0, weights = 0;
    // A kind of which the node has nothing does not count.
    void add(double weight, std::int64_t used, std::int64_t total, int live) {
        if (total <= 0) return;
        const double booked = static_cast<double>(used) / static_cast<double>(total);
        sum += weight * std::clamp(std::max(booked, live / 1000.0), 0.0, 1.0);
        weights += weight;
    }
    double mean() const { return weights > 0 ? sum / weights : 0; }
};

double load_value(const Look& look, const Choice& choice) {
    (void)choice;
    const Settings& settings = look.settings();
    const auto weight = [&](std::optional<double> PlacementWeights::*queue, double all) {
        return weight_of(look, queue, all);
    };
    const Node& node = look.node;
    Shares shares;
    std::int64_t compute = 0;
    int live = 0;
    for (std::size_t c = 0; c < node.cards.size(); ++c) {
        compute += look.card(c).compute;
        live = std::max(live, node.live.gpus[c]);
    }
    const auto cards = static_cast<std::int64_t>(node.cards.size());
    shares.add(weight(&PlacementWeights::w_gpu, settings.w_gpu), compute, cards * 1000,
               cards > 0 ? live / static_cast<int>(cards) : 0);
    shares.add(weight(&PlacementWeights::w_cpu, settings.w_cpu), look.use().cpu, node.cpu, node.live.cpu);
    shares.add(weight(&PlacementWeights::w_mem, settings.w_mem), look.use().memory, node.memory,
               node.live.memory);
    std::int64_t iops = 0, iops_all = 0;
    for (std::size_t k = 0; k < node.disks.size(); ++k)
        iops += look.disk(k).iops, iops_all += node.disks[k].iops;
    shares.add(weight(&PlacementWeights::w_disk, settings.w_disk), iops, iops_all, node.live.disk);
    const double used = shares.mean();
    return packs(look.shape.policy) ? used : 1 - used;
}

}  // namespace

extern const Score load;
const Score load{"load",
                 "How little of the node is in use, booked or live, over GPU, CPU, memory and disk; packing "
                 "policies turn it round.",
                 load_value};

}  // namespace crater::engine::score
