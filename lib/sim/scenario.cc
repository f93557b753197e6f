#include "crater/sim/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

namespace crater::sim {
namespace {

// Everything that can run ends within this after the faults have.
constexpr Millis peace{4 * 3'600'000};
constexpr std::size_t lines_remembered = 20'000, lines_of_failure = 200;

std::string seconds(Millis at) { return fmt::format("{}.{:03} s", at.count() / 1000, at.count() % 1000); }

void ask(World& world, const Step& step) {
    const int node = static_cast<int>(step.node);
    switch (step.act) {
        case Act::submit: return world.submit(step.spec, step.job);
        case Act::cancel: return world.cancel(step.job);
        case Act::evict: return world.evict(step.job);
        case Act::drain: return world.drain(node, false, step.span);
        case Act::drain_evict: return world.drain(node, true, step.span);
        case Act::taint: return world.taint(node, step.span);
        case Act::maintain: return world.maintain(node, step.after, step.span);
        case Act::quota: return world.set_quota(step.tenant, step.quota);
        case Act::defragment: return world.defragment();
    }
}

std::string job_line(const JobSpec& spec) {
    const Resources& each = spec.resources;
    std::string out;
    if (spec.tasks > 1) out += fmt::format("{} tasks of ", spec.tasks);
    if (each.gpu.count.value > 0) out += format(each.gpu.count) + " cards";
    if (each.gpu.memory.value > 0) out += " with " + format(each.gpu.memory);
    if (each.gpu.count.value > 0) out += ", ";
    out += format(each.cpu.cores) + " cores, " + format(each.memory.size) + ", for " + format(spec.duration);
    if (spec.time_limit > Millis(0)) out += ", at most " + format(spec.time_limit);
    if (spec.priority.value >= 0) out += ", priority " + to_text(spec.priority);
    if (spec.preemptible.value_or(false)) out += ", gives way in " + format(spec.grace_period);
    if (spec.restart.policy == RestartPolicy::on_failure)
        out += fmt::format(", {} restarts", spec.restart.max);
    if (!spec.queue.empty()) out += ", queue " + spec.queue;
    if (!spec.tenant.empty()) out += ", tenant " + spec.tenant;
    for (const std::string& id : spec.after_ok) out += ", after " + id + " ended well";
    for (const std::string& id : spec.after_any) out += ", after " + id + " ended";
    return out;
}

std::string quota_line(const Quota& quota) {
    std::string out;
    if (quota.gpu) out += " " + format(*quota.gpu) + " cards";
    if (quota.memory) out += " " + format(*quota.memory) + " memory";
    if (quota.jobs) out += fmt::format(" {} jobs", *quota.jobs);
    return out.empty() ? " nothing said" : out;
}

std::string step_line(const Step& step) {
    const std::string node = fmt::format("n{}", step.node + 1);
    std::string out(name_of(step.act));
    switch (step.act) {
        case Act::submit: return out + " " + step.job + ": " + job_line(step.spec);
        case Act::cancel:
        case Act::evict: return out + " " + step.job;
        case Act::drain:
        case Act::drain_evict:
        case Act::taint: return out + " " + node + " for " + format(step.span);
        case Act::maintain:
            return out + " " + node + " in " + format(step.after) + " for " + format(step.span);
        case Act::quota: return out + " of " + step.tenant + ":" + quota_line(step.quota);
        case Act::defragment: break;
    }
    return out;
}

std::string node_line(const hw::SimulatedNode& node) {
    return fmt::format("{}: {} x {}{}, {} cores, {}", node.name, node.gpus.count, node.gpus.model,
                       node.gpus.mig ? " in MIG mode" : "", node.cpu.cores, format(node.memory));
}

}  // namespace

std::span<const EnumName<Act>> enum_names(Act) {
    static constexpr EnumName<Act> names[] = {{Act::submit, "submit"},
                                              {Act::cancel, "cancel"},
                                              {Act::evict, "evict"},
                                              {Act::drain, "drain"},
                                              {Act::drain_evict, "drain_evict"},
                                              {Act::taint, "taint"},
                                              {Act::maintain, "maintain"},
                                              {Act::quota, "quota"},
                                              {Act::defragment, "defragment"}};
    return names;
}

namespace {

// Caps end with the faults, so that none keeps a job from its end.
void lift_quotas(World& world, const Scenario& scenario) {
    Quota plenty;
    plenty.gpu = MilliGpu(1'000'000'000);
    plenty.jobs = 1'000'000;
    plenty.memory = Bytes(1ll << 60);
    std::set<std::string> tenants;
    for (const Step& step : scenario.steps)
        if (step.act == Act::quota && tenants.insert(step.tenant).second)
            world.set_quota(step.tenant, plenty);
}

std::string told(const World& world, std::size_t lines) {
    std::vector<std::string> kept;
    std::istringstream all(world.trace(lines_remembered));
    for (std::string line; std::getline(all, line);)
        if (line.find("scheduler heartbeat") == std::string::npos) kept.push_back(std::move(line));
    std::string out;
    for (std::size_t i = kept.size() - std::min(lines, kept.size()); i < kept.size(); ++i)
        out += kept[i] + "\n";
    return out;
}

}  // namespace

Outcome play(const Scenario& scenario, Tell tell) {
    World world(scenario.options);
    for (const Injection& fault : scenario.faults) world.inject(fault);
    for (const Step& step : scenario.steps) {
        if (step.at > world.elapsed()) world.run_for(step.at - world.elapsed());
        if (!world.violations().empty()) break;
        ask(world, step);
    }
    if (scenario.length > world.elapsed() && world.violations().empty())
        world.run_for(scenario.length - world.elapsed());
    world.heal();
    lift_quotas(world, scenario);
    if (world.violations().empty()) world.run_until_idle(peace);
    return {.counts = world.counts(),
            .coverage = world.coverage(),
            .elapsed = world.elapsed(),
            .trace_hash = world.trace_hash(),
            .violations = world.violations(),
            .trace = tell == Tell::everything     ? told(world, lines_remembered)
                     : world.violations().empty() ? std::string()
                                                  : told(world, lines_of_failure)};
}

Scenario tidied(Scenario scenario) {
    const auto nodes = static_cast<std::int64_t>(scenario.options.nodes.size());
    std::erase_if(scenario.faults, [&](const Injection& fault) {
        return fault.at > scenario.length ||
               (fault_row(fault.fault).place == Place::node && fault.node >= nodes);
    });
    std::stable_sort(scenario.steps.begin(), scenario.steps.end(),
                     [](const Step& a, const Step& b) { return a.at < b.at; });
    std::set<std::string> jobs;
    const auto unknown = [&](const std::string& job) { return !jobs.contains(job); };
    std::erase_if(scenario.steps, [&](Step& step) {
        if (step.at > scenario.length) return true;
        switch (step.act) {
            case Act::submit:
                std::erase_if(step.spec.after_ok, unknown);
                std::erase_if(step.spec.after_any, unknown);
                return !jobs.insert(step.job).second;
            case Act::cancel:
            case Act::evict: return unknown(step.job);
            case Act::drain:
            case Act::drain_evict:
            case Act::taint:
            case Act::maintain: return step.node >= nodes;
            case Act::quota:
            case Act::defragment: break;
        }
        return false;
    });
    return scenario;
}

std::string story(const Scenario& scenario) {
    const Settings& settings = scenario.options.settings;
    std::string out =
        fmt::format("seed {}, {} nodes, heartbeats every {}, lost after {}, faults end after {}\n",
                    scenario.options.seed, scenario.options.nodes.size(), format(settings.heartbeat_interval),
                    format(settings.heartbeat_timeout), seconds(scenario.length));
    for (const auto& node : scenario.options.nodes) out += "  " + node_line(node) + "\n";
    std::vector<std::pair<Millis, std::string>> lines;
    for (const Step& step : scenario.steps) lines.emplace_back(step.at, step_line(step));
    for (const Injection& fault : scenario.faults) lines.emplace_back(fault.at, "FAULT " + text_of(fault));
    std::stable_sort(lines.begin(), lines.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [at, text] : lines) out += fmt::format("{:>12}  {}\n", seconds(at), text);
    return out;
}

}  // namespace crater::sim
