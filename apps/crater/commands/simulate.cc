// crater simulate: a placement policy on a published trace. Contacts no server.
#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <charconv>
#include <cmath>
#include <iostream>

#include "../commands.h"
#include "../print.h"
#include "crater/base/clock.h"
#include "crater/base/ids.h"
#include "crater/replay/departures.h"
#include "crater/replay/replay.h"
#include "simulate_guide.h"

namespace crater::cli {
namespace {

struct SimulateOptions {
    std::string folder, workload = "default", seed = "42", policy = "price", arrivals;
    bool departures = false;
    double offered = 0.95;
    std::int64_t arrivals_count = 60'000;
    std::string holding_time = "1h";
};

// Time this thread was computing: on a busy machine the rate of decisions stays that of a core.
class ComputingTime final : public Clock {
  public:
    Instant now() const override { return {}; }
    std::int64_t ticks_us() const override {
        timespec t{};
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return std::int64_t{t.tv_sec} * 1'000'000 + t.tv_nsec / 1000;
    }
};

// A line that grows on a terminal; nothing elsewhere.
class ProgressLine {
  public:
    explicit ProgressLine(std::string what) : what_(std::move(what)), shown_(::isatty(2) != 0) {}
    ~ProgressLine() {
        if (shown_) std::cerr << "\r\x1b[K" << std::flush;
    }
    replay::Progress callback() {
        if (!shown_) return {};
        return [this](std::int64_t done, std::int64_t all) { show(done, all); };
    }

  private:
    void show(std::int64_t done, std::int64_t all) {
        const auto percent = 100 * done / std::max<std::int64_t>(1, all);
        if (percent == last_) return;
        last_ = percent;
        const auto filled = static_cast<std::size_t>(percent * 30 / 100);
        std::cerr << fmt::format("\r{} [{}{}] {:>3} %", what_, std::string(filled, '#'),
                                 std::string(30 - filled, '.'), percent)
                  << std::flush;
    }
    std::string what_;
    bool shown_;
    std::int64_t last_ = -1;
};

std::uint64_t seed_of(const std::string& given) {
    std::uint64_t seed = 0;
    const auto [at, error] = std::from_chars(given.data(), given.data() + given.size(), seed);
    if (error == std::errc{} && at == given.data() + given.size()) return seed;
    throw CommandFailed{
        {Code::invalid, shown(given) + " is no seed; a whole number of 0 or more is needed", "seed", ""}};
}

Json rounded(const std::optional<double>& value) {
    return value ? Json(std::round(*value * 10'000) / 10'000) : Json(nullptr);
}

Json by_load(const std::array<std::optional<double>, replay::loads.size()>& values) {
    Json out = Json::object();
    for (std::size_t l = 0; l < replay::loads.size(); ++l)
        out[std::to_string(replay::loads[l])] = rounded(values[l]);
    return out;
}

void print_figures(const Json& answer) {
    std::cout << fmt::format("{} on {}, seed {}: {} of {} pods placed, {:.0f} decisions/s\n\n",
                             text(answer, "policy"), text(answer, "workload"), text(answer, "seed"),
                             text(answer, "placed"), text(answer, "decisions"),
                             number(answer, "decisions_per_second"));
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
    const Json answer = {{"workload", trace.workload},
                         {"seed", trace.seed},
                         {"policy", options.policy},
                         {"decisions", figures.arrived},
                         {"decisions_per_second", std::round(decisions.per_second())},
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
    auto holding = parse_duration(options.holding_time);
    if (!holding) {
        holding.error().field = "holding-time";
        throw CommandFailed{holding.error()};
    }
    out.holding_mean = *holding;
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

void add_simulate(CLI::App& app, Context& context) {
    auto options = std::make_shared<SimulateOptions>();
    auto* simulate =
        app.add_subcommand("simulate", "How well a placement policy fills a cluster, on a published trace");
    simulate->footer(simulate_guide);
    simulate
        ->add_option("--trace", options->folder,
                     "Folder of the trace: openb_node_list_gpu_node.csv and what belongs to it")
        ->required();
    simulate
        ->add_option("--workload", options->workload,
                     "Which list of pods: default, cpu250, gpushare100, gpuspec33, multigpu50, ...")
        ->capture_default_str();
    simulate->add_option("--seed", options->seed, "Which order of arrivals and of servers")
        ->capture_default_str();
    simulate->add_option("--policy", options->policy, "Who decides; see below")->capture_default_str();
    simulate->add_option(
        "--arrivals", options->arrivals,
        "Another file with orders, for other seeds; the folder's arrivals_compact/WORKLOAD.txt otherwise");
    auto* departures = simulate->add_flag("--departures", options->departures, "Pods end; see below");
    simulate
        ->add_option("--offered", options->offered, "GPU asked for at any time, as a part of the cluster's")
        ->capture_default_str()
        ->needs(departures);
    simulate->add_option("--arrivals-count", options->arrivals_count, "How many pods arrive")
        ->capture_default_str()
        ->needs(departures);
    simulate->add_option("--holding-time", options->holding_time, "How long a pod lasts on average: 1h, 90m")
        ->capture_default_str()
        ->needs(departures);
    simulate->callback([&context, options] {
        const auto seed = seed_of(options->seed);
        const auto trace =
            need(replay::read_trace({options->folder, options->workload, seed, options->arrivals}));
        const auto placer = need(replay::make_placer(options->policy, trace, seed));
        (options->departures ? lose : fill)(context, *options, trace, *placer);
    });
}

}  // namespace crater::cli
