// crater-sim: the whole cluster in one process under seeds, with faults; checkers look after every step.
#include <CLI/CLI.hpp>
#include <iostream>

#include "crater/base/log.h"
#include "crater/sim/scenario.h"

namespace crater {
namespace {

int run(std::uint64_t from, std::uint64_t count, bool trace) {
    std::uint64_t violations = 0, events = 0;
    for (std::uint64_t seed = from; seed < from + count; ++seed) {
        const sim::Outcome outcome = sim::run_seed(seed, trace);
        events += outcome.events;
        violations += outcome.violations.size();
        if (!outcome.trace.empty()) std::cout << outcome.trace;
        for (const auto& v : outcome.violations) std::cout << "seed " << seed << ": " << v.checker << ": " << v.text << "\n";
        if (trace) std::cout << "seed " << seed << ": trace hash " << std::hex << outcome.trace_hash << std::dec << "\n";
    }
    std::cout << "sim: " << count << " seeds, " << violations << " violations, " << events << " events\n";
    return violations == 0 ? 0 : 1;
}

}  // namespace
}  // namespace crater

int main(int argc, char** argv) {
    CLI::App app{"Runs the real scheduler and agents in a simulated cluster with faults and checks that nothing is lost, doubled or over."};
    std::uint64_t seeds = 30, from = 1, seed = 0;
    bool trace = false;
    app.add_option("--seeds", seeds, "How many seeds");
    app.add_option("--from", from, "The first of them");
    auto* one = app.add_option("--seed", seed, "This one only");
    app.add_flag("--trace", trace, "Print what happened");
    CLI11_PARSE(app, argc, argv);
    crater::log::setup("crater-sim", trace ? crater::log::Level::info : crater::log::Level::error);
    return one->count() ? crater::run(seed, 1, trace) : crater::run(from, seeds, trace);
}
