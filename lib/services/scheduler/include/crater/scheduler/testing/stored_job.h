// What a store holds of a job, for those who check from outside what a scheduler does.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "crater/model/job.h"
#include "crater/model/node.h"
#include "crater/model/tenant.h"

namespace crater::scheduler {

struct StoredJob {
    std::shared_ptr<const JobStatus> status;
    bool stopping = false;  // its tasks are to stop
    Millis grace{0};
    Instant stop_since;
};
// Of the value of `job/<id>`.
Result<StoredJob> stored_job(std::string_view value);
struct StoredJobFacts {
    std::string tenant, queue;
    std::shared_ptr<const JobSpec> spec;
};
// Of the value of `job/<id>/spec`.
Result<StoredJobFacts> stored_job_facts(std::string_view value);
// Of the value of `node/<name>`.
Result<NodeInventory> stored_node(std::string_view value);
struct StoredNodeFacts {
    bool takes_work = true;
    std::vector<Taint> taints;
};
// Of the value of `node/<name>/state`.
Result<StoredNodeFacts> stored_node_facts(std::string_view value);
// Of the value of `tenant/<path>`.
Result<Tenant> stored_tenant(std::string_view value);

}  // namespace crater::scheduler
