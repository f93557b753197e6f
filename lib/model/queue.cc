#include "crater/base/ids.h"
#include "crater/model/tenant.h"

namespace crater {

Result<void> check_queue(const QueueSpec& queue, const std::string& field) {
    CRATER_TRY_VOID(check_id(queue.name, field + "name"));
    if (ranking_of(queue.policy) != Ranking::weighted && queue.weights != PlacementWeights{})
        return fail(Code::invalid,
                    "the policy " + std::string(name_of(queue.policy)) + " adds no weighted terms up",
                    field + "weights", "with policy: binpack, spread or affinity, or leave them out");
    return {};
}

}  // namespace crater
