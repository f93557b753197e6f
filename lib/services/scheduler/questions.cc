// Why a job waits, or where it stands.
#include "crater/base/ids.h"
#include "impl.h"

namespace crater::scheduler {

void Scheduler::Impl::why(const std::string& id, const engine::WhyQuestion& question,
                          Reply<engine::Why> reply) {
    const Job* job = find(id);
    const auto record = job ? nullptr : read_.job(id);
    if (!job && !record) return reply(fail(Code::not_found, "there is no job " + shown(id), "job"));
    const JobStatus status = job ? job->status() : record->status();
    engine::Why out;
    if (job && job->blocked && job->place == Place::waiting) {
        out.binding = "dependency";
        std::string names;
        for (const std::string& other : job->s().waits_for) names += (names.empty() ? "" : ", ") + other;
        for (const std::string& other : job->s().waits_for)
            out.holders.push_back({other, {}, "has to end first"});
        const auto needs = static_cast<double>(job->s().waits_for.size());
        out.requirements.push_back({"dependency", "jobs", needs, 0, needs, {}, 0, true});
        out.summary = "It waits for " +
                      std::string(job->s().waits_for.size() == 1 ? "the job " : "the jobs ") + names +
                      " to end.";
        return reply(std::move(out));
    }
    if (job && job->known_to_engine && job->place == Place::waiting && !job->s().stop)
        return reply(engine_.why(id, now(), question));
    out.binding = "none";
    std::string where;
    for (const TaskStatus& task : status.tasks)
        if (task.allocation && state_row(task.state).holds &&
            where.find(task.allocation->node) == std::string::npos)
            where += (where.empty() ? "" : ", ") + task.allocation->node;
    out.summary = "It does not wait: it is " + std::string(name_of(status.state)) +
                  (where.empty() ? "" : " on " + where) +
                  (status.detail.empty() ? "." : " (" + status.detail + ").");
    reply(std::move(out));
}

void Scheduler::Impl::estimates(const std::vector<std::string>& ids,
                                Reply<std::vector<Result<engine::StartEstimate>>> reply) {
    std::vector<Result<engine::StartEstimate>> out;
    for (const std::string& id : ids) {
        const Job* job = find(id);
        if (!job || job->place != Place::waiting || job->s().stop)
            out.push_back(fail(Code::unavailable, "it does not wait"));
        else if (job->blocked || !job->known_to_engine)
            out.push_back(fail(Code::unavailable, "it waits for the jobs it depends on"));
        else
            out.push_back(engine_.estimate(job->id(), now()));
    }
    reply(std::move(out));
}

}  // namespace crater::scheduler
