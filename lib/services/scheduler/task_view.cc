#include "crater/scheduler/task_view.h"

namespace crater::scheduler {

api::TaskView task_view(const JobStatus& status, const NodeInventory* node) {
    api::TaskView view;
    view.task_id = status.id;
    view.status = alldata_name(status.state, status.reason);
    view.sequence = status.sequence;
    view.reason = name_of(status.reason);
    view.detail = status.detail;
    view.at = status.tasks.empty() ? status.submitted : status.tasks.front().since;
    if (status.tasks.empty()) return view;

    const TaskStatus& first = status.tasks.front();
    if (state_row(status.state).terminal && first.exit_code >= 0) view.exit_code = first.exit_code;
    if (!first.allocation) return view;
    const Allocation& held = *first.allocation;
    api::AllocatedResources resources;
    resources.node = held.node;
    resources.cpu_cores = held.cpu_set;
    resources.numa_node = held.numa_node;
    for (const GpuSlice& slice : held.gpus) resources.gpu_ids.push_back(slice.index);
    if (node && !node->checkpoint_path.empty())
        resources.checkpoint_path = node->checkpoint_path + "/" + status.id;
    view.allocated_resources = std::move(resources);
    return view;
}

}  // namespace crater::scheduler
