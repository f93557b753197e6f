#include "crater/scheduler/testing/stored_job.h"

#include "records.h"

namespace crater::scheduler {

Result<StoredJob> stored_job(std::string_view value) {
    CRATER_TRY(stored, stored_object<StoredStatus>(value));
    StoredJob out{.status = std::move(stored.status)};
    if (stored.stop) {
        out.stopping = true;
        out.grace = stored.stop->grace;
        out.stop_since = stored.stop->since;
    }
    return out;
}

Result<std::string> stored_job_tenant(std::string_view value) {
    CRATER_TRY(stored, stored_object<StoredSpec>(value));
    return std::move(stored.tenant);
}

Result<Tenant> stored_tenant(std::string_view value) { return stored_object<Tenant>(value); }

}  // namespace crater::scheduler
