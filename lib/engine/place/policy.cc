#include "place/policy.h"

#include <algorithm>
#include <array>
#include <iterator>
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
    std::array<Weight, 8> weights;
};

// The policies that add weighted terms up; what each wants most stands first. The others order by one thing after the other (place/level.h) or
// learn (place/pricing.h).
// clang-format off
constexpr Preset presets[] = {
    {Policy::binpack, {{{"load", 6}, {"fragmentation", 3}, {"gpu_thrift", 3}, {"interconnect", 2},
                        {"fit", 1}, {"numa", 1}, {"disk", 1}, {"capacity", 0}}}},
    {Policy::spread,  {{{"load", 6}, {"gpu_thrift", 3}, {"capacity", 2}, {"interconnect", 2},
                        {"numa", 1}, {"disk", 1}, {"fit", 0}, {"fragmentation", 0}}}},
};
// clang-format on

std::vector<double> in_table_order(const Preset& preset) {
    std::vector<double> out;
    for (const auto* score : score::table()) {
        double weight = 0;
        for (const auto& row : preset.weights)
            if (row.score == score->name) weight = row.weight;
        out.push_back(weight);
    }
    return out;
}

struct OwnWeight {
    std::string_view score;
    std::optional<double> PlacementWeights::*weight;
};
constexpr OwnWeight own_weights[] = {
    {"capacity", &PlacementWeights::capacity},
    {"disk", &PlacementWeights::disk},
    {"fit", &PlacementWeights::fit},
    {"fragmentation", &PlacementWeights::fragmentation},
    {"gpu_thrift", &PlacementWeights::gpu_thrift},
    {"interconnect", &PlacementWeights::interconnect},
    {"load", &PlacementWeights::load},
    {"numa", &PlacementWeights::numa},
};

}  // namespace

bool packs(Policy policy) { return policy != Policy::spread; }

std::span<const double> preset_of(Policy policy) {
    static const auto all = [] {
        std::vector<std::vector<double>> out;
        for (const auto& preset : presets) out.push_back(in_table_order(preset));
        return out;
    }();
    for (std::size_t i = 0; i < std::size(presets); ++i)
        if (presets[i].policy == policy) return all[i];
    CRATER_CHECK(false, "the policy adds no weighted terms up");
    return {};
}

std::vector<double> weights_of(Policy policy, const PlacementWeights& own) {
    const auto preset = preset_of(policy);
    std::vector<double> out;
    for (std::size_t i = 0; i < preset.size(); ++i) {
        const auto name = score::table()[i]->name;
        const auto row = std::find_if(std::begin(own_weights), std::end(own_weights),
                                      [&](const OwnWeight& w) { return w.score == name; });
        CRATER_CHECK(row != std::end(own_weights), "no queue can weigh the score " + std::string(name));
        out.push_back((own.*row->weight).value_or(preset[i]));
    }
    return out;
}

}  // namespace crater::engine
