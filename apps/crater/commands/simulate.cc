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
#include "crater/replay/replay.h"

namespace crater::cli {
namespace {

struct SimulateOptions {
    std::string folder, workload = "default", seed = "42", policy = "price", arrivals;
};

const char* const simulate_guide =
    "How well does a policy fill a cluster? This replays a published trace, one pod after the other, and "
    "says how much of the GPUs is in use.\n"
    "It needs no server and changes nothing.\n"
    "\n"
    "The trace is OpenB: 1213 servers with 6212 cards, and lists of some 8000 pods that ask for cores, "
    "memory and a part of a card, one card\n"
    "or several. Each pod is placed at once or refused for good; none ever ends, so the cluster fills up. A "
    "better policy places more before\n"
    "nothing fits any more.\n"
    "\n"
    "Policies:\n"
    "  price            Crater's own: the engine that schedules real clusters, placing where the least value "
    "is lost\n"
    "  fgd              fragmentation gradient descent (ATC'23), the best of the published ones\n"
    "  best_fit, dot_product, gpu_packing, gpu_clustering, random      what it was compared with\n"
    "  engine:NAME      any policy of Crater's queues: engine:best_fit, engine:binpack, engine:spread\n"
    "\n"
    "What is printed, when the pods so far asked for 100, 110, 120 and 130 % of the cluster's GPU:\n"
    "  allocation       GPU in use, in percent of the cluster\n"
    "  fragmentation    GPU that is free but of no use to a typical pod, in percent of the cluster\n"
    "  decisions/s      per second of one core's time\n"
    "\n"
    "Examples:\n"
    "  crater simulate --trace openb --policy fgd\n"
    "  crater simulate --trace openb --workload gpuspec33 --seed 45 --policy price --output json\n"
    "  ./dev bench openb --shared DIR        all workloads and seeds against the published figures, with "
    "upper bounds\n";

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
    simulate->callback([&context, options] {
        const auto seed = seed_of(options->seed);
        const auto trace =
            need(replay::read_trace({options->folder, options->workload, seed, options->arrivals}));
        const auto placer = need(replay::make_placer(options->policy, trace, seed));
        replay::Decisions decisions;
        {
            ProgressLine line(options->policy);
            decisions = replay::replay(trace, *placer, ComputingTime(), line.callback());
        }
        const auto figures = replay::measure(trace, decisions.placements);
        const Json answer = {{"workload", trace.workload},
                             {"seed", trace.seed},
                             {"policy", options->policy},
                             {"decisions", figures.arrived},
                             {"decisions_per_second", std::round(decisions.per_second())},
                             {"placed", figures.placed},
                             {"refused", figures.arrived - figures.placed},
                             {"used_gpu_milli", figures.used},
                             {"cluster_gpu_milli", figures.gpu},
                             {"allocation_percent", by_load(figures.allocation)},
                             {"fragmentation_percent", by_load(figures.fragmentation)}};
        print_answer(context, answer, [&] { print_figures(answer); });
    });
}

}  // namespace crater::cli
