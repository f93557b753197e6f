#include "task_types.h"

#include <array>

#include "crater/base/ids.h"

namespace crater::api {
namespace {

constexpr std::array rows{
    TaskType{"training", JobType::training},
    TaskType{"train", JobType::training},
    TaskType{"distributed_training", JobType::training},
    TaskType{"pretrain", JobType::training},
    TaskType{"llm_pretrain", JobType::training},
    TaskType{"finetune", JobType::training},
    TaskType{"llm_finetune", JobType::training},
    TaskType{"llm_sft", JobType::training},
    TaskType{"llm_lora", JobType::training},
    TaskType{"llm_rlhf", JobType::training},
    TaskType{"inference", JobType::inference},
    TaskType{"llm_inference", JobType::inference},
    TaskType{"model_serving", JobType::inference},
    TaskType{"serving", JobType::inference},
    TaskType{"batch", JobType::batch},
    TaskType{"batch_inference", JobType::batch},
    TaskType{"data_processing", JobType::batch},
    TaskType{"preprocessing", JobType::batch},
    TaskType{"etl", JobType::batch},
    TaskType{"evaluation", JobType::batch},
    TaskType{"interactive", JobType::interactive},
    TaskType{"notebook", JobType::interactive},
};

}  // namespace

std::span<const TaskType> task_types() { return rows; }

JobType job_type_of(std::string_view task_type) {
    const std::string name = snake_case(task_type);
    for (const auto& row : rows)
        if (row.name == name) return row.type;
    return JobType::unset;
}

}  // namespace crater::api
