// The task types that AllData names, and the kind of work each is.
#pragma once

#include <span>
#include <string_view>

#include "crater/model/job.h"

namespace crater::api {

struct TaskType {
    std::string_view name;
    JobType type;
};
std::span<const TaskType> task_types();
// JobType::unset for a name that is not in the table: then the command tells.
JobType job_type_of(std::string_view task_type);

}  // namespace crater::api
