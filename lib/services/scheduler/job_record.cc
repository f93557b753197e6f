#include <algorithm>

#include "crater/scheduler/read_model.h"
#include "records.h"

namespace crater::scheduler {

const std::string& JobRecord::id() const { return fixed_->id; }
std::string JobRecord::name() const { return std::string(fixed_->name()); }
const std::string& JobRecord::tenant() const { return fixed_->tenant; }
const std::string& JobRecord::queue() const { return fixed_->queue; }
std::string_view JobRecord::user() const { return fixed_->user(); }
Result<JobSpec> JobRecord::spec() const { return fixed_->spec(); }
const JobSpec& JobRecord::outline() const { return *fixed_->outline; }
std::vector<std::string> JobRecord::notes() const { return fixed_->notes(); }
std::string_view JobRecord::document_hash() const { return fixed_->document_hash(); }
std::int64_t JobRecord::priority() const { return fixed_->priority; }

JobStatus JobRecord::status() const {
    auto stored = stored_object<StoredStatus>(*kept_);
    CRATER_CHECK(stored.has_value(), "the status of job " + id() + " was stored before");
    return std::move(stored->status);
}

bool JobRecord::runs_on(const std::string& node) const {
    if (kept_->find(node) == std::string::npos) return false;
    const JobStatus status = this->status();
    for (const TaskStatus& task : status.tasks)
        if (task.allocation && task.allocation->node == node) return true;
    return false;
}

api::JobRow JobRecord::row() const {
    const JobStatus status = this->status();
    api::JobRow row;
    row.id = id();
    row.name = name();
    row.queue = queue();
    row.tenant = tenant();
    row.user = std::string(user());
    row.type = outline().type;
    row.state = status.state;
    row.reason = status.reason;
    row.detail = status.detail;
    row.priority = static_cast<int>(priority());
    const std::int64_t tasks = row.tasks = outline().tasks;
    const Resources& each = outline().resources;
    row.gpu = each.gpu.count * tasks;
    const std::int64_t cards = (each.gpu.count.value + 999) / 1000;
    if (!each.gpu.exclusive) row.gpu_memory = each.gpu.memory * (cards * tasks);
    row.cpu = each.cpu.cores * tasks;
    row.memory = each.memory.size * tasks;
    for (const TaskStatus& task : status.tasks)
        if (task.allocation &&
            std::find(row.nodes.begin(), row.nodes.end(), task.allocation->node) == row.nodes.end())
            row.nodes.push_back(task.allocation->node);
    row.submitted = status.submitted;
    row.started = status.started;
    row.ended = status.ended;
    row.preemptions = status.preemptions;
    row.preemptible = fixed_->preemptible;
    row.simulated = simulated_;
    if (advisory_) row.enforcement = "advisory";
    return row;
}

}  // namespace crater::scheduler
