// crater simulate, the time part: jobs come, wait, run, give way and end.
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <iostream>

#include "crater/base/ids.h"
#include "crater/hw/source.h"
#include "crater/replay/generate.h"
#include "crater/replay/mix.h"
#include "crater/replay/report.h"
#include "crater/replay/timed.h"
#include "simulate.h"

namespace crater::cli {
namespace {

template <class E>
E named(const char* field, const std::string& given) {
    std::string all;
    std::vector<std::string> names;
    for (const auto& row : enum_names(E{})) {
        if (row.name == given) return row.value;
        names.emplace_back(row.name);
        all += (all.empty() ? "" : ", ") + names.back();
    }
    const auto close = nearest(given, names);
    throw CommandFailed{{Code::invalid, shown(given) + " is not known; there are " + all, field,
                         close.empty() ? "" : "did you mean '" + close + "'?"}};
}

// The file's nodes must be alike: the schedulers compared with know no other cluster.
replay::Fleet fleet_of(const std::string& path) {
    std::ifstream in(path);
    if (!in) throw CommandFailed{{Code::not_found, "there is no file " + path, "nodes", ""}};
    const std::string document{std::istreambuf_iterator<char>(in), {}};
    const auto nodes = need(hw::read_simulated_nodes(document));
    replay::Fleet out{static_cast<int>(nodes.size()), 0, 0};
    for (const auto& node : nodes) {
        const auto inventory = need(hw::simulated_inventory(node));
        const auto cards = static_cast<int>(inventory.gpus.size());
        const auto mib = cards > 0 ? static_cast<int>(inventory.gpus.front().memory.value) : 0;
        if (cards == 0 || (out.cards > 0 && (cards != out.cards || mib != out.card_mib)))
            throw CommandFailed{
                {Code::invalid,
                 inventory.name +
                     " is unlike the first node or has no card; all need as many of as much memory",
                 "nodes", ""}};
        out.cards = cards, out.card_mib = mib;
    }
    return out;
}

replay::TimedOptions timed_options(const SimulateOptions& options) {
    replay::TimedOptions out;
    out.seed = seed_of(options.seed);
    out.durations = named<replay::Durations>("durations", options.durations);
    out.resume_cost = duration_of("resume-cost", options.resume_cost);
    if (!options.until.empty()) out.until = duration_of("until", options.until);
    if (options.checkpoint != "on_stop") {
        out.checkpoint = duration_of("checkpoint", options.checkpoint);
        if (out.checkpoint.count() < 1000)
            throw CommandFailed{{Code::invalid,
                                 options.checkpoint + "; on_stop, or a time of 1s or more, is needed",
                                 "checkpoint", ""}};
    }
    return out;
}

replay::Workload workload_of(const SimulateOptions& options, const std::string& name,
                             const std::string& folder, const replay::Fleet& fleet) {
    const auto seed = seed_of(options.seed);
    if (name.empty()) return need(replay::generate(options.generate, fleet, seed));
    if (name == "philly") return need(replay::read_philly(folder, fleet));
    if (!(options.load > 0 && options.load <= 100))
        throw CommandFailed{{Code::invalid,
                             fmt::format("{}; a part of the cluster above 0 is needed", options.load), "load",
                             ""}};
    replay::MixOptions mix;
    mix.seed = seed, mix.load = options.load, mix.span = duration_of("span", options.span);
    const auto philly = need(replay::read_philly(folder + "/philly", fleet));
    const auto rate = need(replay::read_request_rate(folder + "/azure-llm"));
    mix.services = replay::services_for_three_quarters(philly, rate, mix);
    return replay::compose_mix(philly, rate, mix);
}

// To a millisecond and less: jobs of a moment count in hours too.
double hours(double value) { return std::round(value * 1e7) / 1e7; }

Json spread(const replay::Spread& s) {
    return {{"mean", hours(s.mean)},
            {"p50", hours(s.p50)},
            {"p90", hours(s.p90)},
            {"p99", hours(s.p99)},
            {"longest", hours(s.longest)}};
}

Json rounded_list(const std::vector<double>& values) {
    Json out = Json::array();
    for (const double v : values) out.push_back(rounded(v));
    return out;
}

Json answer_of(const std::string& run, const replay::TimedFigures& f) {
    Json curve = {{"hour", Json::array()},     {"held", Json::array()},    {"used", Json::array()},
                  {"stranded", Json::array()}, {"waiting", Json::array()}, {"waiting_cards", Json::array()}};
    for (const auto& p : f.curve) {
        curve["hour"].push_back(rounded(p.hour)), curve["held"].push_back(rounded(p.held));
        curve["used"].push_back(rounded(p.used)), curve["stranded"].push_back(rounded(p.stranded));
        curve["waiting"].push_back(p.waiting), curve["waiting_cards"].push_back(p.waiting_cards);
    }
    return {{"run", run},
            {"jobs", f.jobs},
            {"ended", f.ended},
            {"completion_h", spread(f.completion_h)},
            {"completion_big_h", spread(f.completion_big_h)},
            {"wait_h", spread(f.wait_h)},
            {"wait_big_h", spread(f.wait_big_h)},
            {"first_wait_h", spread(f.first_wait_h)},
            {"preemptions_per_job", rounded(f.preemptions_per_job)},
            {"spread_jobs_percent", rounded(100 * f.spread_jobs)},
            {"spread_card_hours_percent", rounded(100 * f.spread_card_hours)},
            {"lost_card_hours", rounded(f.lost_card_hours)},
            {"held_percent", rounded(100 * f.held)},
            {"used_percent", rounded(100 * f.used)},
            {"stranded_memory_percent", rounded(100 * f.stranded)},
            {"makespan_h", hours(f.makespan_h)},
            {"replay_seconds", rounded(f.seconds)},
            {"completion_quantiles_h", rounded_list(f.completion_quantiles)},
            {"wait_quantiles_h", rounded_list(f.wait_quantiles)},
            {"curve", std::move(curve)}};
}

void print_runs(const Json& answer) {
    std::cout << fmt::format("{}, {} jobs, simulated cluster of {} nodes with {} cards each, seed {}\n\n",
                             text(answer, "workload"), text(answer, "jobs"), text(answer, "nodes"),
                             text(answer, "cards_per_node"), text(answer, "seed"));
    // Hours, or seconds where everything is over in minutes.
    bool brief = true;
    for (const auto& run : answer["runs"]) brief &= number(run, "makespan_h") < 1;
    const double scale = brief ? 3600 : 1;
    const char* unit = brief ? "s" : "h";
    constexpr const char* row = "{:<18}{:>11}{:>11}{:>11}{:>11}{:>11}{:>10}{:>8}{:>8}{:>10}\n";
    std::cout << fmt::format(row, "", "done in", "big jobs", "wait", "longest", "all over", "preempted",
                             "cards", "work", "stranded");
    const auto mean = fmt::format("mean {}", unit);
    std::cout << fmt::format(row, "order", mean, mean, mean, unit, unit, "per job", "held %", "%",
                             "memory %");
    for (const auto& run : answer["runs"]) {
        const auto taken = [&](const char* path) { return fmt::format("{:.2f}", scale * number(run, path)); };
        const auto part = [&](const char* path) { return fmt::format("{:.1f}", number(run, path)); };
        std::cout << fmt::format(row, text(run, "run"), taken("completion_h.mean"),
                                 taken("completion_big_h.mean"), taken("wait_h.mean"),
                                 taken("wait_h.longest"), taken("makespan_h"),
                                 fmt::format("{:.2f}", number(run, "preemptions_per_job")),
                                 part("held_percent"), part("used_percent"), part("stranded_memory_percent"));
    }
}

// Before anything is run.
void check_report(const std::string& path) {
    if (!path.empty() && !path.ends_with(".html") && !path.ends_with(".json"))
        throw CommandFailed{
            {Code::invalid, shown(path) + " is neither FILE.html nor FILE.json", "report", ""}};
}

void write_report(const std::string& path, const Json& answer) {
    std::ofstream out(path);
    out << (path.ends_with(".html") ? replay::report_page(answer.dump()) : answer.dump()) << "\n";
    if (!out.flush()) throw CommandFailed{{Code::invalid, "cannot write " + path, "report", ""}};
}

}  // namespace

void simulate_time(Context& context, const SimulateOptions& options, const std::string& name,
                   const std::string& folder) {
    check_report(options.report);
    const auto timed = timed_options(options);
    const auto fleet = options.nodes.empty() ? replay::Fleet{} : fleet_of(options.nodes);
    auto workload = workload_of(options, name, folder, fleet);
    if (named<replay::Locality>("locality", options.locality) == replay::Locality::relaxed)
        replay::relax_locality(workload);
    replay::EngineChoice engine;
    engine.policy = named<Policy>("policy", options.policy);
    const auto orders = options.orders.empty() ? std::vector<std::string>{"fair"} : options.orders;
    Json runs = Json::array();
    for (const auto& order : orders) {
        ProgressLine line(order);
        runs.push_back(answer_of(order, need(replay::run_named(order, workload, timed, engine,
                                                               ComputingTime(), line.callback()))));
    }
    const Json answer = {{"simulated", true},
                         {"workload", workload.name},
                         {"seed", timed.seed},
                         {"jobs", workload.jobs.size()},
                         {"nodes", workload.fleet.nodes},
                         {"cards_per_node", workload.fleet.cards},
                         {"card_gib", workload.fleet.card_mib / 1024},
                         {"durations", options.durations},
                         {"locality", options.locality},
                         {"checkpoint", options.checkpoint},
                         {"resume_cost_s", timed.resume_cost.count() / 1000},
                         {"policy", options.policy},
                         {"runs", std::move(runs)}};
    if (!options.report.empty()) write_report(options.report, answer);
    print_answer(context, answer, [&] { print_runs(answer); });
}

}  // namespace crater::cli
