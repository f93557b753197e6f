#include "validate_resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "crater/base/ids.h"

namespace crater::api {
namespace {

// Far above any machine, and so low that 4096 tasks of it can be added up.
constexpr std::int64_t cards_max = 65'536, cores_max = 1'000'000, iops_max = 1'000'000'000;
constexpr Mebibytes gpu_memory_max{1 << 24};       // 16 TiB
constexpr Bytes bytes_max{std::int64_t{1} << 50};  // 1 PiB
constexpr BytesPerSecond bandwidth_max{1'000'000'000'000'000};
constexpr Micros latency_max{3'600'000'000};

constexpr std::array<std::string_view, 5> precisions{"fp16", "bf16", "int8", "int4", "fp8"};

template <class Q>
Result<void> check_range(Q amount, Q most, std::string_view field) {
    if (amount.value < 0) return fail(Code::invalid, "an amount is not negative", std::string(field));
    if (amount > most) {
        if constexpr (requires { format(most); })
            return fail(Code::invalid,
                        fmt::format("{} is beyond any machine; at most {}", format(amount), format(most)),
                        std::string(field));
        else
            return fail(Code::invalid,
                        fmt::format("{} is beyond any machine; at most {}", amount.value, most.value),
                        std::string(field));
    }
    return {};
}

// What asks something of a card although no card is asked for.
std::string_view card_wish(const GpuRequest& g) {
    if (g.memory) return "memory";
    if (g.compute) return "compute";
    if (!g.model.empty()) return "model";
    if (g.exclusive) return "exclusive";
    if (g.interconnect != Interconnect::any) return "interconnect";
    if (!g.min_compute_capability.empty()) return "min_compute_capability";
    if (!g.precision.empty()) return "precision";
    return {};
}

bool is_capability(std::string_view text) {
    const auto dot = text.find('.');
    if (dot == std::string_view::npos || dot == 0 || dot > 2 || text.size() - dot != 2) return false;
    return text.find_first_not_of("0123456789.") == std::string_view::npos && text.rfind('.') == dot;
}

Result<void> check_gpu(const GpuRequest& g) {
    CRATER_TRY_VOID(check_request(g.count, "resources.gpu.count"));
    CRATER_TRY_VOID(check_range(g.count, MilliGpu(cards_max * 1000), "resources.gpu.count"));
    CRATER_TRY_VOID(check_range(g.memory, gpu_memory_max, "resources.gpu.memory"));
    if (g.count.value == 0) {
        if (const auto wish = card_wish(g); !wish.empty())
            return fail(Code::invalid, fmt::format("{} is asked of a card, and count is 0", wish),
                        fmt::format("resources.gpu.{}", wish), "set resources.gpu.count");
        return {};
    }
    const bool fraction = g.count.value < 1000;
    if (fraction && g.exclusive)
        return fail(Code::invalid, fmt::format("{} of a card cannot be exclusive", format(g.count)),
                    "resources.gpu.exclusive", "ask for count 1, or leave exclusive out");
    if (g.compute) {
        CRATER_TRY_VOID(check_request(*g.compute, "resources.gpu.compute"));
        if (g.compute->value < 100 || g.compute->value > 1000)
            return fail(Code::invalid, fmt::format("{} is no part of a card; 0.1 to 1", format(*g.compute)),
                        "resources.gpu.compute");
        if (fraction && *g.compute != g.count)
            return fail(Code::invalid,
                        fmt::format("count asks for {} of a card's compute, this for {}", format(g.count),
                                    format(*g.compute)),
                        "resources.gpu.compute", "give one of the two, with count 1 for this one");
        if (g.exclusive && g.compute->value != 1000)
            return fail(Code::invalid, "an exclusive card is not capped", "resources.gpu.compute",
                        "leave compute or exclusive out");
    }
    if (!g.model.empty()) CRATER_TRY_VOID(check_name(g.model, "resources.gpu.model"));
    if (!g.min_compute_capability.empty() && !is_capability(g.min_compute_capability))
        return fail(Code::invalid,
                    shown(g.min_compute_capability) + " is no compute capability; for example \"8.0\"",
                    "resources.gpu.min_compute_capability");
    if (!g.precision.empty() &&
        std::find(precisions.begin(), precisions.end(), g.precision) == precisions.end())
        return fail(Code::invalid,
                    shown(g.precision) + " is not a precision of tensor cores; fp16, bf16, int8, int4 or fp8",
                    "resources.gpu.precision");
    return {};
}

Result<void> check_cpu(const CpuRequest& c) {
    CRATER_TRY_VOID(check_request(c.cores, "resources.cpu.cores"));
    CRATER_TRY_VOID(check_range(c.cores, MilliCpu(cores_max * 1000), "resources.cpu.cores"));
    if (c.features.size() > 64)
        return fail(Code::invalid, "more than 64 instruction sets", "resources.cpu.features");
    for (std::size_t i = 0; i < c.features.size(); ++i) {
        const std::string& name = c.features[i];
        const auto plain = [](char x) {
            return (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') || (x >= '0' && x <= '9') || x == '_' ||
                   x == '.' || x == '-';
        };
        if (name.empty() || name.size() > 64 || !std::all_of(name.begin(), name.end(), plain))
            return fail(Code::invalid,
                        shown(name) + " is not the name of an instruction set; for example avx2",
                        fmt::format("resources.cpu.features[{}]", i));
    }
    return {};
}

Result<void> check_disk(const DiskRequest& d) {
    CRATER_TRY_VOID(check_range(d.size, bytes_max, "resources.disk.size"));
    CRATER_TRY_VOID(check_range(d.iops, Iops(iops_max), "resources.disk.iops"));
    CRATER_TRY_VOID(check_range(d.latency_us_max, latency_max, "resources.disk.latency_us_max"));
    CRATER_TRY_VOID(check_range(d.read_mbps_min, bandwidth_max, "resources.disk.read_mbps_min"));
    CRATER_TRY_VOID(
        check_range(d.random_read_mbps_min, bandwidth_max, "resources.disk.random_read_mbps_min"));
    if (!std::isfinite(d.iops_stability_ratio) || d.iops_stability_ratio < 0 || d.iops_stability_ratio > 1)
        return fail(Code::invalid, "a ratio is from 0 to 1", "resources.disk.iops_stability_ratio");
    if (d.io_weight < 0 || d.io_weight > 1000)
        return fail(Code::invalid, fmt::format("{} is no weight; 1 to 1000", d.io_weight),
                    "resources.disk.io_weight");
    return {};
}

}  // namespace

Result<void> check_resources(const Resources& r) {
    CRATER_TRY_VOID(check_gpu(r.gpu));
    CRATER_TRY_VOID(check_cpu(r.cpu));
    CRATER_TRY_VOID(check_range(r.memory.size, bytes_max, "resources.memory.size"));
    CRATER_TRY_VOID(check_range(r.memory.bandwidth, bandwidth_max, "resources.memory.bandwidth"));
    CRATER_TRY_VOID(check_disk(r.disk));
    return {};
}

}  // namespace crater::api
