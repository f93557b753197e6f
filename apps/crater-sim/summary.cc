#include "summary.h"

#include <fmt/format.h>

namespace crater::sim {

void Summary::add(const Report& report) {
    const Counts& counts = report.outcome.counts;
    ++seeds;
    violations += report.outcome.violations.size();
    twice += report.twice;
    events += counts.events;
    faults += counts.faults;
    idle_faults += counts.faults_without_effect;
    jobs += counts.submitted;
    messages += counts.messages;
    commits += counts.commits;
    elapsed += report.outcome.elapsed;
    coverage.add(report.outcome.coverage);
}

void Summary::print(std::ostream& out, double real, double cpu, int processes) const {
    const double n = static_cast<double>(std::max<std::uint64_t>(1, seeds)),
                 virtual_s = static_cast<double>(elapsed.count()) / 1000;
    out << fmt::format(
        "a seed: {:.0f} events, {:.1f} faults and {:.1f} that found nothing to strike, {:.1f} jobs, {:.0f} messages, {:.0f} commits, "
        "{:.0f} s of virtual time\n",
        static_cast<double>(events) / n, static_cast<double>(faults) / n,
        static_cast<double>(idle_faults) / n, static_cast<double>(jobs) / n,
        static_cast<double>(messages) / n, static_cast<double>(commits) / n, virtual_s / n);
    out << fmt::format(
        "speed: {:.0f} s with {} processes, {:.0f} s of CPU; {:.0f} events/s, {:.0f} events a CPU second; a real second is {:.0f} virtual ones; "
        "{} seeds played twice\n",
        real, processes, cpu, static_cast<double>(events) / real,
        static_cast<double>(events) / std::max(cpu, 1e-6), virtual_s / real, twice);
}

void Summary::print_coverage(std::ostream& out) const {
    out << coverage.table();
    const auto missing = coverage.missing();
    out << fmt::format("coverage: {} of {} pairs of fault and state reached\n",
                       Coverage::all().size() - missing.size(), Coverage::all().size());
    for (const auto& [fault, state] : missing)
        out << "  never: " << fault_row(fault).name << " while " << state_row(state).name << "\n";
}

}  // namespace crater::sim
