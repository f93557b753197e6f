#include "place/shape.h"

#include <algorithm>
#include <utility>

#include "filter/filter.h"
#include "place/level.h"
#include "place/policy.h"
#include "state/fact_hash.h"

namespace crater::engine {
namespace {

std::string lower_text(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}

std::int64_t round_up(std::int64_t amount, std::int64_t step) {
    if (amount > INT64_MAX - step) return amount;
    return (amount + step - 1) / step * step;
}

void read_gpu(const GpuRequest& gpu, Shape& shape) {
    const auto count = gpu.count.value;
    if (count <= 0) return;
    // More cards than any node can have is asked of the nodes as it is and refused by them.
    shape.cards = static_cast<int>(std::min<std::int64_t>((count + 999) / 1000, 1'000'000));
    shape.part = count < 1000 ? count : 1000;
    shape.gpu_memory = gpu.memory.value;
    shape.compute_cap = gpu.compute ? std::clamp<std::int64_t>(gpu.compute->value, 1, 1000) : 0;
    shape.gpu_exclusive = gpu.exclusive;
    shape.gpu_model = gpu.model;
    shape.precision = lower_text(gpu.precision);
    shape.capability = capability_number(gpu.min_compute_capability);
    shape.interconnect = shape.cards > 1 ? gpu.interconnect : Interconnect::any;
}

void read_cpu(const CpuRequest& cpu, Shape& shape) {
    shape.cpu = cpu.cores.value;
    for (const auto& feature : cpu.features) {
        const auto name = lower_text(feature);
        shape.cpu_features.push_back(name == "avx512" ? "avx512f" : name);
    }
    std::sort(shape.cpu_features.begin(), shape.cpu_features.end());
}

void read_disk(const DiskRequest& disk, Shape& shape) {
    shape.disk_size = disk.size.value;
    shape.disk_iops = disk.iops.value;
    shape.disk_bandwidth = disk.read_mbps_min.value;
    shape.disk_latency_max = disk.latency_us_max.value;
    shape.disk_random_min = disk.random_read_mbps_min.value;
    shape.disk_stability = disk.iops_stability_ratio;
    shape.wants_disk = shape.disk_size || shape.disk_iops || shape.disk_bandwidth || shape.disk_latency_max ||
                       shape.disk_random_min || shape.disk_stability > 0;
}

std::shared_ptr<const WantedData> read_data(const JobSpec& spec) {
    if (spec.datasets.empty() && spec.models.empty()) return nullptr;
    auto out = std::make_shared<WantedData>();
    out->required = spec.data_locality == DataLocality::required;
    const auto take = [](DataKind kind, const std::vector<std::string>& ids, std::vector<std::string>& names,
                         DataKeys& keys) {
        names = ids;
        std::sort(names.begin(), names.end());
        names.erase(std::unique(names.begin(), names.end()), names.end());
        for (const auto& id : names) keys.push_back(data_key(kind, id));
    };
    take(DataKind::dataset, spec.datasets, out->datasets, out->dataset_keys);
    take(DataKind::model, spec.models, out->models, out->model_keys);
    return out;
}

// Only terms can weigh what a job would rather have: where its queue's policy has none, the policy that is
// about that decides.
Policy policy_for(const Shape& shape, Policy of_queue) {
    const bool prefers = shape.low_utilization || (shape.data && !shape.data->required);
    return prefers && ranking_of(of_queue) != Ranking::weighted ? Policy::affinity : of_queue;
}

std::string key_of(const Shape& s) {
    FactBytes bytes;
    for (const std::int64_t v : {std::int64_t{s.cards}, s.overcommit, s.part, s.gpu_memory, s.compute_cap,
                                 std::int64_t{s.capability}, s.cpu, s.memory, s.bandwidth, s.disk_size,
                                 s.disk_iops, s.disk_bandwidth, s.disk_latency_max, s.disk_random_min})
        bytes.add(v);
    for (const bool v : {s.gpu_exclusive, s.inference, s.image}) bytes.add(v);
    bytes.add(lower_text(s.gpu_model));
    bytes.add(s.precision);
    bytes.add(s.interconnect);
    bytes.add(s.cpu_features);
    bytes.add(s.disk_stability);
    bytes.add(s.node);
    bytes.add(s.tolerations);
    bytes.add(s.length);
    bytes.add(s.crowd);
    bytes.add(s.spread_tasks);
    bytes.add(s.topology);
    bytes.add(s.numa);
    bytes.add(s.policy);
    if (s.own_weights) bytes.add(s.own_weights->given);
    bytes.add(s.low_utilization);
    if (s.data) bytes.add(s.data->required), bytes.add(s.data->datasets), bytes.add(s.data->models);
    return bytes.bytes();
}

// Whether an inference task asks for more of the card than it may.
bool too_much_for_inference(const Shape& s, const Settings& settings, const CardType& card) {
    // a whole card by name is one
    if (!s.inference || (s.gpu_memory >= card.memory && s.gpu_memory > 0)) return false;
    const double asked = s.gpu_memory > 0 ? static_cast<double>(s.gpu_memory) /
                                                static_cast<double>(std::max<std::int64_t>(1, card.nominal))
                                          : static_cast<double>(s.part) / 1000;
    return asked > settings.inference_max_gpu_fraction;
}

// The smallest instance that has what is asked for; the largest for a whole card. Its compute is its own: a
// cap by nature.
CardNeed instance_for(const Shape& s, const CardType& card, bool whole, CardNeed need) {
    const auto& partitions = *card.partitions;
    const auto memory = s.gpu_memory > 0 ? s.gpu_memory : card.nominal * s.part / 1000;
    const auto compute = s.compute_cap > 0 ? s.compute_cap : s.part < 1000 ? s.part : 0;
    const int row = whole ? static_cast<int>(partitions.rows.size()) - 1 : partitions.least(memory, compute);
    if (row < 0) return need.fails = CardNeed::size, need;
    const auto& found = partitions.rows[static_cast<std::size_t>(row)];
    need.partition = static_cast<std::int8_t>(row);
    need.memory = found.memory;
    need.compute = found.compute;
    need.capped = true;
    need.limit = card.memory;
    need.beyond = 0;
    return need;
}

CardNeed need_of(const Shape& s, const Cluster& cluster, const CardType& card) {
    const Settings& settings = cluster.settings();
    CardNeed need{.known = true};
    const auto ratio = s.overcommit > 0 ? s.overcommit : overcommit_of(settings.memory_overcommit_ratio);
    const auto limit = cluster.card_limit(card.memory);
    need.limit = card.memory * ratio / 1000;
    need.beyond = limit - need.limit;
    const auto fails = [&](CardNeed::Fails why) { return need.fails = why, need; };
    if (!model_matches(card.model, s.gpu_model)) return fails(CardNeed::model);
    if (card.capability < s.capability) return fails(CardNeed::capability);
    if (!s.precision.empty() &&
        std::find(card.precisions.begin(), card.precisions.end(), s.precision) == card.precisions.end())
        return fails(CardNeed::precision);
    if (s.gpu_memory > card.nominal) return fails(CardNeed::size);

    const bool all_memory = s.gpu_memory == 0 || s.gpu_memory >= card.memory;
    need.whole =
        s.gpu_exclusive || (s.part == 1000 && all_memory && (s.gpu_memory == 0 || s.compute_cap == 0));
    if (card.partitions) {
        if (!need.whole && too_much_for_inference(s, settings, card)) return fails(CardNeed::inference_part);
        const bool whole = std::exchange(need.whole, false);
        return instance_for(s, card, whole, need);
    }
    if (need.whole) {
        need.memory = card.memory;
        need.compute = 1000;
        return need;
    }
    // A part of a card by count takes that part of the memory exactly, so that two halves fit on one card.
    const auto granule = memory_granule(settings, card);
    need.memory = s.gpu_memory == 0 ? card.memory / 1000 * s.part + card.memory % 1000 * s.part / 1000
                                    : std::min(card.memory, round_up(s.gpu_memory, granule));
    need.capped = s.compute_cap > 0;
    need.compute =
        need.capped     ? s.compute_cap
        : s.part < 1000 ? s.part
                        :  // Weights add up to one card when memory adds up to the most that it may.
            std::clamp<std::int64_t>(need.memory * 1000 / std::max<std::int64_t>(1, limit), 1, 1000);
    need.step = static_cast<std::uint8_t>(left_step(need, limit));
    if (too_much_for_inference(s, settings, card)) return fails(CardNeed::inference_part);
    return need;
}

}  // namespace

std::int64_t memory_granule(const Settings& settings, const CardType& card) {
    if (settings.gpu_memory_granularity_mb > 0) return settings.gpu_memory_granularity_mb;
    return std::max<std::int64_t>(512, (card.nominal + 31) / 32);
}

const CardNeed& Shape::find_need(const Cluster& cluster, int card_type) const {
    const auto at = static_cast<std::size_t>(card_type);
    if (at >= needs_.size()) needs_.resize(static_cast<std::size_t>(cluster.type_count()));
    if (!needs_[at].known) needs_[at] = need_of(*this, cluster, cluster.type(card_type));
    return needs_[at];
}

Shape make_shape(const JobSpec& spec, Policy policy, const Cluster& cluster, const Around& around) {
    Shape shape;
    read_gpu(spec.resources.gpu, shape);
    read_cpu(spec.resources.cpu, shape);
    shape.memory = spec.resources.memory.size.value;
    shape.bandwidth = spec.resources.memory.bandwidth.value;
    read_disk(spec.resources.disk, shape);
    shape.inference = infer_type(spec) == JobType::inference;
    shape.node = spec.node;
    shape.tolerations = spec.tolerations;
    if (around.maintenance)
        shape.length = minutes_up(spec.time_limit.count() > 0 ? spec.time_limit : spec.duration);
    if (cluster.crowds().concerned(around.crowd)) {
        shape.crowd = around.crowd;
        shape.crowd_apart = cluster.crowds().apart(around.crowd, around.crowd);
    }
    shape.spread_tasks = spec.anti_affinity.spread_tasks && spec.tasks > 1;
    if (spec.tasks > 1 && spec.topology.level != TopologyLevel::none) shape.topology = spec.topology;
    shape.image = !spec.image.empty();
    shape.numa = spec.numa_binding_policy;
    shape.data = read_data(spec);
    shape.low_utilization = spec.prefer_low_utilization;
    policy = shape.policy = policy_for(shape, policy);
    shape.overcommit = around.overcommit;
    if (ranking_of(policy) == Ranking::weighted) {
        shape.weights = usual_weights(policy);
        const PlacementWeights given = around.weights ? *around.weights : PlacementWeights{};
        if (given != PlacementWeights{} || shape.data || shape.low_utilization) {
            shape.own_weights = std::make_shared<const OwnWeights>(given, weights_of(policy, given, shape));
            shape.weights = shape.own_weights->terms;
        }
    }
    const auto filters = filter::table();
    for (std::size_t f = 0; f < filters.size(); ++f)
        if (filters[f]->asked(shape)) shape.asked |= std::uint64_t{1} << f;
    shape.key = key_of(shape);
    return shape;
}

}  // namespace crater::engine
