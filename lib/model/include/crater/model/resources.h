// What one task of a job asks for, in all dimensions. "The least I need". SPEC 3.1, 10.5.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "crater/base/describe.h"
#include "crater/base/quantity.h"

namespace crater {

enum class Interconnect { any, nvlink, same_numa };
inline std::span<const EnumName<Interconnect>> enum_names(Interconnect) {
    static constexpr EnumName<Interconnect> names[] = {
        {Interconnect::any, "any"}, {Interconnect::nvlink, "nvlink"}, {Interconnect::same_numa, "same_numa"}};
    return names;
}

struct GpuRequest {
    MilliGpu count;                   // cards; below 1000 a part of one card. 0 = no GPU
    Mebibytes memory;                 // per card; 0 = not given
    std::optional<MilliGpu> compute;  // per card, a hard cap; absent = a weight in proportion to the memory
    // full name, or its leading or family part; any case; "a|b" = either. Empty = any
    std::string model;
    bool exclusive = false;  // whole cards
    Interconnect interconnect = Interconnect::any;
    std::string min_compute_capability;  // "8.0"
    std::string precision;               // fp16, bf16, int8, int4, fp8: the card's tensor cores must have it
};
template <class V>
void describe(V& v, GpuRequest& g) {
    v.field("count", g.count, "Cards per task; a fraction below 1 (step 0.1) shares one card.");
    v.field("memory", g.memory, "GPU memory per card; below the card's size the card is shared.");
    v.field("compute", g.compute, "Hard cap on compute per card, 0.1 to 1.", {.alias = "cores"});
    v.field("model", g.model, "GPU model: full name or its leading or family part; several as a100|h100.",
            {.alias = "type"});
    v.field("exclusive", g.exclusive, "Whole cards, shared with nobody.");
    v.field("interconnect", g.interconnect, "How the cards must be linked.");
    v.field("min_compute_capability", g.min_compute_capability,
            "Least CUDA compute capability, such as 8.0.");
    v.field("precision", g.precision, "Tensor precision the card must have: fp16, bf16, int8, int4, fp8.");
}

struct CpuRequest {
    MilliCpu cores;                     // 0 = not given: filled at submit
    std::vector<std::string> features;  // avx2, avx512f, ...
};
template <class V>
void describe(V& v, CpuRequest& c) {
    v.field("cores", c.cores, "Cores per task, step 0.1.");
    v.field("features", c.features, "Instruction sets that must be present; avx512 means avx512f.",
            {.alias = "avx_support"});
}

struct MemoryRequest {
    Bytes size;                // 0 = not given: filled at submit
    BytesPerSecond bandwidth;  // reserved in one NUMA domain
};
template <class V>
void describe(V& v, MemoryRequest& m) {
    v.field("size", m.size, "Memory per task.");
    v.field("bandwidth", m.bandwidth, "Memory bandwidth reserved in one NUMA domain.");
}

enum class IoProfile { none, training, inference, model_loading, checkpoint, custom };
inline std::span<const EnumName<IoProfile>> enum_names(IoProfile) {
    static constexpr EnumName<IoProfile> names[] = {{IoProfile::none, "none"},
                                                    {IoProfile::training, "training"},
                                                    {IoProfile::inference, "inference"},
                                                    {IoProfile::model_loading, "model-loading"},
                                                    {IoProfile::checkpoint, "checkpoint"},
                                                    {IoProfile::custom, "custom"}};
    return names;
}

struct DiskRequest {
    Bytes size;
    Iops iops;                            // reserved
    Micros latency_us_max;                // threshold, not consumed; 0 = any
    BytesPerSecond read_mbps_min;         // reserved
    BytesPerSecond random_read_mbps_min;  // threshold
    double iops_stability_ratio = 0;      // threshold
    std::int64_t io_weight = 0;           // 1-1000; 0 = from the profile
    IoProfile io_profile = IoProfile::none;
    bool use_io_uring = true;
};
template <class V>
void describe(V& v, DiskRequest& d) {
    v.field("size", d.size, "Disk space per task.");
    v.field("iops", d.iops, "Reserved 4 KiB read operations per second.", {.alias = "iops_min"});
    v.field("latency_us_max", d.latency_us_max, "Highest mean random-read latency.",
            {.alias = "ssd_latency_us latency_us"});
    v.field("read_mbps_min", d.read_mbps_min, "Reserved sequential bandwidth in MB/s.",
            {.alias = "bandwidth_mbps"});
    v.field("random_read_mbps_min", d.random_read_mbps_min, "Least random-read bandwidth in MB/s.");
    v.field("iops_stability_ratio", d.iops_stability_ratio, "Least min/max IOPS over a calibration run.",
            {.alias = "ssd_iops_stability_ratio", .minimum = 0, .maximum = 1});
    v.field("io_weight", d.io_weight, "Share of the disk when it is busy.", {.minimum = 0, .maximum = 1000});
    v.field("io_profile", d.io_profile, "How the task uses the disk.");
    v.field("use_io_uring", d.use_io_uring, "Whether the disk should be driven with io_uring.");
}

struct Resources {
    GpuRequest gpu;
    CpuRequest cpu;
    MemoryRequest memory;
    DiskRequest disk;
};
template <class V>
void describe(V& v, Resources& r) {
    v.field("gpu", r.gpu, "GPU cards or slices.");
    v.field("cpu", r.cpu, "CPU.");
    v.field("memory", r.memory, "Memory.");
    v.field("disk", r.disk, "Disk.", {.alias = "ssd"});
}

// True when `card` ("a100-pcie-40gb") answers to `wanted` ("A100", "nvidia-a100", "a100-pcie-40gb"), or to
// one of several names joined by '|'. SPEC 3.1.
bool model_matches(std::string_view card, std::string_view wanted);

}  // namespace crater
