// crater simulate, the placement part: a policy on the OpenB trace.
#include <fmt/format.h>

#include <cmath>
#include <iostream>

#include "crater/replay/departures.h"
#include "simulate.h"

namespace crater::cli {
namespace {

Json by_load(const std::array<std::optional<double>, replay::loads.size()>& values) {
    Json out = Json::object();
    for (std::size_t l = 0; l < replay::loads.size(); ++l)
        out[std::to_string(replay::loads[l])] = values[l] ? Json(rounded(*values[l])) : Json(nullptr);
    return out;
}

void print_figures(const Json& answer) {
    std::cout << fmt::format(
        "{} on {}, seed {}: {} of {} pods placed, {:.0f} decisions/s, learning aside {:.0f}\n\n",
        text(answer, "policy"), text(answer, "workload"), text(answer, "seed"), text(answer, "placed"),
        text(answer, "decisions"), number(answer, "decisions_per_second"),
        number(answer, "decisions_per_second_learning_aside"));
    std::cout << fmt::format("{:<32}", "GPU asked for, % of the cluster");
    for (const int load : replay::loads) std::cout << fmt::format("{:>8}", load);
    for (const auto& [name, key] :
         {std::pair{"allocation %", "allocation_percent"}, {"fragmentation %", "fragmentation_percent"}}) {
        std::cout << fmt::format("\n{:<32}", name);
        for (const int load : replay::loads) {
            const auto& value = answer[key][std::to_string(load)];
            std::cout << (value.is_null() ? fmt::format("{:>8}", "-")
                                          : fmt::format("{:>8.2f}", value.get<double>()));
        }
    }
    std::cout << "\n";
}

void fill(Context& context, const SimulateOptions& options, const replay::Trace& trace,
          replay::Placer& placer) {
    replay::Decisions decisions;
    {
        ProgressLine line(options.policy);
        decisions = replay::replay(trace, placer, ComputingTime(), line.callback());
    }
    const auto figures = replay::measure(trace, decisions.placements);
    const Json answer = {
        {"workload", trace.workload},
        {"seed", trace.seed},
        {"policy", options.policy},
        {"decisions", figures.arrived},
        {"decisions_per_second", std::round(decisions.per_second())},
        {"decisions_per_second_learning_aside", std::round(decisions.per_second_learning_aside())},
        {"placed", figures.placed},
        {"refused", figures.arrived - figures.placed},
        {"used_gpu_milli", figures.used},
        {"cluster_gpu_milli", figures.gpu},
        {"allocation_percent", by_load(figures.allocation)},
        {"fragmentation_percent", by_load(figures.fragmentation)}};
    print_answer(context, answer, [&] { print_figures(answer); });
}

replay::DepartureOptions departure_options(const SimulateOptions& options, std::uint64_t seed) {
    replay::DepartureOptions out;
    out.seed = seed;
    out.offered = options.offered;
    out.arrivals = options.arrivals_count;
    out.holding_mean = duration_of("holding-time", options.holding_time);
    const auto refuse = [](const char* field, const std::string& found, const char* needed) {
        throw CommandFailed{{Code::invalid, found + "; " + needed + " is needed", field, ""}};
    };
    if (!(out.offered > 0 && out.offered <= 100))
        refuse("offered", fmt::format("{}", out.offered), "a part of the cluster above 0, such as 0.95,");
    if (out.arrivals < 1 || out.arrivals > 1'000'000'000)
        refuse("arrivals-count", std::to_string(out.arrivals), "1 or more");
    if (out.holding_mean.count() < 1) refuse("holding-time", options.holding_time, "more than nothing");
    return out;
}

void lose(Context& context, const SimulateOptions& options, const replay::Trace& trace,
          replay::Placer& placer) {
    const auto departures = departure_options(options, trace.seed);
    replay::LossFigures figures;
    {
        ProgressLine line(options.policy);
        figures = replay::run_departures(trace, placer, departures, ComputingTime(), line.callback());
    }
    const Json answer = {{"workload", trace.workload},
                         {"seed", trace.seed},
                         {"policy", options.policy},
                         {"departures", true},
                         {"offered_percent", rounded(100 * departures.offered)},
                         {"decisions", figures.arrived},
                         {"decisions_per_second", std::round(figures.decisions_per_second())},
                         {"counted", figures.counted},
                         {"refused", figures.refused},
                         {"refused_percent", rounded(figures.refused_percent)},
                         {"refused_multi_card_percent", rounded(figures.refused_multi_card_percent)},
                         {"used_percent", rounded(figures.used_percent)}};
    print_answer(context, answer, [&] {
        std::cout << fmt::format(
            "{} on {} with departures, seed {}: {} of {} counted pods refused, {:.0f} decisions/s\n\n",
            options.policy, trace.workload, trace.seed, figures.refused, figures.counted,
            figures.decisions_per_second());
        for (const auto& [name, percent] : {std::pair{"offered %", 100 * departures.offered},
                                            {"used %", figures.used_percent},
                                            {"refused % of offered GPU-time", figures.refused_percent},
                                            {"refused % of multi-card", figures.refused_multi_card_percent}})
            std::cout << fmt::format("{:<32}{:>8.2f}\n", name, percent);
    });
}

}  // namespace

void simulate_placement(Context& context, const SimulateOptions& options, const std::string& folder) {
    const auto seed = seed_of(options.seed);
    const auto trace = need(replay::read_trace({folder, options.workload, seed, options.arrivals}));
    const auto placer = need(replay::make_placer(options.policy, trace, seed));
    (options.departures ? lose : fill)(context, options, trace, *placer);
}

}  // namespace crater::cli
