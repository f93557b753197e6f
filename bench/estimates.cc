// How good start times are that waiting jobs are told: the Philly jobs on a cluster of 64 nodes with 8 cards
// each, started by the production engine, ended when the trace says. A job that waits is told when it will
// start; what came is compared with that. Prints one JSON object.
//   --known exact|noisy|history: durations as they will be; with a log-normal error; not said at all, learned
//   from jobs that ended
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <queue>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "crater/base/clock.h"
#include "crater/engine/engine.h"

namespace crater::bench {
namespace {

using namespace crater::engine;

struct Job {
    std::int64_t at = 0, length = 0;  // ms
    int gpus = 0;
    std::string tenant;
};

std::vector<Job> read(const std::string& path) {
    std::ifstream in(path);
    std::string line;
    std::getline(in, line);
    std::vector<Job> out;
    while (std::getline(in, line)) {
        std::stringstream cells(line);
        std::string at, length, gpus, rest, cluster;
        std::getline(cells, at, ','), std::getline(cells, length, ','), std::getline(cells, gpus, ','),
            std::getline(cells, rest, ','), std::getline(cells, cluster, ',');
        std::tm time{};
        if (!strptime(at.c_str(), "%Y-%m-%d %H:%M:%S", &time)) continue;
        Job job;
        job.at = static_cast<std::int64_t>(timegm(&time)) * 1000;
        job.length =
            std::max<std::int64_t>(1000, static_cast<std::int64_t>(std::atof(length.c_str()) * 1000));
        job.gpus = std::atoi(gpus.c_str());
        job.tenant = cluster;
        if (job.gpus > 0) out.push_back(job);
    }
    std::stable_sort(out.begin(), out.end(), [](const Job& a, const Job& b) { return a.at < b.at; });
    return out;
}

NodeInventory node_named(int n) {
    NodeInventory out;
    char name[16];
    std::snprintf(name, sizeof name, "n%05d", n);
    out.name = name;
    out.cpu = MilliCpu(96'000);
    out.memory = Bytes(1024LL << 30);
    for (int g = 0; g < 8; ++g) {
        Gpu gpu;
        gpu.index = g;
        gpu.model = "a100-pcie-40gb";
        gpu.uuid = out.name + "-" + std::to_string(g);
        gpu.memory = Mebibytes(40960);
        gpu.compute_capability = "8.0";
        out.gpus.push_back(gpu);
    }
    return out;
}

double cpu_seconds() {
    std::timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}
double part_of(std::vector<double> values, double part) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
}

struct Compared {
    double said, came;
};
double error_of(double said, double came) { return std::abs(said - came) / came; }

// What was said times the factors that are best when all is known, one of each for every hundred that were
// told about the same. What is left is what the answers did not know.
struct Hindsight {
    double error = 0;  // of P50 in the median, by the factor that leaves the least
    double width = 0;  // P90/P50 in the median, by those that cover nine in ten and half
};
Hindsight hindsight(std::vector<Compared> all) {
    std::sort(all.begin(), all.end(), [](const Compared& a, const Compared& b) { return a.said < b.said; });
    constexpr std::size_t alike = 100;
    std::vector<double> errors, widths;
    for (std::size_t from = 0; from < all.size(); from += alike) {
        const auto to = std::min(all.size(), from + alike);
        std::vector<double> best, factors;
        for (std::size_t k = from; k < to; ++k) {
            const double factor = factors.emplace_back(all[k].came / std::max(1.0, all[k].said));
            std::vector<double> these;
            for (std::size_t i = from; i < to; ++i)
                these.push_back(error_of(factor * std::max(1.0, all[i].said), all[i].came));
            if (best.empty() || part_of(these, 0.5) < part_of(best, 0.5)) best = std::move(these);
        }
        errors.insert(errors.end(), best.begin(), best.end());
        widths.insert(widths.end(), to - from, part_of(factors, 0.9) / part_of(factors, 0.5));
    }
    return {part_of(errors, 0.5), part_of(widths, 0.5)};
}

EngineJob job_of(std::size_t i, const Job& job, Instant now) {
    EngineJob out;
    auto spec = std::make_shared<JobSpec>();
    spec->type = JobType::training;
    // Beyond a node: nodes of their own, as many as it takes.
    spec->tasks = (job.gpus + 7) / 8;
    spec->resources.gpu.count = MilliGpu(std::min(job.gpus, 8) * 1000);
    spec->resources.cpu.cores = MilliCpu(std::min(job.gpus, 8) * 8000);
    spec->resources.memory.size = Bytes((64LL << 30) * std::min(job.gpus, 8));
    out.spec = spec;
    out.id = "j" + std::to_string(i);
    out.queue = "training";
    out.tenant = job.tenant;
    out.submitted = now;
    return out;
}

// What a simulation costs with so many waiting.
void cost(int nodes, int waiting, double& all_s, double& one_us, double& pass_ms) {
    Engine engine;
    for (int n = 0; n < nodes; ++n) engine.apply(NodeSet{node_named(n)});
    SeededRng rng{11};
    const std::int64_t begin = 1'700'000'000'000;
    const auto add = [&](std::size_t i, int gpus, std::int64_t cpu_step) {
        Job job{begin, 0, gpus, "t" + std::to_string(rng.below(20))};
        EngineJob made = job_of(i, job, Instant{begin + static_cast<std::int64_t>(i)});
        auto spec = std::make_shared<JobSpec>(*made.spec);
        spec->resources.cpu.cores = MilliCpu(spec->resources.cpu.cores.value + cpu_step * 100);
        spec->duration = Millis(static_cast<std::int64_t>(
            600'000 * std::exp(1.5 * (static_cast<double>(rng.below(2000)) / 1000 - 1))));
        made.spec = spec;
        engine.apply(JobAdded{made});
    };
    std::size_t i = 0;
    for (int k = 0; k < nodes * 4; ++k) add(i++, static_cast<int>(1 + rng.below(4)), 0);
    while (engine.pass(Instant{begin + 1'000'000}).more) {
    }
    // All different: every request has cores of its own.
    for (int k = 0; k < waiting; ++k)
        add(i++, static_cast<int>(1 + rng.below(8)), static_cast<std::int64_t>(k % 80));
    double before = cpu_seconds();
    while (engine.pass(Instant{begin + 1'000'001}).more) {
    }
    pass_ms = (cpu_seconds() - before) * 1e3;
    before = cpu_seconds();
    const auto answers = engine.estimates(Instant{begin + 1'000'002});
    all_s = cpu_seconds() - before;
    before = cpu_seconds();
    int asked = 0;
    for (const auto& [id, answer] : answers) {
        if (++asked > 2000) break;
        (void)engine.estimate(id, Instant{begin + 1'000'003});
    }
    one_us = asked ? (cpu_seconds() - before) * 1e6 / asked : 0;
}

int run(int argc, char** argv) {
    std::string path = "../shared/bench/philly/philly.csv", known = "exact", order = "fair";
    int nodes = 64, every = 8, depth = 1;
    std::size_t jobs_max = SIZE_MAX;
    bool costs = false;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string key = argv[i];
        if (key == "--trace") path = argv[i + 1];
        if (key == "--known") known = argv[i + 1];
        if (key == "--order") order = argv[i + 1];
        if (key == "--nodes") nodes = std::atoi(argv[i + 1]);
        if (key == "--every") every = std::atoi(argv[i + 1]);
        if (key == "--jobs") jobs_max = static_cast<std::size_t>(std::atoll(argv[i + 1]));
        if (key == "--depth") depth = std::atoi(argv[i + 1]);
        if (key == "--costs") costs = std::atoi(argv[i + 1]) > 0;
    }
    if (costs) {
        double small_all = 0, small_one = 0, small_pass = 0, all = 0, one = 0, pass = 0;
        cost(64, 10'000, small_all, small_one, small_pass);
        cost(5000, 10'000, all, one, pass);
        std::printf(
            "{\"waiting\": 10000, \"all_seconds_64_nodes\": %.3f, \"one_us_64_nodes\": %.2f, \"pass_ms_64_nodes\": %.1f, \"all_seconds_5000_nodes\": %.3f, "
            "\"one_us_5000_nodes\": %.2f, \"pass_ms_5000_nodes\": %.1f}\n",
            small_all, small_one, small_pass, all, one, pass);
        return 0;
    }
    auto jobs = read(path);
    if (jobs.empty()) {
        std::fprintf(stderr, "no jobs in %s\n", path.c_str());
        return 2;
    }
    jobs.resize(std::min(jobs.size(), jobs_max));
    Settings settings;
    settings.backfill_depth = depth;
    Engine engine(settings);
    for (int n = 0; n < nodes; ++n) engine.apply(NodeSet{node_named(n)});
    QueueSpec queue;
    queue.name = "training";
    for (const auto& row : enum_names(Order{}))
        if (row.name == order) queue.order = static_cast<Order>(row.value);
    engine.apply(QueueSet{queue});

    struct Asked {
        std::int64_t at = 0, p50 = 0, p90 = 0;
        double mean = 0;  // the baseline: what jobs waited on average until then
    };
    std::unordered_map<std::string, Asked> asked;
    struct Ends {
        std::int64_t at;
        std::size_t job;
        bool operator>(const Ends& o) const { return at != o.at ? at > o.at : job > o.job; }
    };
    std::priority_queue<Ends, std::vector<Ends>, std::greater<>> ends;
    SeededRng rng{3};
    double waited = 0, wait_sum = 0, passes = 0, pass_s = 0, pass_max = 0, ask_s = 0, asks = 0, unknown = 0,
           end_sum = 0;
    std::vector<double> errors, base_errors, widths, waits;
    std::vector<Compared> compared;
    std::int64_t covered = 0, base_covered = 0, long_waits = 0;
    std::size_t next = 0, arrivals = 0;
    while (next < jobs.size() || !ends.empty()) {
        const std::int64_t now = std::min(next < jobs.size() ? jobs[next].at : INT64_MAX,
                                          ends.empty() ? INT64_MAX : ends.top().at);
        while (!ends.empty() && ends.top().at == now) {
            engine.apply(JobRemoved{"j" + std::to_string(ends.top().job), Instant{now}, true});
            ends.pop();
        }
        std::vector<std::size_t> came;
        for (; next < jobs.size() && jobs[next].at == now; ++next) {
            EngineJob made = job_of(next, jobs[next], Instant{now});
            if (known != "history") {
                auto spec = std::make_shared<JobSpec>(*made.spec);
                double length = static_cast<double>(jobs[next].length);
                if (known == "noisy") {
                    double sum = 0;
                    for (int k = 0; k < 12; ++k) sum += static_cast<double>(rng.below(1'000'000)) / 1e6;
                    length *= std::exp(0.5 * (sum - 6));
                }
                spec->duration = Millis(std::max<std::int64_t>(1000, static_cast<std::int64_t>(length)));
                made.spec = spec;
            }
            engine.apply(JobAdded{made});
            came.push_back(next);
        }
        std::map<std::size_t, bool> started;
        for (bool more = engine.wants_pass(); more;) {
            const double before = cpu_seconds();
            const Plan plan = engine.pass(Instant{now});
            const double took = cpu_seconds() - before;
            pass_s += took, ++passes, pass_max = std::max(pass_max, took);
            for (const auto& placement : plan.placements) {
                const auto i = static_cast<std::size_t>(std::atoll(placement.job.c_str() + 1));
                started[i] = true;
                ends.push({now + jobs[i].length, i});
                const double wait = static_cast<double>(now - jobs[i].at);
                wait_sum += wait, ++waited;
                end_sum += wait + static_cast<double>(jobs[i].length);
                const auto it = asked.find(placement.job);
                if (it == asked.end()) continue;
                const Asked& told = it->second;
                const double came_ms = static_cast<double>(now - told.at);
                if (came_ms >= 60'000) {
                    ++long_waits;
                    const double p50 = static_cast<double>(told.p50 - told.at),
                                 p90 = static_cast<double>(told.p90 - told.at);
                    errors.push_back(error_of(p50, came_ms));
                    base_errors.push_back(error_of(told.mean, came_ms));
                    compared.push_back({p50, came_ms});
                    covered += now <= told.p90;
                    base_covered += came_ms <= told.mean;
                    if (p50 >= 1000) widths.push_back(p90 / p50);
                    waits.push_back(came_ms / 1000);
                }
                asked.erase(it);
            }
            more = plan.more || engine.wants_pass();
        }
        for (const std::size_t i : came) {
            if (started.contains(i) || arrivals++ % static_cast<std::size_t>(every) != 0) continue;
            const std::string id = "j" + std::to_string(i);
            const double before = cpu_seconds();
            const auto said = engine.estimate(id, Instant{now});
            ask_s += cpu_seconds() - before, ++asks;
            if (!said) {
                ++unknown;
                continue;
            }
            asked[id] = {now, said->p50.ms, said->p90.ms, waited > 0 ? wait_sum / waited : 0};
        }
    }
    const Hindsight best = hindsight(compared);
    const auto percent = [&](std::int64_t part) {
        return long_waits ? 100.0 * static_cast<double>(part) / static_cast<double>(long_waits) : 0;
    };
    std::printf(
        "{\"known\": \"%s\", \"order\": \"%s\", \"jobs\": %zu, \"asked\": %.0f, \"unknown\": %.0f, \"waited_60s\": %ld, \"p90_covers_percent\": %.1f, "
        "\"median_error\": %.3f, \"hindsight_median_error\": %.3f, \"p90_error\": %.3f, \"width_median\": %.2f, \"hindsight_width\": %.2f, \"width_p90\": %.2f, \"wait_median_s\": %.0f, "
        "\"baseline_median_error\": %.3f, \"baseline_covers_percent\": %.1f, \"mean_wait_h\": %.3f, \"mean_jct_h\": %.3f, \"passes\": %.0f, \"pass_mean_us\": %.1f, "
        "\"pass_max_ms\": %.1f, \"ask_mean_ms\": %.2f}\n",
        known.c_str(), order.c_str(), jobs.size(), asks, unknown, static_cast<long>(long_waits),
        percent(covered), part_of(errors, 0.5), best.error, part_of(errors, 0.9), part_of(widths, 0.5),
        best.width, part_of(widths, 0.9), part_of(waits, 0.5), part_of(base_errors, 0.5),
        percent(base_covered), waited > 0 ? wait_sum / waited / 3.6e6 : 0,
        waited > 0 ? end_sum / waited / 3.6e6 : 0, passes, passes > 0 ? pass_s / passes * 1e6 : 0,
        pass_max * 1e3, asks > 0 ? ask_s / asks * 1e3 : 0);
    return 0;
}

}  // namespace
}  // namespace crater::bench

int main(int argc, char** argv) { return crater::bench::run(argc, argv); }
