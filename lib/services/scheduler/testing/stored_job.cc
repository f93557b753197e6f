#include "crater/scheduler/testing/stored_job.h"

#include "records.h"

namespace crater::scheduler {

Result<StoredJob> stored_job(std::string_view value) {
    CRATER_TRY(stored, stored_object<StoredStatus>(value));
    StoredJob out{.status = std::make_shared<const JobStatus>(std::move(stored.status))};
    if (stored.stop) {
        out.stopping = true;
        out.grace = stored.stop->grace;
        out.stop_since = stored.stop->since;
    }
    return out;
}

Result<StoredJobFacts> stored_job_facts(std::string_view value) {
    CRATER_TRY(stored, stored_object<StoredSpec>(value));
    return StoredJobFacts{std::move(stored.tenant), std::move(stored.queue),
                          std::make_shared<const JobSpec>(std::move(stored.spec))};
}

Result<NodeInventory> stored_node(std::string_view value) { return stored_object<NodeInventory>(value); }

Result<StoredNodeFacts> stored_node_facts(std::string_view value) {
    CRATER_TRY(stored, stored_object<StoredNodeState>(value));
    return StoredNodeFacts{!stored.draining && !stored.closed(), std::move(stored.taints)};
}

Result<Tenant> stored_tenant(std::string_view value) { return stored_object<Tenant>(value); }

}  // namespace crater::scheduler
