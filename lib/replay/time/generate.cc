// Made-up work from a short specification.
#include "crater/replay/generate.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "crater/base/clock.h"
#include "crater/base/ids.h"
#include "draw.h"

namespace crater::replay {
namespace {

// Kueue's published configurations: in each of so many queues, sets of jobs that come at fixed intervals. One
// unit of quota is one card here. Of the large one the intervals are ours: its last arrival is at 3.3 s. See
// docs/simulate.md.
struct KueueSet {
    int count, units, run_ms, every_ms;
};
struct KueueConfig {
    std::string_view name;
    int queues, quota;
    std::array<KueueSet, 3> sets;
};
constexpr KueueConfig kueue_configs[] = {
    {"kueue-large", 1000, 20, {{{35, 1, 150, 97}, {11, 5, 350, 330}, {4, 20, 700, 1100}}}},
    {"kueue-baseline", 30, 20, {{{350, 1, 200, 100}, {100, 5, 500, 500}, {50, 20, 1000, 1200}}}},
};

using Settings = std::vector<std::pair<std::string, std::string>>;

// "poisson:jobs=1000,load=0.9" -> the name and its settings.
std::pair<std::string, Settings> split_spec(const std::string& text) {
    const auto colon = text.find(':');
    std::pair<std::string, Settings> out{text.substr(0, colon), {}};
    for (auto from = colon; from != std::string::npos && from + 1 < text.size();) {
        const auto comma = text.find(',', from + 1);
        const auto word = text.substr(from + 1, comma == std::string::npos ? comma : comma - from - 1);
        const auto equals = word.find('=');
        out.second.emplace_back(word.substr(0, equals),
                                equals == std::string::npos ? "" : word.substr(equals + 1));
        from = comma;
    }
    return out;
}

struct Drawn {
    std::int64_t jobs = 1000, burst = 50;
    double load = 0.9, share = 0;  // share: part of the jobs that ask for a part of a card
    Millis run{3'600'000};
    std::vector<int> cards = {1, 1, 1, 1, 2, 4, 8};
    std::vector<int> memory_gib = {2, 4, 8, 16};
};
const std::vector<std::string> drawn_keys = {"jobs", "burst", "load", "share", "run", "cards", "memory"};

Result<double> number_of(const std::string& key, const std::string& text, double least, double most) {
    double value = 0;
    const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && at == text.data() + text.size() && value >= least && value <= most)
        return value;
    return fail(Code::invalid,
                key + " is " + shown(text) + "; a number from " + std::to_string(std::llround(least)) +
                    " to " + std::to_string(std::llround(most)) + " is needed",
                "generate");
}
// "1/1/8"
Result<std::vector<int>> numbers_of(const std::string& key, const std::string& text, int most) {
    std::vector<int> out;
    for (std::size_t from = 0; from <= text.size();) {
        const auto slash = std::min(text.find('/', from), text.size());
        CRATER_TRY(value, number_of(key, text.substr(from, slash - from), 1, most));
        out.push_back(static_cast<int>(value));
        from = slash + 1;
    }
    return out;
}

Result<Drawn> drawn_of(const Settings& settings, const Fleet& fleet) {
    Drawn out;
    for (const auto& [key, text] : settings) {
        if (key == "jobs" || key == "burst") {
            CRATER_TRY(value, number_of(key, text, 1, 1e7));
            (key == "jobs" ? out.jobs : out.burst) = static_cast<std::int64_t>(value);
        } else if (key == "load") {
            CRATER_TRY(value, number_of(key, text, 0.001, 1000));
            out.load = value;
        } else if (key == "share") {
            CRATER_TRY(value, number_of(key, text, 0, 1));
            out.share = value;
        } else if (key == "run") {
            auto run = parse_duration(text);
            if (!run)
                return fail(Code::invalid, "run is " + shown(text) + "; a time such as 1h is needed",
                            "generate");
            out.run = *run;
        } else if (key == "cards") {
            CRATER_TRY(list, numbers_of(key, text, fleet.total()));
            out.cards = list;
        } else if (key == "memory") {
            CRATER_TRY(list, numbers_of(key, text, fleet.card_mib / 1024));
            out.memory_gib = list;
        } else {
            std::string all;
            for (const auto& known : drawn_keys) all += (all.empty() ? "" : ", ") + known;
            const auto close = nearest(key, drawn_keys);
            return fail(Code::invalid, shown(key) + " is no setting of a generator; there are " + all,
                        "generate", close.empty() ? "" : "did you mean '" + close + "'?");
        }
    }
    return out;
}

Workload draw(const Drawn& drawn, bool bursts, const Fleet& fleet, std::uint64_t seed) {
    Workload out;
    out.fleet = fleet;
    SeededRng rng(seed);
    double asked = 0;
    for (std::int64_t i = 0; i < drawn.jobs; ++i) {
        TimedJob job;
        job.run_time = Millis(std::max<std::int64_t>(
            1000, std::llround(draw_exponential(rng, static_cast<double>(drawn.run.count())))));
        if (draw_uniform(rng) < drawn.share) {
            job.memory_mib = drawn.memory_gib[rng.below(drawn.memory_gib.size())] * 1024;
            job.compute = std::max(50, 1000 * job.memory_mib / fleet.card_mib);
            job.used = job.compute;
            job.service = true;
        } else {
            split_over_nodes(job, drawn.cards[rng.below(drawn.cards.size())], fleet);
        }
        asked += static_cast<double>(job.run_time.count()) * job.all_cards() *
                 (job.shares_card() ? static_cast<double>(job.memory_mib) / fleet.card_mib : 1);
        out.jobs.push_back(job);
    }
    // So far apart that they ask for `load` of the fleet.
    const double span = asked / fleet.total() / drawn.load;
    const auto group = bursts ? drawn.burst : 1;
    double at = 0;
    for (std::int64_t i = 0; i < drawn.jobs; ++i) {
        if (i % group == 0)
            at += draw_exponential(rng, span * static_cast<double>(group) / static_cast<double>(drawn.jobs));
        out.jobs[static_cast<std::size_t>(i)].submitted = Millis(std::llround(at));
    }
    return out;
}

Workload kueue(const KueueConfig& config) {
    Workload out;
    out.fleet = {config.queues, config.quota, 40 * 1024};
    for (const auto& set : config.sets)
        for (int i = 0; i < set.count; ++i)
            for (int q = 0; q < config.queues; ++q) {
                TimedJob job;
                job.submitted = Millis(std::int64_t{i} * set.every_ms);
                job.run_time = Millis(set.run_ms);
                job.cards = set.units;
                out.jobs.push_back(job);
            }
    std::stable_sort(out.jobs.begin(), out.jobs.end(),
                     [](const TimedJob& a, const TimedJob& b) { return a.submitted < b.submitted; });
    return out;
}

}  // namespace

std::vector<std::string> generator_names() {
    std::vector<std::string> out = {"poisson", "burst"};
    for (const auto& config : kueue_configs) out.emplace_back(config.name);
    return out;
}

Result<Workload> generate(const std::string& spec, const Fleet& fleet, std::uint64_t seed) {
    const auto [name, settings] = split_spec(spec);
    if (name == "poisson" || name == "burst") {
        CRATER_TRY(drawn, drawn_of(settings, fleet));
        auto out = draw(drawn, name == "burst", fleet, seed);
        out.name = spec;
        return out;
    }
    for (const auto& config : kueue_configs) {
        if (config.name != name) continue;
        auto out = kueue(config);
        out.name = spec;
        return out;
    }
    std::string all;
    for (const auto& known : generator_names()) all += (all.empty() ? "" : ", ") + known;
    const auto close = nearest(name, generator_names());
    return fail(Code::invalid, shown(name) + " is no generator; there are " + all, "generate",
                close.empty() ? "" : "did you mean '" + close + "'?");
}

}  // namespace crater::replay
