#include "admit/fill.h"

#include <algorithm>

#include "explain/words.h"
#include "place/judge.h"

namespace crater::engine {
namespace {

constexpr std::int64_t mib = 1 << 20;
constexpr std::int64_t cpu_step = 100, memory_step = 128 * mib;
constexpr std::int64_t cpu_only_cores = 1000, cpu_only_memory = 512 * mib;

// Most cores a card is given unasked. Less where a node has fewer cores per card: otherwise its last cards
// could never be used.
std::int64_t cores_per_card_max(JobType type) { return type == JobType::inference ? 4000 : 16'000; }

std::vector<int> eligible_nodes(const Shape& shape, const Cluster& cluster) {
    std::vector<int> out;
    for (const int n : cluster.by_name())
        if (cluster.node(n).present && Judge::fixed_filter(Look(shape, cluster, n, When::empty)) < 0)
            out.push_back(n);
    return out;
}

// The part of all of a node's cards that the task takes, in thousandths of one card.
std::int64_t card_share(const Shape& shape, const Cluster& cluster, const Node& node) {
    std::int64_t share = 0;
    for (const auto& card : node.cards) {
        const CardNeed& need = shape.need(cluster, card.type);
        if (need.fails == CardNeed::nothing)
            share = std::max(
                share, need.whole ? 1000
                                  : std::max(need.compute,
                                             need.memory * 1000 /
                                                 std::max<std::int64_t>(1, cluster.type(card.type).memory)));
    }
    return share * shape.cards;
}

struct PerCard {
    std::int64_t cpu = INT64_MAX, memory = INT64_MAX, share = 0;
};
PerCard smallest_ratio(const Shape& shape, const Cluster& cluster) {
    PerCard out;
    for (const int n : eligible_nodes(shape, cluster)) {
        const Node& node = cluster.node(n);
        const auto cards = static_cast<std::int64_t>(node.cards.size());
        if (cards == 0) continue;
        out.cpu = std::min(out.cpu, node.cpu / cards);
        out.memory = std::min(out.memory, node.memory / cards);
        out.share = std::max(out.share, card_share(shape, cluster, node));
    }
    return out;
}

std::int64_t part_of(std::int64_t per_card, std::int64_t share, std::int64_t step) {
    const auto amount = static_cast<std::int64_t>(static_cast<__int128>(per_card) * share / 1000);
    return std::max(step, amount / step * step);
}

void fill_beside_cards(JobSpec& spec, const Shape& shape, const Cluster& cluster,
                       std::vector<std::string>& notes) {
    const PerCard ratio = smallest_ratio(shape, cluster);
    if (ratio.share == 0) return;  // no node can serve: that is said elsewhere
    auto& resources = spec.resources;
    if (!resources.cpu.cores) {
        const auto per_card = std::min(ratio.cpu, cores_per_card_max(spec.type));
        auto cores = part_of(per_card, ratio.share, cpu_step);
        if (ratio.share < 1000)
            cores = std::max(cores,
                             std::min<std::int64_t>(
                                 1000, per_card / cpu_step * cpu_step));  // a small slice still has to work
        if (cores >= 1000) cores = cores / 1000 * 1000;  // whole cores can be next to the card
        resources.cpu.cores = MilliCpu(std::max(cores, cpu_step));
        notes.push_back("cpu.cores set to " + core_words(resources.cpu.cores.value) +
                        ": none were asked for, and a card's part of a node is " + core_words(ratio.cpu));
    }
    if (!resources.memory.size) {
        resources.memory.size = Bytes(part_of(ratio.memory, ratio.share, memory_step));
        notes.push_back("memory.size set to " + bytes_words(resources.memory.size.value) +
                        ": none was asked for, and a card's part of a node is " + bytes_words(ratio.memory));
    }
}

void fill_without_cards(JobSpec& spec, const Shape& shape, const Cluster& cluster,
                        std::vector<std::string>& notes) {
    std::int64_t cpu = 0, memory = 0;
    for (const int n : eligible_nodes(shape, cluster)) {
        cpu = std::max(cpu, cluster.node(n).cpu - cluster.node(n).preprocessing);
        memory = std::max(memory, cluster.node(n).memory);
    }
    if (!spec.resources.cpu.cores) {
        spec.resources.cpu.cores =
            MilliCpu(std::max(cpu_step, std::min(cpu_only_cores, cpu / cpu_step * cpu_step)));
        notes.push_back("cpu.cores set to " + core_words(spec.resources.cpu.cores.value) +
                        ": none were asked for");
    }
    if (!spec.resources.memory.size) {
        spec.resources.memory.size =
            Bytes(std::max(memory_step, std::min(cpu_only_memory, memory / memory_step * memory_step)));
        notes.push_back("memory.size set to " + bytes_words(spec.resources.memory.size.value) +
                        ": none was asked for");
    }
}

void round_gpu_memory(JobSpec& spec, const Shape& shape, const Cluster& cluster,
                      std::vector<std::string>& notes) {
    if (shape.gpu_memory == 0) return;
    std::int64_t rounded = 0;
    for (const int n : eligible_nodes(shape, cluster))
        for (const auto& card : cluster.node(n).cards) {
            const CardNeed& need = shape.need(cluster, card.type);
            if (need.fails != CardNeed::nothing) continue;
            const auto here = need.whole ? shape.gpu_memory : need.memory;
            if (rounded != 0 && rounded != here) return;
            rounded = here;
        }
    if (rounded <= shape.gpu_memory) return;
    spec.resources.gpu.memory = Mebibytes(rounded);
    notes.push_back("gpu.memory rounded up from " + mib_words(shape.gpu_memory) + " to " +
                    mib_words(rounded) + ", the step in which it is given out");
}

}  // namespace

void fill_request(JobSpec& spec, const Cluster& cluster, std::vector<std::string>& notes) {
    if (auto& gpu = spec.resources.gpu;
        !gpu.count && (gpu.memory || gpu.compute || gpu.exclusive || !gpu.model.empty())) {
        gpu.count = MilliGpu(1000);
        notes.emplace_back("gpu.count set to 1: the job describes a card without saying how many");
    }
    const Shape shape = make_shape(spec, Policy::best_fit, cluster, {});
    if (shape.cards > 0) {
        fill_beside_cards(spec, shape, cluster, notes);
        round_gpu_memory(spec, shape, cluster, notes);
    } else {
        fill_without_cards(spec, shape, cluster, notes);
    }
}

}  // namespace crater::engine
