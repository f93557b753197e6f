#include "job_options.h"

#include <filesystem>

#include "crater/api/documents.h"
#include "crater/base/ids.h"
#include "crater/daemon/daemon.h"

namespace crater::cli {
namespace {

// A flag's value through its parser; the error names the flag.
template <class T, class Parse>
Result<void> set(T& out, const std::string& given, Parse parse, const char* flag) {
    if (given.empty()) return {};
    auto value = parse(given);
    if (!value) return fail(value.error().code, value.error().message, flag, value.error().hint);
    out = *value;
    return {};
}

Result<void> set_command(JobSpec& spec, const JobOptions& options) {
    if (!options.command.empty() && !options.words.empty())
        return fail(Code::invalid, "the command is given twice", "--command",
                    "either --command or words after --");
    if (!options.command.empty()) spec.command.argv = {"/bin/sh", "-c", options.command};
    if (!options.words.empty()) spec.command.argv = options.words;
    return {};
}

Result<void> set_env(JobSpec& spec, const std::vector<std::string>& pairs) {
    for (const std::string& pair : pairs) {
        const auto equals = pair.find('=');
        if (equals == std::string::npos || equals == 0)
            return fail(Code::invalid, "\"" + pair + "\" is not NAME=VALUE", "--env");
        spec.env[pair.substr(0, equals)] = pair.substr(equals + 1);
    }
    return {};
}

Result<void> set_mounts(JobSpec& spec, const std::vector<std::string>& mounts) {
    for (const std::string& text : mounts) {
        std::vector<std::string> parts;
        for (std::size_t from = 0; from <= text.size();) {
            const auto colon = std::min(text.find(':', from), text.size());
            parts.push_back(text.substr(from, colon - from));
            from = colon + 1;
        }
        if (parts.size() < 2 || parts.size() > 3 ||
            (parts.size() == 3 && parts[2] != "ro" && parts[2] != "rw"))
            return fail(Code::invalid, "\"" + text + "\" is not SOURCE:TARGET or SOURCE:TARGET:ro",
                        "--mount");
        spec.mounts.push_back({parts[0], parts[1], parts.size() == 3 && parts[2] == "ro"});
    }
    return {};
}

Result<void> set_topology(Topology& topology, const std::string& given) {
    const auto colon = given.find(':');
    const std::string level = given.substr(0, colon),
                      how = colon == std::string::npos ? "preferred" : given.substr(colon + 1);
    bool found = false;
    for (const auto& row : enum_names(TopologyLevel{}))
        if (row.name == level && row.value != TopologyLevel::none) topology.level = row.value, found = true;
    if (!found || (how != "required" && how != "preferred"))
        return fail(Code::invalid, "\"" + given + "\" is none of node, rack, spine", "--topology",
                    "rack, or rack:required");
    topology.required = how == "required";
    return {};
}

Result<void> set_count(std::int64_t& out, std::optional<std::int64_t> given, const char* flag) {
    if (!given) return {};
    if (*given < 1) return fail(Code::invalid, std::to_string(*given) + " is less than 1", flag, "1 or more");
    out = *given;
    return {};
}

// --gpu-memory is the job's total; a request is per card. SPEC 3.1.
Result<void> set_gpu(JobSpec& spec, const JobOptions& options) {
    GpuRequest& gpu = spec.resources.gpu;
    CRATER_TRY_VOID(set(gpu.count, options.gpu, parse_gpu, "--gpu"));
    if (!options.gpu_memory.empty()) {
        CRATER_TRY_VOID(set(gpu.memory, options.gpu_memory, parse_gpu_memory, "--gpu-memory"));
        if (!gpu.count) gpu.count = MilliGpu(1000);
        const std::int64_t cards = std::max<std::int64_t>(1, gpu.count.value / 1000);
        gpu.memory = Mebibytes((gpu.memory.value + cards - 1) / cards);
    }
    if (!options.gpu_model.empty()) gpu.model = options.gpu_model;
    if (options.gpu_exclusive) gpu.exclusive = true;
    return {};
}

}  // namespace

void add_job_options(CLI::App& submit, JobOptions& o) {
    submit.add_option("-f,--file", o.file, "Job file, YAML or JSON; flags win over it");
    submit.add_option("--name", o.name, "Name");
    submit.add_option("--type", o.type, "training, inference, batch or interactive");
    submit.add_option("--image", o.image, "Container image (docker runtime)");
    submit.add_option("--gpu", o.gpu, "Cards per task; 0.5 is half a card");
    submit.add_option("--gpu-memory", o.gpu_memory,
                      "GPU memory of the task in all, MiB or with a unit; divided by --gpu");
    submit.add_option("--gpu-model", o.gpu_model, "GPU model, or its family");
    submit.add_flag("--gpu-exclusive", o.gpu_exclusive, "Whole cards, shared with nobody");
    submit.add_option("--cpu", o.cpu, "Cores per task");
    submit.add_option("--memory", o.memory, "Memory per task, such as 16Gi");
    submit.add_option("--disk", o.disk, "Disk space per task");
    submit.add_option("--disk-io", o.disk_io, "Disk operations per second to reserve");
    submit.add_option("--command", o.command, "What runs, for /bin/sh -c; or words after --");
    submit.add_option("words", o.words, "What runs, word by word, after --");
    submit.add_option("--working-dir", o.working_dir, "Folder the command starts in");
    submit.add_option("--queue", o.queue, "Queue");
    submit.add_option("--priority", o.priority, "low, medium, high, critical or 0 to 1000");
    submit.add_option("--tenant", o.tenant, "Who pays");
    submit.add_flag("--preemptible,!--no-preemptible", o.preemptible, "May be stopped for others");
    submit.add_option("--tasks", o.tasks, "Equal tasks placed together");
    submit.add_option("--array", o.array, "That many independent jobs, each with its CRATER_ARRAY_INDEX");
    submit.add_option("--topology", o.topology,
                      "Keep the tasks near each other: node, rack or spine; rack:required for nowhere else");
    submit.add_option("--grace-period", o.grace_period, "Between SIGTERM and SIGKILL");
    submit.add_option("--max-queue-time", o.max_queue_time, "Longest wait wanted");
    submit.add_option("--duration", o.duration, "Expected run time");
    submit.add_option("--time-limit", o.time_limit, "End the run after this");
    submit.add_option("--env", o.env, "NAME=VALUE, may be repeated")->take_all();
    submit.add_option("--mount", o.mounts, "SOURCE:TARGET[:ro], may be repeated")->take_all();
    submit.add_flag("--dry-run", o.dry_run, "Say whether and where it would start; submit nothing");
    submit.add_flag("--wait", o.wait, "Wait for its end; exit 0 only if it finished well");
}

Result<JobSpec> job_spec(const JobOptions& options) {
    JobSpec spec;
    if (!options.file.empty()) {
        CRATER_TRY(text, daemon::read_file(options.file));
        CRATER_TRY(read,
                   api::read_job_file(text, std::filesystem::absolute(options.file).parent_path().string()));
        spec = std::move(read);
    }
    if (!options.name.empty()) spec.name = options.name;
    if (!options.image.empty()) spec.image = options.image;
    if (!options.queue.empty()) spec.queue = options.queue;
    if (!options.tenant.empty()) spec.tenant = options.tenant;
    if (!options.working_dir.empty())
        spec.working_dir = std::filesystem::absolute(options.working_dir).lexically_normal().string();
    CRATER_TRY_VOID(set_count(spec.tasks, options.tasks, "--tasks"));
    CRATER_TRY_VOID(set_count(spec.array, options.array, "--array"));
    if (!options.topology.empty()) CRATER_TRY_VOID(set_topology(spec.topology, options.topology));
    if (options.preemptible) spec.preemptible = true;
    if (!options.priority.empty())
        if (auto read = from_text(options.priority, spec.priority); !read)
            return fail(read.error().code, read.error().message, "--priority", read.error().hint);
    if (!options.type.empty()) {
        std::vector<std::string> names;
        bool found = false;
        for (const auto& row : enum_names(JobType{})) {
            names.emplace_back(row.name);
            if (row.name == options.type) spec.type = row.value, found = true;
        }
        if (!found)
            return fail(Code::invalid,
                        "\"" + options.type + "\" is none of training, inference, batch, interactive",
                        "--type", nearest(options.type, names));
    }
    CRATER_TRY_VOID(set_gpu(spec, options));
    CRATER_TRY_VOID(set(spec.resources.cpu.cores, options.cpu, parse_cpu, "--cpu"));
    CRATER_TRY_VOID(set(spec.resources.memory.size, options.memory, parse_bytes, "--memory"));
    CRATER_TRY_VOID(set(spec.resources.disk.size, options.disk, parse_bytes, "--disk"));
    CRATER_TRY_VOID(set(spec.grace_period, options.grace_period, parse_duration, "--grace-period"));
    CRATER_TRY_VOID(set(spec.max_queue_time, options.max_queue_time, parse_duration, "--max-queue-time"));
    CRATER_TRY_VOID(set(spec.duration, options.duration, parse_duration, "--duration"));
    CRATER_TRY_VOID(set(spec.time_limit, options.time_limit, parse_duration, "--time-limit"));
    if (!options.disk_io.empty()) {
        auto iops = parse_number(options.disk_io);
        if (!iops || *iops < 0)
            return fail(Code::invalid, "\"" + options.disk_io + "\" is no number of operations per second",
                        "--disk-io");
        spec.resources.disk.iops = Iops(static_cast<std::int64_t>(*iops));
    }
    CRATER_TRY_VOID(set_command(spec, options));
    CRATER_TRY_VOID(set_env(spec, options.env));
    CRATER_TRY_VOID(set_mounts(spec, options.mounts));
    if (spec.name.empty() && !spec.command.argv.empty())
        spec.name =
            std::filesystem::path(spec.command.argv.front() == "/bin/sh" ? "job" : spec.command.argv.front())
                .filename()
                .string();
    CRATER_TRY_VOID(api::validate(spec));
    return spec;
}

}  // namespace crater::cli
