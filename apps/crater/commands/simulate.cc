// crater simulate: policies and orders on published traces and made-up work. Contacts no server.
#include "simulate.h"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <iostream>

#include "crater/base/ids.h"
#include "simulate_guide.h"

namespace crater::cli {
namespace {

constexpr const char* default_traces = "../shared/bench";
const std::vector<std::string> trace_names = {"openb", "philly", "mix"};

struct ChosenTrace {
    std::string name, folder;
};

// "philly", "philly DIR", or the folder of OpenB alone.
ChosenTrace chosen_trace(const std::vector<std::string>& given) {
    namespace fs = std::filesystem;
    const bool named = std::find(trace_names.begin(), trace_names.end(), given.front()) != trace_names.end();
    if (named && given.size() == 1) {
        const auto base = fs::path(default_traces);
        return {given.front(), given.front() == "mix" ? base.string() : (base / given.front()).string()};
    }
    if (named) return {given.front(), given.back()};
    if (given.size() == 1 && fs::is_directory(given.front())) return {"openb", given.front()};
    const auto close = nearest(given.front(), trace_names);
    throw CommandFailed{
        {Code::invalid,
         shown(given.front()) + " is neither a trace nor a folder; there are openb, philly and mix", "trace",
         close.empty() ? "" : "did you mean '" + close + "'?"}};
}

void run_simulate(Context& context, const SimulateOptions& options) {
    if (!options.generate.empty()) return simulate_time(context, options, "", "");
    if (options.trace.empty())
        throw CommandFailed{
            {Code::invalid, "what to simulate is not said; --trace or --generate is needed", "trace", ""}};
    const auto trace = chosen_trace(options.trace);
    if (trace.name != "openb") return simulate_time(context, options, trace.name, trace.folder);
    if (!options.orders.empty())
        throw CommandFailed{{Code::invalid,
                             "openb has no times worth an order; philly, mix or --generate is needed",
                             "order", ""}};
    simulate_placement(context, options, trace.folder);
}

}  // namespace

std::int64_t ComputingTime::ticks_us() const {
    timespec t{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return std::int64_t{t.tv_sec} * 1'000'000 + t.tv_nsec / 1000;
}

ProgressLine::ProgressLine(std::string what) : what_(std::move(what)), shown_(::isatty(2) != 0) {}
ProgressLine::~ProgressLine() {
    if (shown_) std::cerr << "\r\x1b[K" << std::flush;
}
replay::Progress ProgressLine::callback() {
    if (!shown_) return {};
    return [this](std::int64_t done, std::int64_t all) { show(done, all); };
}
void ProgressLine::show(std::int64_t done, std::int64_t all) {
    const auto percent = 100 * done / std::max<std::int64_t>(1, all);
    if (percent == last_) return;
    last_ = percent;
    const auto filled = static_cast<std::size_t>(percent * 30 / 100);
    std::cerr << fmt::format("\r{} [{}{}] {:>3} %", what_, std::string(filled, '#'),
                             std::string(30 - filled, '.'), percent)
              << std::flush;
}

double rounded(double value) { return std::round(value * 10'000) / 10'000; }

std::uint64_t seed_of(const std::string& given) {
    std::uint64_t seed = 0;
    const auto [at, error] = std::from_chars(given.data(), given.data() + given.size(), seed);
    if (error == std::errc{} && at == given.data() + given.size()) return seed;
    throw CommandFailed{
        {Code::invalid, shown(given) + " is no seed; a whole number of 0 or more is needed", "seed", ""}};
}

Millis duration_of(const std::string& field, const std::string& given) {
    auto out = parse_duration(given);
    if (out) return *out;
    out.error().field = field;
    throw CommandFailed{out.error()};
}

void add_simulate(CLI::App& app, Context& context) {
    auto options = std::make_shared<SimulateOptions>();
    auto* simulate =
        app.add_subcommand("simulate", "How well a policy or an order does, on published traces");
    simulate->footer(simulate_guide);
    auto* trace =
        simulate
            ->add_option("--trace", options->trace,
                         "openb, philly or mix, and the folder it is in; or the folder of openb alone")
            ->expected(1, 2);
    simulate
        ->add_option("--generate", options->generate,
                     "Made-up work instead, such as poisson:jobs=1000,load=0.9; see below")
        ->excludes(trace);
    simulate
        ->add_option("--seed", options->seed,
                     "What is drawn: orders of arrivals, made-up work, errors of durations")
        ->capture_default_str();
    simulate->add_option("--policy", options->policy, "Who decides where; see below")->capture_default_str();
    // Jobs with times.
    simulate->add_option("--order", options->orders, "Who goes first; several are compared; see below")
        ->delimiter(',');
    simulate->add_option(
        "--nodes", options->nodes,
        "Cluster: a file of simulated nodes, all alike; 64 nodes of 8 cards of 40 GiB otherwise");
    simulate
        ->add_option("--durations", options->durations,
                     "What is known of how long jobs run: known, noisy, unknown")
        ->capture_default_str();
    simulate
        ->add_option(
            "--locality", options->locality,
            "Whether the cards of a job lie on as few nodes as hold them (strict) or may lie anywhere (relaxed)")
        ->capture_default_str();
    simulate
        ->add_option("--checkpoint", options->checkpoint,
                     "What a stopped job keeps: all (on_stop), or up to its last one, each 30m")
        ->capture_default_str();
    simulate->add_option("--resume-cost", options->resume_cost, "What each resume takes before work goes on")
        ->capture_default_str();
    simulate
        ->add_option("--load", options->load,
                     "mix: cards asked for at any time by whole cards, as a part of the cluster's")
        ->capture_default_str();
    simulate->add_option("--span", options->span, "mix: how long jobs keep coming")->capture_default_str();
    simulate->add_option("--until", options->until,
                         "Ends there, whatever still waits; when all jobs ended otherwise");
    simulate->add_option("--report", options->report,
                         "Writes all figures and curves: FILE.html to look at, FILE.json to compute with");
    // The placement part.
    simulate
        ->add_option("--workload", options->workload,
                     "openb: which list of pods: default, cpu250, gpushare100, gpuspec33, multigpu50, ...")
        ->capture_default_str();
    simulate->add_option(
        "--arrivals", options->arrivals,
        "openb: another file with orders, for other seeds; the folder's arrivals_compact/WORKLOAD.txt otherwise");
    auto* departures = simulate->add_flag("--departures", options->departures, "openb: pods end; see below");
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
    simulate->callback([&context, options] { run_simulate(context, *options); });
}

}  // namespace crater::cli
