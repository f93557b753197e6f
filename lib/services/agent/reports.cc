#include "reports.h"

#include <algorithm>

namespace crater::agent {

const proto::TaskReport& Reports::add(const run::TaskEvent& event) {
    proto::TaskReport report;
    report.set_number(next_++);
    report.set_job(event.id.job);
    report.set_task(event.id.task);
    report.set_attempt(event.id.attempt);
    report.set_state(std::string(name_of(event.state)));
    report.set_reason(std::string(name_of(event.reason)));
    report.set_detail(event.detail);
    report.set_exit_code(event.exit_code);
    report.set_at_ms(event.at.ms);
    report.set_enforcement(event.advisory ? "advisory" : "enforced");
    waiting_.push_back(std::move(report));
    return waiting_.back();
}

std::optional<proto::TaskReport> Reports::acknowledged(std::uint64_t number) {
    auto found = std::find_if(waiting_.begin(), waiting_.end(),
                              [&](const auto& report) { return report.number() == number; });
    if (found == waiting_.end()) return std::nullopt;
    std::optional<proto::TaskReport> report = std::move(*found);
    waiting_.erase(found);
    return report;
}

const proto::TaskReport* Reports::last_of(const run::TaskId& id) const {
    for (auto report = waiting_.rbegin(); report != waiting_.rend(); ++report)
        if (report->job() == id.job && report->task() == id.task && report->attempt() == id.attempt)
            return &*report;
    return nullptr;
}

run::TaskId id_of(const proto::TaskReport& report) { return {report.job(), report.task(), report.attempt()}; }

}  // namespace crater::agent
