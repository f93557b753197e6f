// The flags of `crater job submit`, turned into the same JobSpec as a job file. Flags win over the file.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

#include "crater/model/job.h"

namespace crater::cli {

struct JobOptions {
    std::string file, name, image, queue, priority, tenant, type, working_dir;
    std::string gpu, gpu_memory, gpu_model, cpu, memory, disk, disk_io, grace_period, max_queue_time,
        duration, time_limit;
    std::string command;
    std::vector<std::string> words;  // the command after --
    std::vector<std::string> env, mounts;
    std::string topology;
    std::optional<std::int64_t> tasks, array;
    bool preemptible = false, gpu_exclusive = false, dry_run = false, wait = false;
};

void add_job_options(CLI::App& submit, JobOptions& options);
Result<JobSpec> job_spec(const JobOptions& options);

}  // namespace crater::cli
