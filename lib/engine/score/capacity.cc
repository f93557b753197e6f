#include <algorithm>

#include "place/policy.h"
#include "score/score.h"

namespace crater::engine::score {
namespace {

struct Free {
    double sum = 0, weights = 0;
    void add(double weight, std::int64_t free, std::int64_t total) {
        if (total <= 0) return;
        sum += weight * std::clamp(static_cast<double>(free) / static_cast<double>(total), 0.0, 1.0);
        weights += weight;
    }
    double mean() const { return weights > 0 ? sum / weights : 0; }
};

double capacity_value(const Look& look, const Choice& choice) {
    (void)choice;
    const Settings& settings = look.settings();
    const auto weight = [&](std::optional<double> PlacementWeights::*queue, double all) {
        return weight_of(look, queue, all);
    };
    const Node& node = look.node;
    Free free;
    std::int64_t memory = 0, memory_all = 0, bandwidth = 0, bandwidth_all = 0, iops = 0, iops_all = 0;
    for (std::size_t c = 0; c < node.cards.size(); ++c)
        memory += look.card_memory_free(c), memory_all += look.cluster.type(node.cards[c].type).memory;
    for (std::size_t d = 0; d < node.domains.size(); ++d)
        bandwidth += node.domains[d].bandwidth - look.domain(d).bandwidth,
            bandwidth_all += node.domains[d].bandwidth;
    for (std::size_t k = 0; k < node.disks.size(); ++k)
        iops += node.disks[k].iops - look.disk(k).iops, iops_all += node.disks[k].iops;
    free.add(weight(&PlacementWeights::gpu_memory, settings.capacity_gpu_memory), memory, memory_all);
    free.add(weight(&PlacementWeights::cpu_cores, settings.capacity_cpu_cores), node.cpu - look.use().cpu,
             node.cpu);
    free.add(weight(&PlacementWeights::memory_bandwidth, settings.capacity_memory_bandwidth), bandwidth,
             bandwidth_all);
    free.add(weight(&PlacementWeights::ssd_iops, settings.capacity_ssd_iops), iops, iops_all);
    const double value = free.mean();
    return packs(look.shape.policy) ? 1 - value : value;
}

}  // namespace

extern const Score capacity;
const Score capacity{
    "capacity",
    "How much the node could still hold, by the capacity weights; packing policies turn it round.",
    capacity_value};

}  // namespace crater::engine::score
