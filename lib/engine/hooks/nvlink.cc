// NVLink by model, as the vendor's data sheets give it: all links of one card, both ways.
#include "crater/engine/hooks.h"

namespace crater::engine {
namespace {

struct LinkRow {
    std::string_view family, variant;  // words of the normalised model; no variant = any
    std::int64_t gigabytes_per_second;
};
constexpr LinkRow links[] = {
    {"b200", "", 1800}, {"h100", "pcie", 600}, {"h100", "nvl", 600}, {"h100", "", 900},
    {"h200", "", 900},  {"h20", "", 900},      {"h800", "", 400},    {"a100", "", 600},
    {"a800", "", 400},  {"v100", "", 300},     {"a30", "", 200},     {"p100", "", 160},
};

// "a100" in "nvidia-a100-pcie-40gb". Asked for every card of every candidate: nothing is copied.
bool has_word(std::string_view model, std::string_view word) {
    for (std::size_t at = model.find(word); at != model.npos; at = model.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        if ((at == 0 || model[at - 1] == '-') && (end == model.size() || model[end] == '-')) return true;
    }
    return false;
}

}  // namespace

BytesPerSecond nvlink_bandwidth(std::string_view model) {
    for (const LinkRow& row : links)
        if (has_word(model, row.family) && (row.variant.empty() || has_word(model, row.variant)))
            return BytesPerSecond(row.gigabytes_per_second * 1'000'000'000);
    return BytesPerSecond(0);
}

}  // namespace crater::engine
