// crater-sim: the whole cluster in one process under seeds, with faults; checkers look after every step.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <thread>

#include "crater/base/log.h"
#include "crater/sim/crew.h"
#include "crater/sim/regressions.h"
#include "crater/sim/shrink.h"
#include "summary.h"

namespace crater::sim {
namespace {

struct Options {
    std::uint64_t seeds = 30, from = 1, seed = 0, twice = 10;
    int jobs = 1, runs = 400;
    std::string scenario, regressions, save;
    bool trace = false, first = false, no_shrink = false, coverage = false;
};

std::optional<std::string> text_of_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    if (!file || !(text << file.rdbuf())) return std::nullopt;
    return std::move(text).str();
}

Result<Scenario> scenario_in(const std::string& path) {
    const auto text = text_of_file(path);
    if (!text) return fail(Code::not_found, "cannot read " + path);
    return read_scenario(*text);
}

int wrong(const std::string& what, const Error& error) {
    std::cerr << "crater-sim: " << what << ": " << error.text() << "\n";
    return 2;
}

void show(const std::string& whose, const Report& report) {
    for (const Violation& v : report.outcome.violations)
        std::cout << whose << ": " << v.checker << ": " << v.text << "\n";
    std::cout.flush();
}

// The smallest scenario that was found to fail by the same checker, its story and its last lines.
void show_small(const Scenario& scenario, const Report& report, const Options& options) {
    const std::string checker = report.outcome.violations.front().checker;
    const bool twice = checker == "determinism";
    const auto assignment = [&](const Scenario& s) { return Assignment{0, [&s] { return s; }, twice}; };
    const auto fails_alike = [&](const Scenario& s) {
        const Report again = play_alone(assignment(s));
        return !again.outcome.violations.empty() && again.outcome.violations.front().checker == checker;
    };
    const Shrunk small =
        options.no_shrink ? Shrunk{scenario, 0} : shrink(scenario, fails_alike, options.runs);
    const Report last = play_alone(assignment(small.scenario));
    if (small.runs) std::cout << "made smaller in " << small.runs << " runs:\n";
    std::cout << story(small.scenario) << last.outcome.trace;
    show("smallest", last);
    if (options.save.empty()) return;
    std::ofstream(options.save) << write_scenario(small.scenario);
    std::cout << "written to " << options.save << ", play it with --scenario\n";
}

// One seed or one file: with the story before and the trace behind it.
int play_one(const Scenario& scenario, const std::string& whose, const Options& options) {
    if (options.trace) std::cout << story(scenario) << std::flush;
    const Report report =
        play_alone({0, [&] { return scenario; }, true, options.trace ? Tell::everything : Tell::failures});
    if (options.trace) std::cout << report.outcome.trace;
    show(whose, report);
    std::cout << whose << ": " << report.outcome.counts.events << " events, " << report.outcome.counts.faults
              << " faults, trace hash " << std::hex << report.outcome.trace_hash << std::dec << "\n";
    if (report.outcome.violations.empty()) return 0;
    show_small(scenario, report, options);
    return 1;
}

struct Named {
    std::string name;
    std::function<Scenario()> scenario;
};

// What was wrong once. The files are read before anything is played.
Result<std::vector<Named>> regressions_in(const std::string& path) {
    const auto text = text_of_file(path);
    if (!text) return fail(Code::not_found, "cannot read " + path);
    CRATER_TRY(read, read_regressions(*text));
    std::vector<Named> out;
    for (const Regression& row : read) {
        if (row.seed) {
            out.push_back({"seed " + std::to_string(*row.seed), [seed = *row.seed] { return draw(seed); }});
            continue;
        }
        CRATER_TRY(scenario, scenario_in((std::filesystem::path(path).parent_path() / row.file).string()));
        out.push_back({row.file, [scenario = std::move(scenario)] { return scenario; }});
    }
    return out;
}

double cpu_of_children() {
    rusage use{};
    getrusage(RUSAGE_CHILDREN, &use);
    return static_cast<double>(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           static_cast<double>(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

int play_many(const Options& options) {
    std::vector<Named> known;
    if (!options.regressions.empty()) {
        auto read = regressions_in(options.regressions);
        if (!read) return wrong(options.regressions, read.error());
        known = std::move(*read);
    }
    const auto began = std::chrono::steady_clock::now();
    Crew crew(options.jobs);
    Summary summary;
    std::optional<std::pair<Named, Report>> failed;  // the first one

    std::size_t next_known = 0;
    std::uint64_t known_violations = 0;
    crew.play(
        [&]() -> std::optional<Assignment> {
            if (next_known == known.size()) return std::nullopt;
            const auto n = next_known++;
            return Assignment{n, known[n].scenario, true};
        },
        [&](const Assignment& what, Report report) {
            show("regression " + known[what.number].name, report);
            known_violations += report.outcome.violations.size();
            if (!report.outcome.violations.empty() && !failed)
                failed.emplace(known[what.number], std::move(report));
        });
    if (!known.empty())
        std::cout << "regressions: " << known.size() << ", " << known_violations << " violations\n"
                  << std::flush;

    // Seeds before the first that fails are all played, so that the first is the first.
    std::uint64_t next = options.from, end = options.from + options.seeds, first = end;
    crew.play(
        [&]() -> std::optional<Assignment> {
            if (next >= end) return std::nullopt;
            const auto seed = next++;
            return Assignment{seed, [seed] { return draw(seed); },
                              options.twice && seed % options.twice == 0};
        },
        [&](const Assignment& what, Report report) {
            summary.add(report);
            if (report.outcome.violations.empty()) return;
            const std::string name = "seed " + std::to_string(what.number);
            show(name, report);
            if (options.first) end = std::min(end, what.number);
            if (what.number >= first) return;
            first = what.number;
            if (!known_violations) failed.emplace(Named{name, what.scenario}, std::move(report));
        });
    const double real = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    const double cpu = cpu_of_children();
    if (failed && !(options.first && options.no_shrink)) {
        std::cout << failed->first.name << " in full:\n";
        show_small(failed->first.scenario(), failed->second, options);
    }
    if (options.coverage) summary.print_coverage(std::cout);
    summary.print(std::cout, real, cpu, options.jobs);
    std::cout << "sim: " << summary.seeds << " seeds, " << summary.violations + known_violations
              << " violations\n";
    return summary.violations + known_violations == 0 ? 0 : 1;
}

}  // namespace
}  // namespace crater::sim

int main(int argc, char** argv) {
    using namespace crater;
    CLI::App app{
        "Runs the real scheduler and agents in a simulated cluster with faults and checks that nothing is lost, doubled or over."};
    sim::Options options;
    options.jobs = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    app.add_option("--seeds", options.seeds, "How many seeds");
    app.add_option("--from", options.from, "The first of them");
    app.add_option("--jobs", options.jobs, "How many at a time")->check(CLI::PositiveNumber);
    app.add_option("--twice", options.twice,
                   "Each seed that this divides is played twice and must be the same; 0 is none");
    app.add_option("--regressions", options.regressions, "File of what was wrong once: played first");
    app.add_flag("--first", options.first, "Stop at the first seed in which something is wrong");
    app.add_flag("--coverage", options.coverage, "Print which faults struck in which states");
    auto* seed = app.add_option("--seed", options.seed, "This one only, twice");
    auto* file = app.add_option("--scenario", options.scenario, "This scenario only, twice")->excludes(seed);
    app.add_flag("--trace", options.trace, "Print what it is and what happened");
    app.add_flag("--no-shrink", options.no_shrink, "Do not make what fails smaller");
    app.add_option("--runs", options.runs, "How often the smaller ones are played at most")
        ->check(CLI::PositiveNumber);
    app.add_option("--save", options.save, "Write what failed, made smaller, to this file");
    CLI11_PARSE(app, argc, argv);
    log::setup("crater-sim", log::Level::error);
    if (seed->count())
        return sim::play_one(sim::draw(options.seed), "seed " + std::to_string(options.seed), options);
    if (!file->count()) return sim::play_many(options);
    const auto scenario = sim::scenario_in(options.scenario);
    return scenario ? sim::play_one(*scenario, options.scenario, options)
                    : sim::wrong(options.scenario, scenario.error());
}
