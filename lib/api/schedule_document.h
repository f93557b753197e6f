// AllData's training document and the portal form (SPEC 10.1) as one described struct. Everything that a job
// file may say at its top may stand here too; the two documents differ in where they put their resources.
#pragma once

#include <optional>
#include <string>

#include "crater/base/describe.h"
#include "crater/model/job.h"

namespace crater::api {

// A number of parameters or of tokens: 8000000000, "8e9", "8B", "1.5T".
struct BigCount {
    double value = 0;
};
Result<void> from_text(std::string_view text, BigCount& out);
std::string to_text(const BigCount& count);

enum class IoPattern { unset, sequential, random_read, small_files };
inline std::span<const EnumName<IoPattern>> enum_names(IoPattern) {
    static constexpr EnumName<IoPattern> names[] = {{IoPattern::unset, ""},
                                                    {IoPattern::sequential, "sequential"},
                                                    {IoPattern::random_read, "random_read"},
                                                    {IoPattern::small_files, "small_files"}};
    return names;
}

enum class RunMode { run, allocate };
inline std::span<const EnumName<RunMode>> enum_names(RunMode) {
    static constexpr EnumName<RunMode> names[] = {{RunMode::run, "run"}, {RunMode::allocate, "allocate"}};
    return names;
}

enum class FaultTolerance { unset, none, preemptible };
inline std::span<const EnumName<FaultTolerance>> enum_names(FaultTolerance) {
    static constexpr EnumName<FaultTolerance> names[] = {{FaultTolerance::unset, ""},
                                                         {FaultTolerance::none, "none"},
                                                         {FaultTolerance::preemptible, "preemptible"}};
    return names;
}

struct ModelConfig {
    std::string name, precision, quantization;
};
template <class V>
void describe(V& v, ModelConfig& m) {
    v.field("name", m.name, "Model; the task sees CRATER_MODEL_NAME.");
    v.field(
        "precision", m.precision,
        "fp32, fp16, bf16, int8, int4 or fp8; the task sees CRATER_PRECISION, and its cards must have it in their tensor cores.");
    v.field("quantization", m.quantization, "Quantization; the task sees CRATER_QUANTIZATION.");
}

struct DataConfig {
    std::string train_dataset, val_dataset;
    IoPattern io_pattern = IoPattern::unset;
};
template <class V>
void describe(V& v, DataConfig& d) {
    v.field("train_dataset", d.train_dataset, "Dataset; the task sees CRATER_DATASET_PATH.");
    v.field("val_dataset", d.val_dataset, "Validation dataset; the task sees CRATER_VAL_DATASET_PATH.");
    v.field("io_pattern", d.io_pattern, "How it is read; the task sees CRATER_IO_PATTERN.");
}

struct TaskPortrait {
    std::string model_family;
    BigCount parameters;
    std::string stage;
};
template <class V>
void describe(V& v, TaskPortrait& t) {
    v.field("model_family", t.model_family, "Family of the model; the task sees CRATER_MODEL_FAMILY.");
    v.field("parameters", t.parameters,
            "Parameters of the model, as 8B; the task sees CRATER_MODEL_PARAMETERS.");
    v.field("stage", t.stage, "pretrain, lora, rlhf, ...; the task sees CRATER_STAGE.");
}

struct DataPortrait {
    Bytes size;
    BigCount sample_tokens;
    IoPattern io_pattern = IoPattern::unset;
};
template <class V>
void describe(V& v, DataPortrait& d) {
    v.field("size", d.size, "Size of the data; the task sees CRATER_DATASET_BYTES.");
    v.field("sample_tokens", d.sample_tokens, "Tokens of a sample; the task sees CRATER_SAMPLE_TOKENS.");
    v.field("io_pattern", d.io_pattern, "How it is read; the task sees CRATER_IO_PATTERN.");
}

struct TopologyAwareness {
    std::optional<bool> enable_numa_binding;
    std::optional<NumaPolicy> numa_binding_policy;
};
template <class V>
void describe(V& v, TopologyAwareness& t) {
    v.field("enable_numa_binding", t.enable_numa_binding, "false is the policy none.");
    v.field("numa_binding_policy", t.numa_binding_policy, "strict, best_effort or none.");
}

struct ResourceProfile {
    std::optional<std::int64_t> gpu_memory_granularity_mb;
};
template <class V>
void describe(V& v, ResourceProfile& r) {
    v.field("gpu_memory_granularity_mb", r.gpu_memory_granularity_mb,
            "The request per card is rounded up to a multiple of it, in MiB.",
            {.minimum = 1, .maximum = 1 << 20});
}

struct Sla {
    std::optional<Millis> max_queue_time;
    std::optional<double> min_gpu_utilization_percent;
    std::optional<Resources> min_resources;
    FaultTolerance fault_tolerance = FaultTolerance::unset;
};
template <class V>
void describe(V& v, Sla& s) {
    v.field("max_queue_time", s.max_queue_time, "Longest wait wanted.");
    v.field("min_gpu_utilization_percent", s.min_gpu_utilization_percent, "Least GPU use expected.",
            {.minimum = 0, .maximum = 100});
    v.field("min_resources", s.min_resources,
            "What a smaller start must still have; this version starts only whole, so as requested.");
    v.field("fault_tolerance", s.fault_tolerance, "preemptible or none.");
}

struct ScheduleDocument {
    std::string task_id, task_type;
    RunMode mode = RunMode::run;
    ModelConfig model_config;
    DataConfig data_config;
    std::optional<Resources> resource_requirements;
    TaskPortrait task_portrait;
    DataPortrait data_portrait;
    TopologyAwareness topology_awareness;
    ResourceProfile resource_profile;
    Sla sla;
    JobSpec job;
};
template <class V>
void describe(V& v, ScheduleDocument& d) {
    v.field("task_id", d.task_id, "The caller's id; the same document again is the same task.",
            {.required = true});
    v.field("task_type", d.task_type,
            "Kind of work, and which template runs when there is no command and no image.");
    v.field("mode", d.mode, "run; allocate is not offered yet.");
    v.field("model_config", d.model_config, "Model.");
    v.field("data_config", d.data_config, "Data.");
    v.field("resource_requirements", d.resource_requirements,
            "What the task needs; the portal form says `resources`.");
    v.field("task_portrait", d.task_portrait, "What is known of the task.");
    v.field("data_portrait", d.data_portrait, "What is known of its data.");
    v.field("topology_awareness", d.topology_awareness, "Where cores and memory are taken.");
    v.field("resource_profile", d.resource_profile, "How requests are rounded.");
    v.field("sla", d.sla, "What was agreed.", {.alias = "task_sla"});
    describe(v, d.job);
}

}  // namespace crater::api
