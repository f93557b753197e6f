#include "place/policy.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>

#include "crater/base/error.h"
#include "score/score.h"

namespace crater::engine {
namespace {

struct Weight {
    std::string_view score;
    double weight;
};
struct Preset {
    Policy policy;
    std::array<Weight, 11> weights;  // none: a weight of 0
};

// The policies that add weighted terms up; what each wants most stands first. The others order by one thing
// after the other (place/level.h) or learn (place/pricing.h).
// clang-format off
constexpr Preset presets[] = {
    {Policy::binpack,  {{{"load", 6}, {"fragmentation", 3}, {"gpu_thrift", 3}, {"interconnect", 2}, {"dataset_locality", 2}, {"model_cache", 2},
                         {"low_utilization", 2}, {"fit", 1}, {"numa", 1}, {"disk", 1}, {"health", 1}}}},
    {Policy::spread,   {{{"load", 6}, {"gpu_thrift", 3}, {"capacity", 2}, {"interconnect", 2}, {"dataset_locality", 2}, {"model_cache", 2},
                         {"low_utilization", 2}, {"numa", 1}, {"disk", 1}, {"health", 1}}}},
    {Policy::affinity, {{{"dataset_locality", 8}, {"model_cache", 8}, {"low_utilization", 8}, {"gpu_thrift", 3}, {"fragmentation", 2},
                         {"interconnect", 2}, {"load", 1}, {"fit", 1}, {"numa", 1}, {"disk", 1}, {"health", 1}}}},
};
// clang-format on

const Preset& preset_of(Policy policy) {
    const auto row = std::find_if(std::begin(presets), std::end(presets),
                                  [&](const Preset& preset) { return preset.policy == policy; });
    CRATER_CHECK(row != std::end(presets), "the policy adds no weighted terms up");
    return *row;
}

double weight_in(const Preset& preset, std::string_view score) {
    for (const auto& row : preset.weights)
        if (row.score == score) return row.weight;
    return 0;
}

struct OwnWeight {
    std::string_view score;
    std::optional<double> PlacementWeights::*weight;
};
constexpr OwnWeight own_weights[] = {
    {"capacity", &PlacementWeights::capacity},
    {"dataset_locality", &PlacementWeights::dataset_locality},
    {"disk", &PlacementWeights::disk},
    {"fit", &PlacementWeights::fit},
    {"fragmentation", &PlacementWeights::fragmentation},
    {"gpu_thrift", &PlacementWeights::gpu_thrift},
    {"health", &PlacementWeights::health},
    {"interconnect", &PlacementWeights::interconnect},
    {"load", &PlacementWeights::load},
    {"low_utilization", &PlacementWeights::low_utilization},
    {"model_cache", &PlacementWeights::model_cache},
    {"numa", &PlacementWeights::numa},
};

}  // namespace

bool packs(Policy policy) { return policy != Policy::spread; }

std::span<const double> usual_weights(Policy policy) {
    static const auto all = [] {
        std::map<Policy, std::vector<double>> out;
        for (const auto& preset : presets)
            for (const auto* score : score::table())
                out[preset.policy].push_back(score->asked ? 0 : weight_in(preset, score->name));
        return out;
    }();
    return all.at(preset_of(policy).policy);
}

std::vector<double> weights_of(Policy policy, const PlacementWeights& own, const Shape& shape) {
    const Preset& preset = preset_of(policy);
    std::vector<double> out;
    for (const auto* score : score::table()) {
        const auto row = std::find_if(std::begin(own_weights), std::end(own_weights),
                                      [&](const OwnWeight& w) { return w.score == score->name; });
        CRATER_CHECK(row != std::end(own_weights),
                     "no queue can weigh the score " + std::string(score->name));
        const bool concerns = !score->asked || score->asked(shape);
        out.push_back(concerns ? (own.*row->weight).value_or(weight_in(preset, score->name)) : 0);
    }
    return out;
}

}  // namespace crater::engine
