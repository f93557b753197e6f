#include "cpu.h"

#include <algorithm>
#include <set>

namespace crater::hw {
namespace {

// Instruction sets that a job may ask for, and the flags of /proc/cpuinfo any of which proves it. Kernel
// names are kept; `vnni` and `amx` stand for their families.
struct FeatureRow {
    std::string_view name;
    std::string_view flags;
};
constexpr FeatureRow feature_rows[] = {
    // x86
    {"sse4_2", "sse4_2"},
    {"f16c", "f16c"},
    {"fma", "fma"},
    {"avx", "avx"},
    {"avx2", "avx2"},
    {"avx_vnni", "avx_vnni"},
    {"avx512f", "avx512f"},
    {"avx512bw", "avx512bw"},
    {"avx512cd", "avx512cd"},
    {"avx512dq", "avx512dq"},
    {"avx512vl", "avx512vl"},
    {"avx512ifma", "avx512ifma"},
    {"avx512vbmi", "avx512vbmi"},
    {"avx512_vbmi2", "avx512_vbmi2"},
    {"avx512_vnni", "avx512_vnni"},
    {"avx512_bitalg", "avx512_bitalg"},
    {"avx512_vpopcntdq", "avx512_vpopcntdq"},
    {"avx512_bf16", "avx512_bf16"},
    {"avx512_fp16", "avx512_fp16"},
    {"amx_tile", "amx_tile"},
    {"amx_int8", "amx_int8"},
    {"amx_bf16", "amx_bf16"},
    {"amx_fp16", "amx_fp16"},
    {"vnni", "avx512_vnni avx_vnni"},
    {"amx", "amx_tile"},
    {"aes", "aes"},
    {"sha_ni", "sha_ni"},
    // ARM
    {"neon", "asimd neon"},
    {"dotprod", "asimddp"},
    {"bf16", "bf16"},
    {"i8mm", "i8mm"},
    {"sve", "sve"},
    {"sve2", "sve2"},
    {"sme", "sme"},
};

}  // namespace

CpuFacts read_cpu(const Tree& tree, const std::vector<std::int64_t>& usable) {
    CpuFacts facts;
    std::set<std::string_view> common;
    bool first = true;
    std::int64_t cpu = -1;
    const std::string text = tree.text("/proc/cpuinfo");
    for (auto line : words(text, "\n")) {
        const auto colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        const auto key = trimmed(line.substr(0, colon)), value = trimmed(line.substr(colon + 1));
        if (key == "processor") cpu = whole_number(value).value_or(-1);
        if (!usable.empty() && !std::binary_search(usable.begin(), usable.end(), cpu)) continue;
        if (facts.model.empty() && (key == "model name" || key == "Model")) facts.model = value;
        if (key != "flags" && key != "Features") continue;
        const auto listed = words(value);
        const std::set<std::string_view> flags(listed.begin(), listed.end());
        if (first) common = flags;
        std::erase_if(common, [&](auto flag) { return !flags.contains(flag); });
        first = false;
    }
    for (const auto& row : feature_rows) {
        const auto flags = words(row.flags);
        if (std::any_of(flags.begin(), flags.end(), [&](auto flag) { return common.contains(flag); }))
            facts.features.emplace_back(row.name);
    }
    std::sort(facts.features.begin(), facts.features.end());
    return facts;
}

std::string read_os(const Tree& tree) {
    std::string name;
    const std::string release = tree.text("/etc/os-release");
    for (auto line : words(release, "\n")) {
        if (!line.starts_with("PRETTY_NAME=")) continue;
        name = line.substr(line.find('=') + 1);
        std::erase(name, '"');
    }
    const std::string kernel = tree.line("/proc/sys/kernel/osrelease");
    if (!kernel.empty()) name += (name.empty() ? "Linux " : ", Linux ") + kernel;
    return name;
}

}  // namespace crater::hw
