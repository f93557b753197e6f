// What a task finds in its environment, as far as the node knows it. SPEC 4.
#include <sys/stat.h>

#include <filesystem>

#include "fs.h"
#include "task.h"

namespace crater::run {
namespace {

// The newest entry of the folder that is neither hidden nor half written; "" when there is none.
std::string newest_checkpoint(const std::string& folder) {
    std::string newest;
    timespec newest_time{};
    for (const auto& name : list_folder(folder)) {
        if (name.starts_with('.') || name.ends_with(".tmp") || name.ends_with(".part") ||
            name.ends_with(".new"))
            continue;
        struct stat st {};
        if (::stat((folder + "/" + name).c_str(), &st) != 0) continue;
        const auto key = [](const timespec& t) { return std::pair(t.tv_sec, t.tv_nsec); };
        if (!newest.empty() && key(st.st_mtim) < key(newest_time)) continue;
        newest = folder + "/" + name;
        newest_time = st.st_mtim;
    }
    return newest;
}

bool mounted(const JobSpec& spec, const std::string& path) {
    return std::any_of(spec.mounts.begin(), spec.mounts.end(), [&](const Mount& m) {
        return path == m.target || path.starts_with(m.target.ends_with('/') ? m.target : m.target + "/");
    });
}

}  // namespace

// An output folder that is there, on the machine or through a mount, is the job's own affair. One that is not
// is given: kept under DIR and, where the task has its own view of the file system, seen at the path that the
// job names.
std::string output_path(const Launch& launch, const ProcessOptions& options) {
    const std::string& wanted = launch.spec.output;
    if (wanted.starts_with('/') && (mounted(launch.spec, wanted) || exists(wanted))) return wanted;
    return task_paths(options, launch.id).output;
}

std::map<std::string, std::string> task_environment(const Launch& launch, const ProcessOptions& options) {
    const Allocation& a = launch.allocation;
    const TaskPaths paths = task_paths(options, launch.id);
    const TaskUser user = task_user(options.task_user);
    std::map<std::string, std::string> env{
        {"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
        {"HOME", paths.work},
        {"TMPDIR", namespaces_work() ? "/tmp" : paths.temp},
        {"LANG", "C.UTF-8"},
        {"USER", launch.run_as_root ? "root" : user.name},
        {"LOGNAME", launch.run_as_root ? "root" : user.name},
    };
    for (const auto& [key, value] : launch.spec.env) env[key] = value;

    env["CRATER_JOB_ID"] = launch.id.job;
    env["CRATER_TASK_INDEX"] = std::to_string(launch.id.task);
    env["CRATER_CPU_CORES"] = format(a.cpu);
    if (!a.cpu_set.empty()) env["CRATER_CPU_SET"] = format_set(a.cpu_set);
    if (a.numa_node >= 0) env["CRATER_NUMA_NODE"] = std::to_string(a.numa_node);
    if (!launch.spec.resources.gpu.precision.empty())
        env["CRATER_PRECISION"] = launch.spec.resources.gpu.precision;

    // Cards that are not the task's are out of its sight; without cards, all of them.
    std::string indexes, devices;
    const bool by_uuid =
        std::all_of(a.gpus.begin(), a.gpus.end(), [](const GpuSlice& s) { return !s.uuid.empty(); });
    for (const GpuSlice& slice : a.gpus) {
        const std::string_view comma = indexes.empty() ? "" : ",";
        indexes += std::string(comma) + std::to_string(slice.index);
        devices += std::string(comma) + (by_uuid ? slice.uuid : std::to_string(slice.index));
    }
    env["CUDA_VISIBLE_DEVICES"] = devices;
    env["NVIDIA_VISIBLE_DEVICES"] = a.gpus.empty() ? "void" : devices;
    if (!a.gpus.empty()) {
        env["CRATER_GPU_IDS"] = indexes;
        env["CRATER_GPU_MEMORY_MB"] = std::to_string(a.gpus.front().memory.value);
    }

    env["CRATER_TEMP_PATH"] = paths.temp;
    env["CRATER_CHECKPOINT_PATH"] = paths.checkpoints;
    const std::string resume = newest_checkpoint(paths.checkpoints);
    if (resume.empty())
        env.erase("CRATER_RESUME_FROM");
    else
        env["CRATER_RESUME_FROM"] = resume;
    const std::string output = output_path(launch, options);
    const bool shown = output == paths.output && launch.spec.output.starts_with('/') && namespaces_work();
    env["CRATER_OUTPUT_PATH"] = shown ? launch.spec.output : output;
    for (const auto& [key, value] : launch.env) env[key] = value;
    return env;
}

}  // namespace crater::run
