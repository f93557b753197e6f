// Training and inference on the same cards.
#include "crater/replay/mix.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "crater/base/ids.h"
#include "crater/replay/timed.h"
#include "csv.h"
#include "draw.h"

namespace crater::replay {
namespace {

constexpr std::size_t parts_of_day = 24;
constexpr double day_ms = 86'400'000, service_life_ms = 8.0 * 3'600'000;
constexpr int training_used = 850;                             // thousandths of a card
constexpr int service_used_least = 5, service_used_most = 25;  // hundredths
constexpr int service_gib[] = {2, 4, 8, 16};
const std::vector<double> service_chance = {0.30, 0.30, 0.25, 0.15};

// Seconds of the day of "2023-11-16 18:17:03.9799600"; -1 when it is none.
int second_of_day(std::string_view text) {
    if (text.size() < 19 || text[10] != ' ' || text[13] != ':' || text[16] != ':') return -1;
    const auto two = [&](std::size_t at) { return (text[at] - '0') * 10 + (text[at + 1] - '0'); };
    const int out = two(11) * 3600 + two(14) * 60 + two(17);
    return out >= 0 && out < 86'400 ? out : -1;
}

TimedJob draw_service(Rng& rng) {
    TimedJob job;
    job.service = true;
    job.memory_mib = service_gib[draw_weighted(rng, service_chance)] * 1024;
    constexpr auto choices = static_cast<std::uint64_t>(service_used_most - service_used_least + 1);
    job.compute = job.used = 10 * (service_used_least + static_cast<int>(rng.below(choices)));
    const auto life = std::llround(draw_exponential(rng, service_life_ms));
    job.run_time = Millis(std::max<std::int64_t>(60'000, life));
    return job;
}

// The jobs of a span of the trace that begins on some day: what bursts it has stay.
struct Window {
    std::size_t first = 0, last = 0;
    Millis begin{0};
};
Window draw_window(const Workload& philly, Rng& rng, Millis span) {
    const auto days = (philly.jobs.back().submitted - span).count() / static_cast<std::int64_t>(day_ms);
    Window out;
    out.begin =
        Millis(static_cast<std::int64_t>(day_ms)) *
        static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(std::max<std::int64_t>(1, days))));
    const auto at = [&](Millis when) {
        return std::lower_bound(philly.jobs.begin(), philly.jobs.end(), when,
                                [](const TimedJob& job, Millis t) { return job.submitted < t; }) -
               philly.jobs.begin();
    };
    out.first = static_cast<std::size_t>(at(out.begin)),
    out.last = static_cast<std::size_t>(at(out.begin + span));
    return out;
}

// One job of the window: its size, run time and moment of arrival.
TimedJob draw_training(const Workload& philly, Rng& rng, const Window& window, Millis span) {
    const auto& from =
        philly.jobs[window.first + static_cast<std::size_t>(rng.below(window.last - window.first))];
    TimedJob job = from;
    job.submitted = from.submitted - window.begin;
    job.run_time = std::min(from.run_time, span);
    job.used = training_used;
    return job;
}

double card_ms(const TimedJob& job) { return static_cast<double>(job.run_time.count()) * job.all_cards(); }

}  // namespace

double RequestRate::at(double of_day) const {
    const auto i = static_cast<std::size_t>(of_day * static_cast<double>(part.size()));
    return part[std::min(i, part.size() - 1)];
}

Result<RequestRate> parse_request_rate(std::istream& in, const std::string& named) {
    Csv csv(in, named);
    CRATER_TRY_VOID(csv.columns({"TIMESTAMP"}));
    std::vector<int> seconds;
    while (csv.next()) {
        const int second = second_of_day(csv.text(0));
        if (second < 0)
            return fail(Code::invalid,
                        "TIMESTAMP is " + shown(csv.text(0)) + "; YYYY-MM-DD HH:MM:SS is needed",
                        csv.place());
        seconds.push_back(second);
    }
    if (seconds.size() < parts_of_day)
        return fail(Code::invalid,
                    "has " + std::to_string(seconds.size()) + " requests; " + std::to_string(parts_of_day) +
                        " or more are needed",
                    named);
    const auto [first, last] = std::minmax_element(seconds.begin(), seconds.end());
    RequestRate out;
    out.part.assign(parts_of_day, 0);
    for (const int second : seconds) {
        const auto part = static_cast<std::size_t>(second - *first) * parts_of_day /
                          static_cast<std::size_t>(*last - *first + 1);
        out.part[part] += static_cast<double>(parts_of_day) / static_cast<double>(seconds.size());
    }
    return out;
}

Result<RequestRate> read_request_rate(const std::string& folder) {
    const auto path = std::filesystem::path(folder) / "AzureLLMInferenceTrace_conv.csv";
    std::ifstream in(path);
    if (!in)
        return fail(Code::not_found, "there is no file " + path.string(), "trace",
                    "a folder with azure-llm/ and philly/ is needed, such as ../shared/bench");
    return parse_request_rate(in, path.filename().string());
}

Workload compose_mix(const Workload& philly, const RequestRate& rate, const MixOptions& options) {
    Workload out;
    out.name = "mix";
    out.fleet = philly.fleet;
    SeededRng rng(options.seed);
    const double all = options.load * static_cast<double>(options.span.count()) * out.fleet.total();
    const Window window = draw_window(philly, rng, options.span);
    for (double left = all * (1 - options.services); left > 0 && window.first < window.last;
         left -= card_ms(out.jobs.back()))
        out.jobs.push_back(draw_training(philly, rng, window, options.span));
    const double most = *std::max_element(rate.part.begin(), rate.part.end());
    for (double left = all * options.services; left > 0;) {
        // Drawn over the span, kept with a chance in proportion to the rate then.
        const double at = draw_uniform(rng) * static_cast<double>(options.span.count());
        if (draw_uniform(rng) * most >= rate.at(std::fmod(at, day_ms) / day_ms)) continue;
        TimedJob job = draw_service(rng);
        job.submitted = Millis(static_cast<std::int64_t>(at));
        left -= card_ms(job);
        out.jobs.push_back(job);
    }
    std::stable_sort(out.jobs.begin(), out.jobs.end(),
                     [](const TimedJob& a, const TimedJob& b) { return a.submitted < b.submitted; });
    return out;
}

double services_for_three_quarters(const Workload& philly, const RequestRate& rate, MixOptions options) {
    struct NoClock final : Clock {
        Instant now() const override { return {}; }
        std::int64_t ticks_us() const override { return 0; }
    };
    constexpr double backlog = 5, wanted = 0.75, service_mean = 0.15;
    constexpr int steps = 9;
    options.load = std::max(options.load, backlog);
    double low = 0, high = 1;
    for (int step = 0; step < steps; ++step) {
        options.services = (low + high) / 2;
        TimedOptions timed;
        timed.until = options.span;
        const auto figures =
            run_named("peer:whole_card", compose_mix(philly, rate, options), timed, {}, NoClock());
        CRATER_CHECK(figures, "a scheduler that is always there is missing");
        // Each held card is used as much as its kind uses one.
        const double trained = training_used / 1000.0;
        const double of_services = (trained - figures->used / figures->held) / (trained - service_mean);
        (of_services < wanted ? low : high) = options.services;
    }
    return (low + high) / 2;
}

}  // namespace crater::replay
