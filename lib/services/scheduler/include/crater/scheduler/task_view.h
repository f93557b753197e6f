// What AllData sees of a job: the same view answers GET /tasks/{id} and is the body of a callback. Pure.
#pragma once

#include "crater/api/views.h"
#include "crater/scheduler/read_model.h"

namespace crater::scheduler {

// `node` is the first task's node, when it is known: it says where the checkpoints are.
api::TaskView task_view(const JobStatus& status, const NodeInventory* node);

}  // namespace crater::scheduler
