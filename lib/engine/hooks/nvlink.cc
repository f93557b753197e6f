// NVLink by model, as the vendor's data sheets give it: all links of one card, both ways.
#include "crater/engine/hooks.h"

namespace crater::engine {
namespace {

struct LinkRow {
    std::string_view model;  // the first row that the card answers to
    std::int64_t gigabytes_per_second;
};
constexpr LinkRow links[] = {
    {"b200", 1800}, {"h100 pcie", 600}, {"h100 nvl", 600}, {"h100", 900}, {"h200", 900}, {"h20", 900},
    {"h800", 400},  {"a100", 600},      {"a800", 400},     {"v100", 300}, {"a30", 200},  {"p100", 160},
};

}  // namespace

BytesPerSecond nvlink_bandwidth(std::string_view model) {
    for (const LinkRow& row : links)
        if (model_matches(model, row.model)) return BytesPerSecond(row.gigabytes_per_second * 1'000'000'000);
    return BytesPerSecond(0);
}

}  // namespace crater::engine
