#include "place/policy.h"

#include <array>
#include <map>

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

// What a policy wants most stands first. Fitting exactly beats everything in best_fit, being full in binpack,
// being idle in spread. `priority` is about who may push whom aside (order and preemption); it places like
// best_fit.
// clang-format off
constexpr Preset presets[] = {
    {Policy::best_fit, {{{"fit", 4}, {"fragmentation", 3}, {"gpu_thrift", 3}, {"interconnect", 2},
                         {"numa", 1}, {"disk", 1}, {"load", 1}, {"capacity", 1}}}},
    {Policy::binpack,  {{{"load", 6}, {"fragmentation", 3}, {"gpu_thrift", 3}, {"interconnect", 2},
                         {"fit", 1}, {"numa", 1}, {"disk", 1}, {"capacity", 0}}}},
    {Policy::spread,   {{{"load", 6}, {"gpu_thrift", 3}, {"capacity", 2}, {"interconnect", 2},
                         {"numa", 1}, {"disk", 1}, {"fit", 0}, {"fragmentation", 0}}}},
    {Policy::priority, {{{"fit", 4}, {"fragmentation", 3}, {"gpu_thrift", 3}, {"interconnect", 2},
                         {"numa", 1}, {"disk", 1}, {"load", 1}, {"capacity", 1}}}},
    {Policy::fragmentation, {}},  // these two learn (place/pricing.h)
    {Policy::price, {}},
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

}  // namespace

bool packs(Policy policy) { return policy != Policy::spread; }

std::span<const double> weights_of(Policy policy) {
    static const auto all = [] {
        std::vector<std::vector<double>> out;
        for (const auto& preset : presets) {
            CRATER_CHECK(static_cast<std::size_t>(preset.policy) == out.size());
            out.push_back(in_table_order(preset));
        }
        return out;
    }();
    return all[static_cast<std::size_t>(policy)];
}

}  // namespace crater::engine
