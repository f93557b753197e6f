// Requests for work in every document that Crater takes, turned into one JobSpec: the job file (SPEC 10.5),
// AllData's training document and the portal form (SPEC 10.1). Units are converted here, once. Pure
// functions.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "crater/base/error.h"
#include "crater/model/job.h"

namespace crater::api {

// What runs for a task_type whose document brings no command. SPEC 10.1: alldata.templates.
struct Template {
    std::string image;
    Command command;
    std::map<std::string, std::string> env;
};
using Templates = std::map<std::string, Template>;

struct ScheduleRequest {
    std::string task_id;
    std::string task_type;
    JobSpec spec;
    std::string canonical;  // of the document: the same id with another text is a conflict
};

// A job file as YAML or JSON text; `base_dir` resolves a relative working_dir (CLI only; empty refuses
// relative ones).
Result<JobSpec> read_job_file(std::string_view text, std::string_view base_dir = {});
Result<JobSpec> read_job(const nlohmann::json& tree);
// Either AllData document, told apart by `resource_requirements` or `resources`.
Result<ScheduleRequest> read_schedule(std::string_view json, const Templates& templates);
// Sense beyond types: ids, names, ranges, contradictions (a fraction with exclusive, tasks with array, ...).
// All documents pass through it.
Result<void> validate(const JobSpec& spec);
// A copy with the values of secret environment keys replaced by "***". SPEC 10.4.
JobSpec masked(const JobSpec& spec);
// What operators say of nodes.
Result<void> validate(const Taint& taint);
Result<void> validate(const Maintenance& window, Instant now);

}  // namespace crater::api
