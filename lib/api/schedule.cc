// AllData's documents -> JobSpec. SPEC 10.1.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "crater/api/documents.h"
#include "crater/base/ids.h"
#include "crater/codec/codec.h"
#include "schedule_document.h"
#include "spelling.h"
#include "task_types.h"
#include "template_fill.h"

namespace crater::api {
namespace {

using Json = nlohmann::json;

// Member of a tree by its key in any spelling.
const Json* member(const Json& tree, std::string_view name, std::string_view other = {}) {
    if (!tree.is_object()) return nullptr;
    for (auto it = tree.begin(); it != tree.end(); ++it)
        if (const std::string key = snake_case(it.key()); (key == name || key == other) && !it->is_null())
            return &*it;
    return nullptr;
}

Result<void> take_resources(ScheduleDocument& d, const Json& tree) {
    if (!d.resource_requirements) return {};
    if (member(tree, "resources") != nullptr)
        return fail(Code::invalid, "resources and resource_requirements say the same", "resources",
                    "give one of them");
    d.job.resources = *d.resource_requirements;
    return {};
}

// An elastic start is not offered, so a smaller minimum is refused; the same minimum says nothing new.
Result<void> check_minimum(const ScheduleDocument& d, const Json& tree) {
    if (!d.sla.min_resources) return {};
    const Json* sla = member(tree, "sla", "task_sla");
    Resources wanted = d.job.resources;
    CRATER_TRY_VOID(codec::read_into(wanted, *member(*sla, "min_resources"), "sla.min_resources"));
    const Json least = codec::to_json(wanted).flatten(), asked = codec::to_json(d.job.resources).flatten();
    for (auto it = least.begin(); it != least.end(); ++it) {
        if (asked.contains(it.key()) && asked[it.key()] == *it) continue;
        std::string field = "sla.min_resources" + it.key();
        std::replace(field.begin(), field.end(), '/', '.');
        return fail(Code::invalid, "a start with other than what is asked for is not offered by this version",
                    as_written(tree, field),
                    "leave min_resources out, or ask for that much in the first place");
    }
    return {};
}

Result<void> take_sla(ScheduleDocument& d, const Json& tree) {
    CRATER_TRY_VOID(check_minimum(d, tree));
    if (d.sla.max_queue_time) {
        if (member(tree, "max_queue_time") != nullptr && d.job.max_queue_time != *d.sla.max_queue_time)
            return fail(Code::invalid, "sla.max_queue_time says something else", "max_queue_time",
                        "give one of them");
        d.job.max_queue_time = *d.sla.max_queue_time;
    }
    if (d.sla.min_gpu_utilization_percent)
        d.job.min_gpu_utilization_percent = *d.sla.min_gpu_utilization_percent;
    if (d.sla.fault_tolerance != FaultTolerance::unset) {
        const bool preemptible = d.sla.fault_tolerance == FaultTolerance::preemptible;
        if (d.job.preemptible.value_or(preemptible) != preemptible)
            return fail(Code::invalid, "sla.fault_tolerance says something else", "preemptible",
                        "give one of them");
        d.job.preemptible = preemptible;
    }
    return {};
}

Result<void> take_topology(ScheduleDocument& d, const Json& tree) {
    const auto& t = d.topology_awareness;
    if (!t.enable_numa_binding && !t.numa_binding_policy) return {};
    const NumaPolicy policy = t.numa_binding_policy    ? *t.numa_binding_policy
                              : *t.enable_numa_binding ? NumaPolicy::best_effort
                                                       : NumaPolicy::none;
    if (t.enable_numa_binding && t.numa_binding_policy &&
        *t.enable_numa_binding == (policy == NumaPolicy::none))
        return fail(
            Code::invalid,
            fmt::format("enable_numa_binding and the policy {} contradict each other", name_of(policy)),
            "topology_awareness.enable_numa_binding", "give one of them");
    if (member(tree, "numa_binding_policy") != nullptr && d.job.numa_binding_policy != policy)
        return fail(Code::invalid, "topology_awareness says something else", "numa_binding_policy",
                    "give one of them");
    d.job.numa_binding_policy = policy;
    return {};
}

void round_memory(ScheduleDocument& d) {
    auto& memory = d.job.resources.gpu.memory;
    const std::int64_t step = d.resource_profile.gpu_memory_granularity_mb.value_or(1),
                       rest = memory.value % step;
    if (memory && rest != 0 && memory.value <= (std::int64_t{1} << 40)) memory.value += step - rest;
}

Result<void> check_texts(const ScheduleDocument& d) {
    CRATER_TRY_VOID(check_id(d.task_id, "task_id"));
    if (d.mode == RunMode::allocate)
        return fail(Code::invalid, "allocation only is not offered by this version", "mode",
                    "use run: Crater starts the task itself");
    const struct {
        const std::string& text;
        std::string_view field;
        bool path;
    } texts[] = {
        {d.task_type, "task_type", false},
        {d.model_config.name, "model_config.name", true},
        {d.model_config.precision, "model_config.precision", false},
        {d.model_config.quantization, "model_config.quantization", false},
        {d.data_config.train_dataset, "data_config.train_dataset", true},
        {d.data_config.val_dataset, "data_config.val_dataset", true},
        {d.task_portrait.model_family, "task_portrait.model_family", false},
        {d.task_portrait.stage, "task_portrait.stage", false},
    };
    for (const auto& row : texts) {
        if (row.text.empty()) continue;
        if (!row.path) {
            CRATER_TRY_VOID(check_name(row.text, row.field));
            continue;
        }
        const bool control = std::any_of(row.text.begin(), row.text.end(),
                                         [](unsigned char c) { return c < 0x20 || c == 0x7f; });
        if (row.text.size() > 4096 || control)
            return fail(Code::invalid, shown(row.text) + " is too long or holds a control character",
                        std::string(row.field));
    }
    if (d.data_config.io_pattern != IoPattern::unset && d.data_portrait.io_pattern != IoPattern::unset &&
        d.data_config.io_pattern != d.data_portrait.io_pattern)
        return fail(Code::invalid, "data_config.io_pattern says something else", "data_portrait.io_pattern",
                    "give one of them");
    return {};
}

// What is known of model and data, for the task. What the document sets in env itself stays.
void add_environment(ScheduleDocument& d) {
    const auto add = [&](const char* name, std::string value) {
        if (!value.empty()) d.job.env.emplace(name, std::move(value));
    };
    const IoPattern pattern =
        d.data_config.io_pattern != IoPattern::unset ? d.data_config.io_pattern : d.data_portrait.io_pattern;
    add("CRATER_TASK_TYPE", d.task_type);
    add("CRATER_MODEL_NAME", d.model_config.name);
    add("CRATER_PRECISION", d.model_config.precision);
    add("CRATER_QUANTIZATION", d.model_config.quantization);
    add("CRATER_DATASET_PATH", d.data_config.train_dataset);
    add("CRATER_VAL_DATASET_PATH", d.data_config.val_dataset);
    add("CRATER_IO_PATTERN", std::string(name_of(pattern)));
    add("CRATER_MODEL_FAMILY", d.task_portrait.model_family);
    add("CRATER_MODEL_PARAMETERS", to_text(d.task_portrait.parameters));
    add("CRATER_STAGE", d.task_portrait.stage);
    if (d.data_portrait.size) add("CRATER_DATASET_BYTES", std::to_string(d.data_portrait.size.value));
    add("CRATER_SAMPLE_TOKENS", to_text(d.data_portrait.sample_tokens));
}

// A model computed in a precision needs cards that compute in it. fp32 and others every card has.
void take_precision(ScheduleDocument& d) {
    auto& gpu = d.job.resources.gpu;
    if (!gpu.count || !gpu.precision.empty()) return;
    for (const std::string_view known : {"fp16", "bf16", "int8", "int4", "fp8"})
        if (d.model_config.precision == known) gpu.precision = known;
}

Result<void> take_template(ScheduleDocument& d, const Json& tree, const Templates& templates) {
    if (!d.job.command.argv.empty() || !d.job.image.empty()) return {};
    const auto found = templates.find(d.task_type);
    if (found == templates.end()) {
        std::string with, known;
        for (const auto& [name, form] : templates) with += (with.empty() ? "" : ", ") + name;
        for (const auto& row : task_types()) known += (known.empty() ? "" : ", ") + std::string(row.name);
        return fail(
            Code::invalid,
            fmt::format(
                "the document brings neither command nor image, and {}; task types with a template: {}; known task types: {}",
                d.task_type.empty() ? "no task_type"
                                    : "its task_type " + shown(d.task_type) + " has no template",
                with.empty() ? "none" : with, known),
            "task_type",
            "give a command or an image, or add a template under alldata.templates of the scheduler's configuration");
    }
    CRATER_TRY(filled, fill(found->second, references_of(tree), d.task_type));
    d.job.image = std::move(filled.image);
    d.job.command = std::move(filled.command);
    d.job.env.merge(filled.env);
    return {};
}

Result<ScheduleDocument> read_document(const Json& tree, const Templates& templates) {
    CRATER_TRY_VOID(refuse_not_offered(tree));
    CRATER_TRY(d, codec::read<ScheduleDocument>(tree));
    CRATER_TRY_VOID(check_texts(d));
    CRATER_TRY_VOID(take_resources(d, tree));
    CRATER_TRY_VOID(take_sla(d, tree));
    CRATER_TRY_VOID(take_topology(d, tree));
    CRATER_TRY_VOID(take_template(d, tree, templates));
    round_memory(d);
    take_precision(d);
    add_environment(d);
    if (d.job.name.empty()) d.job.name = d.task_id;
    if (d.job.type == JobType::unset) d.job.type = job_type_of(d.task_type);
    return d;
}

}  // namespace

Result<ScheduleRequest> read_schedule(std::string_view json, const Templates& templates) {
    CRATER_TRY(tree, codec::parse_json(json));
    auto read = read_document(tree, templates);
    if (!read) {
        read.error().field = as_written(tree, read.error().field);
        return fail(std::move(read.error()));
    }
    if (auto good = validate(read->job); !good) {
        good.error().field = as_written(tree, good.error().field);
        return fail(std::move(good.error()));
    }
    return ScheduleRequest{std::move(read->task_id), std::move(read->task_type), std::move(read->job),
                           codec::canonical(tree)};
}

}  // namespace crater::api
