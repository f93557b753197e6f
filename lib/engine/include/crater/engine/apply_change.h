// A change that `why` offered, made to the request it was offered for; and one step less of it, which should
// not be enough.
#pragma once

#include <cmath>

#include "crater/engine/explain.h"
#include "crater/model/job.h"

namespace crater::engine {

// The step in which a kind is searched. GPU memory goes in the granularity of the cards, which the caller
// knows.
inline double step_of(const std::string& kind, const JobSpec& spec, double gpu_memory_step) {
    if (kind == "gpu_memory") return gpu_memory_step;
    if (kind == "gpu_count") return spec.resources.gpu.count.value > 1000 ? 1 : 0.1;
    if (kind == "cpu") return 0.1;
    if (kind == "memory") return 128.0 * (1 << 20);
    if (kind == "memory_bandwidth") return 1e9;
    if (kind == "disk") return 1024.0 * (1 << 20);
    if (kind == "disk_iops") return 100;
    if (kind == "disk_bandwidth") return 1e7;
    return 1;  // tasks
}

// False for a kind that is no change of the request: the end of another job, a priority.
inline bool apply_change(const std::string& kind, double to, const std::string& value, JobSpec& spec) {
    Resources& r = spec.resources;
    const auto whole = [&](double factor = 1) {
        return static_cast<std::int64_t>(std::llround(to * factor));
    };
    if (kind == "gpu_memory")
        r.gpu.memory = Mebibytes(whole());
    else if (kind == "gpu_count")
        r.gpu.count = MilliGpu(whole(1000));
    else if (kind == "cpu")
        r.cpu.cores = MilliCpu(whole(1000));
    else if (kind == "memory")
        r.memory.size = Bytes(whole());
    else if (kind == "memory_bandwidth")
        r.memory.bandwidth = BytesPerSecond(whole());
    else if (kind == "disk")
        r.disk.size = Bytes(whole());
    else if (kind == "disk_iops")
        r.disk.iops = Iops(whole());
    else if (kind == "disk_bandwidth")
        r.disk.read_mbps_min = BytesPerSecond(whole());
    else if (kind == "gpu_model")
        r.gpu.model = value;
    else if (kind == "tasks")
        spec.tasks = whole();
    else
        return false;
    return true;
}

}  // namespace crater::engine
