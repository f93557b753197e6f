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

// The nodes that could serve, of those that could change the answer: there are thousands of them and few
// kinds.
template <class Matters, class Use>
void each_eligible(const Shape& shape, const Cluster& cluster, Matters matters, Use use) {
    for (const int n : cluster.by_name()) {
        const Node& node = cluster.node(n);
        if (node.present && matters(node) && Judge::fixed_filter(Look(shape, cluster, n, When::empty)) < 0)
            use(node);
    }
}

// The part of all of a node's cards that the task takes, in thousandths of one card.
std::int64_t card_share(const Shape& shape, const Cluster& cluster, const Node& node) {
    std::int64_t share = 0;
    const auto consider = [&](int type) {
        const CardNeed& need = shape.need(cluster, type);
        if (need.fails != CardNeed::nothing) return;
        const auto memory = need.memory * 1000 / std::max<std::int64_t>(1, cluster.type(type).memory);
        share = std::max(share, need.whole ? 1000 : std::max(need.compute, memory));
    };
    if (node.card_type >= 0)
        consider(node.card_type);
    else
        for (const auto& card : node.cards) consider(card.type);
    return share * shape.cards;
}

struct PerCard {
    std::int64_t cpu = INT64_MAX, memory = INT64_MAX, share = 0;
    bool operator==(const PerCard&) const = default;
};
PerCard smallest_ratio(const Shape& shape, const Cluster& cluster) {
    PerCard out;
    const auto with = [&](const Node& node) {
        const auto cards = static_cast<std::int64_t>(node.cards.size());
        if (cards == 0) return out;
        return PerCard{std::min(out.cpu, node.cpu / cards), std::min(out.memory, node.memory / cards),
                       std::max(out.share, card_share(shape, cluster, node))};
    };
    each_eligible(
        shape, cluster, [&](const Node& node) { return with(node) != out; },
        [&](const Node& node) { out = with(node); });
    return out;
}

std::int64_t part_of(std::int64_t per_card, std::int64_t share, std::int64_t step) {
    const auto amount = static_cast<std::int64_t>(static_cast<__int128>(per_card) * share / 1000);
    return std::max(step, amount / step * step);
}

// What jobs of its kind used at their peak and a quarter, where that is less than a card's part of a node:
// more would leave cards of the node without cores, and its measure is what such a job was given before.
template <class T>
bool lower_to(std::int64_t& amount, const std::optional<T>& peak, std::int64_t step) {
    if (!peak) return false;
    const auto with_room =
        std::max<std::int64_t>(step, (peak->value + peak->value / 4 + step - 1) / step * step);
    if (with_room >= amount) return false;
    amount = with_room;
    return true;
}

void fill_beside_cards(JobSpec& spec, const Shape& shape, const Profile& known, const Cluster& cluster,
                       std::vector<std::string>& notes) {
    const auto note = [&](std::string_view field, const std::string& amount, std::string_view none,
                          const std::string& why) {
        notes.push_back(std::string(field) + " set to " + amount + ": " + std::string(none) +
                        " asked for, and " + why);
    };
    const auto used = [](const std::string& amount) { return "the last jobs like it used up to " + amount; };
    const auto part = [](const std::string& amount) { return "a card's part of a node is " + amount; };
    if (spec.resources.cpu.cores && spec.resources.memory.size) return;
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
        cores = std::max(cores, cpu_step);
        const bool lower = lower_to(cores, known.cpu, cores > 1000 ? 1000 : cpu_step);
        resources.cpu.cores = MilliCpu(cores);
        note("cpu.cores", core_words(cores), "none were",
             lower ? used(core_words(known.cpu->value)) : part(core_words(ratio.cpu)));
    }
    if (!resources.memory.size) {
        auto size = part_of(ratio.memory, ratio.share, memory_step);
        const bool lower = lower_to(size, known.memory, memory_step);
        resources.memory.size = Bytes(size);
        note("memory.size", bytes_words(size), "none was",
             lower ? used(bytes_words(known.memory->value)) : part(bytes_words(ratio.memory)));
    }
}

void fill_without_cards(JobSpec& spec, const Shape& shape, const Cluster& cluster,
                        std::vector<std::string>& notes) {
    if (spec.resources.cpu.cores && spec.resources.memory.size) return;
    std::int64_t cpu = 0, memory = 0;
    const auto open = [](const Node& node) { return node.cpu - node.preprocessing; };
    each_eligible(
        shape, cluster, [&](const Node& node) { return open(node) > cpu || node.memory > memory; },
        [&](const Node& node) { cpu = std::max(cpu, open(node)), memory = std::max(memory, node.memory); });
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
    bool agree = true;
    std::vector<bool> seen(static_cast<std::size_t>(cluster.type_count()));
    const auto all_seen = [&](const Node& node) {
        if (node.card_type >= 0) return static_cast<bool>(seen[static_cast<std::size_t>(node.card_type)]);
        return std::all_of(node.cards.begin(), node.cards.end(),
                           [&](const Card& card) { return seen[static_cast<std::size_t>(card.type)]; });
    };
    each_eligible(
        shape, cluster, [&](const Node& node) { return agree && !all_seen(node); },
        [&](const Node& node) {
            for (const auto& card : node.cards) {
                seen[static_cast<std::size_t>(card.type)] = true;
                const CardNeed& need = shape.need(cluster, card.type);
                if (need.fails != CardNeed::nothing) continue;
                const auto here = need.whole ? shape.gpu_memory : need.memory;
                agree &= rounded == 0 || rounded == here;
                rounded = here;
            }
        });
    if (!agree) return;
    if (rounded <= shape.gpu_memory) return;
    spec.resources.gpu.memory = Mebibytes(rounded);
    notes.push_back("gpu.memory rounded up from " + mib_words(shape.gpu_memory) + " to " +
                    mib_words(rounded) + ", the step in which it is given out");
}

}  // namespace

void fill_request(JobSpec& spec, const Profile* profile, const Cluster& cluster,
                  std::vector<std::string>& notes) {
    if (auto& gpu = spec.resources.gpu;
        !gpu.count && (gpu.memory || gpu.compute || gpu.exclusive || !gpu.model.empty())) {
        gpu.count = MilliGpu(1000);
        notes.emplace_back("gpu.count set to 1: the job describes a card without saying how many");
    }
    const Shape shape = make_shape(spec, Policy::best_fit, cluster, {});
    if (shape.cards > 0) {
        fill_beside_cards(spec, shape, profile ? *profile : Profile{}, cluster, notes);
        round_gpu_memory(spec, shape, cluster, notes);
    } else {
        fill_without_cards(spec, shape, cluster, notes);
    }
}

}  // namespace crater::engine
