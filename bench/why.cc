// What `why` costs in the engine and whether what it says is true: a full cluster of 8-card nodes, a hundred
// thousand jobs waiting, each asked once in random order; then changes that it offered, made at random, each
// followed by a pass. Prints one JSON object.
//
// The baseline, in the same run: the first thing that every node lacks, found node by node from its books,
// with a sentence for the first thousand: what a scheduler without an index of its nodes does.
#include <cstdlib>
#include <numeric>
#include <set>

#include "crater/engine/apply_change.h"
#include "support/cluster.h"

namespace crater::bench {
namespace {

using engine::Change;
using engine::EngineJob;

// The mix of the trace, and what the trace does not have: memory slices, gangs, much memory, models, a tenant
// at its quota.
JobSpec drawn(const Cluster& cluster, SeededRng& rng) {
    JobSpec spec = *cluster.specs[rng.below(cluster.specs.size())];
    switch (rng.below(8)) {
        case 0:
            spec.resources.gpu.count = MilliGpu(1000),
            spec.resources.gpu.memory = Mebibytes(1280 * static_cast<std::int64_t>(1 + rng.below(32)));
            break;
        case 1:
            spec.resources.gpu.count = MilliGpu(1000 * static_cast<std::int64_t>(1 + rng.below(8))),
            spec.tasks = 1 + static_cast<std::int64_t>(rng.below(8));
            break;
        case 2:
            spec.resources.memory.size = Bytes(64 * gib * static_cast<std::int64_t>(1 + rng.below(11)));
            break;
        case 3: spec.resources.gpu.model = "a100"; break;
        default: break;
    }
    return spec;
}

double wall_seconds() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

struct Percentiles {
    double p50 = 0, p99 = 0, p999 = 0, max = 0, mean = 0;
};
Percentiles of(std::vector<double> values) {
    if (values.empty()) return {};
    std::sort(values.begin(), values.end());
    const auto at = [&](double p) {
        return values[std::min(values.size() - 1,
                               static_cast<std::size_t>(p * static_cast<double>(values.size())))];
    };
    return {at(0.5), at(0.99), at(0.999), values.back(),
            std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size())};
}

// Node by node, from the books.
double node_by_node(const std::vector<engine::NodeBook>& books, const JobSpec& spec) {
    const double began = Cluster::cpu_seconds();
    std::map<std::string, int> lacks;
    std::vector<std::string> lines;
    for (const auto& book : books) {
        const char* missing = "";
        std::int64_t idle = 0, memory = 0;
        for (const auto& card : book.cards) {
            idle += card.tasks == 0;
            memory = std::max(memory, card.memory_total.value - card.memory_used.value);
        }
        if (book.cpu_total.value - book.cpu_used.value < spec.resources.cpu.cores.value)
            missing = "cpu";
        else if (book.memory_total.value - book.memory_used.value < spec.resources.memory.size.value)
            missing = "memory";
        else if (memory < spec.resources.gpu.memory.value)
            missing = "gpu_memory";
        else if (idle * 1000 < spec.resources.gpu.count.value)
            missing = "gpu_count";
        ++lacks[missing];
        if (lines.size() < 1000)
            lines.push_back(book.node + ": " + missing + ", free are " +
                            std::to_string(book.cpu_total.value - book.cpu_used.value));
    }
    const double spent = Cluster::cpu_seconds() - began;
    return lacks.empty() ? 0 : spent;
}

bool started(const engine::Plan& plan, const std::string& job) {
    return std::any_of(plan.placements.begin(), plan.placements.end(),
                       [&](const auto& p) { return p.job == job; });
}

int run(int argc, char** argv) {
    std::string shared = "../shared/bench", policy = "price";
    int nodes = 5000;
    std::int64_t pending = 100'000, checks = 100'000;
    int kind_count = 200;
    double churn = 0.5;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string key = argv[i];
        if (key == "--shared") shared = argv[i + 1];
        if (key == "--policy") policy = argv[i + 1];
        if (key == "--nodes") nodes = std::atoi(argv[i + 1]);
        if (key == "--pending") pending = std::atoll(argv[i + 1]);
        if (key == "--checks") checks = std::atoll(argv[i + 1]);
        if (key == "--kinds") kind_count = std::atoi(argv[i + 1]);
        if (key == "--churn") churn = std::atof(argv[i + 1]);
    }
    const auto chosen = policy_named(policy);
    if (!chosen) return std::fprintf(stderr, "%s\n", chosen.error().text().c_str()), 2;
    Cluster bench(nodes, *chosen, requests_of(shared));
    bench.fill(0.93);
    Tenant poor;
    poor.path = "poor";
    poor.hard.cpu = MilliCpu(64'000);
    bench.engine.apply(engine::TenantSet{poor});

    SeededRng rng{7};
    std::map<std::string, EngineJob> jobs;
    std::vector<std::string> places;  // one job that waits in each
    std::map<std::string, std::size_t> place_of;
    std::vector<std::size_t> left_empty;  // by those that started
    std::vector<std::shared_ptr<const JobSpec>> kinds;
    for (int i = 0; i < kind_count; ++i) kinds.push_back(std::make_shared<JobSpec>(drawn(bench, rng)));
    const auto took = [&](const engine::Plan& plan) {
        for (const auto& placement : plan.placements) {
            const auto it = place_of.find(placement.job);
            if (it == place_of.end()) continue;
            left_empty.push_back(it->second);
            jobs.erase(placement.job);
            place_of.erase(it);
        }
    };
    const auto settle = [&] {
        while (bench.engine.wants_pass())
            took(bench.engine.pass(noon, {.placements_max = 10'000, .evaluations_max = 100'000'000}));
    };
    // Somebody waits in every place again.
    std::int64_t next = 0;
    const auto fill_places = [&] {
        while (!left_empty.empty()) {
            for (const auto place : std::exchange(left_empty, {})) {
                EngineJob job;
                job.id = "w" + std::to_string(next);
                job.spec = kinds[rng.below(kinds.size())];
                job.queue = "q";
                job.tenant = rng.below(20) == 0 ? "poor" : "team";
                job.priority = static_cast<int>(300 + 100 * rng.below(4));
                job.submitted = {noon.ms + next++};
                places[place] = job.id;
                place_of[job.id] = place;
                jobs[job.id] = job;
                bench.engine.apply(engine::JobAdded{job});
            }
            settle();
        }
    };
    places.resize(static_cast<std::size_t>(pending));
    left_empty.resize(places.size());
    std::iota(left_empty.begin(), left_empty.end(), std::size_t{0});
    fill_places();

    // ---- what a question costs. Between questions some work comes and goes, so that nodes change; whoever
    // starts by it is replaced.
    std::vector<std::size_t> turns(places.size());
    std::iota(turns.begin(), turns.end(), std::size_t{0});
    for (std::size_t i = turns.size(); i > 1; --i) std::swap(turns[i - 1], turns[rng.below(i)]);
    std::vector<double> costs, walls, scans, of_new_kind, after_change, unchanged, estimates;
    std::set<const JobSpec*> kinds_asked;
    std::int64_t answered = 0, with_changes = 0, offered = 0, cut = 0, above = 0, above_again = 0,
                 above_of_new_kind = 0;
    std::vector<std::pair<double, std::string>> slowest;
    const auto books = bench.engine.books();
    double churned = 0;
    for (const auto place : turns) {
        bool changed = false;
        for (churned += churn; churned >= 1 && !bench.running.empty(); churned -= 1) {
            changed = true;
            // Something ends and something of its kind starts there: the node is another one and as full.
            const auto at = rng.below(bench.running.size());
            const auto gone = bench.running[at].job;
            bench.engine.apply(engine::JobRemoved{gone});
            EngineJob back;
            back.id = gone + "'";
            back.spec = bench.specs[rng.below(bench.specs.size())];
            back.queue = "q", back.tenant = "team", back.priority = 900, back.submitted = noon;
            bench.engine.apply(engine::JobAdded{back});
            const auto plan = bench.engine.pass(noon);
            took(plan);
            if (started(plan, back.id))
                bench.running[at].job = back.id;
            else
                bench.engine.apply(engine::JobRemoved{back.id}), bench.running[at] = bench.running.back(),
                                                                 bench.running.pop_back();
        }
        fill_places();
        const std::string& id = places[place];
        const double wall = wall_seconds(), began = Cluster::cpu_seconds();
        const auto why = bench.engine.why(id, noon, {.estimate = false});
        const double cost = (Cluster::cpu_seconds() - began) * 1e6;
        costs.push_back(cost);
        walls.push_back((wall_seconds() - wall) * 1e6);
        const double estimated = Cluster::cpu_seconds();
        (void)bench.engine.estimate(id, noon);
        estimates.push_back((Cluster::cpu_seconds() - estimated) * 1e6);
        const EngineJob& asked = jobs.at(id);
        const bool new_kind = kinds_asked.insert(asked.spec.get()).second;
        (new_kind ? of_new_kind : changed ? after_change : unchanged).push_back(cost);
        const bool bar = std::any_of(why->requirements.begin(), why->requirements.end(),
                                     [](const auto& r) { return r.binding; });
        answered += !why->binding.empty() && !why->summary.empty() && why->rank > 0 && bar;
        with_changes += !why->changes.empty();
        offered += static_cast<std::int64_t>(why->changes.size());
        cut += why->more_changes;
        if (cost > 1000) {
            ++above;
            above_of_new_kind += new_kind;
            const double again = Cluster::cpu_seconds();
            (void)bench.engine.why(id, noon, {.estimate = false});
            above_again += Cluster::cpu_seconds() - again > 1e-3;
            slowest.emplace_back(cost, (new_kind ? "first of its kind, " : "") +
                                           std::to_string(asked.spec->tasks) + " tasks, " + why->binding +
                                           ": " + why->summary);
        }
        if (scans.size() < 2000) scans.push_back(node_by_node(books, *asked.spec) * 1e6);
    }
    std::sort(slowest.rbegin(), slowest.rend());
    for (std::size_t i = 0; i < slowest.size() && i < 10; ++i)
        std::fprintf(stderr, "%.0f us: %s\n", slowest[i].first, slowest[i].second.c_str());

    // ---- whether it is true
    settle();
    std::vector<std::string> order;
    for (const auto& [id, job] : jobs) order.push_back(id);
    std::int64_t made = 0, less_made = 0, wrong_starts = 0, wrong_less = 0, ends = 0;
    std::map<std::string, std::int64_t> of_kind;
    const auto starts_with = [&](const EngineJob& was, const JobSpec& spec) {
        EngineJob other = was;
        other.spec = std::make_shared<JobSpec>(spec);
        bench.engine.apply(engine::JobRemoved{was.id});
        bench.engine.apply(engine::JobAdded{other});
        const bool yes = started(bench.engine.pass(noon), was.id);
        bench.engine.apply(engine::JobRemoved{was.id});
        bench.engine.apply(engine::JobAdded{was});
        return yes;
    };
    for (std::int64_t tries = 0; made < checks && tries < 4 * checks; ++tries) {
        const auto& id = order[rng.below(order.size())];
        const auto& was = jobs.at(id);
        const auto why = bench.engine.why(id, noon, {.estimate = false});
        if (why->changes.empty()) continue;
        const Change& change = why->changes[rng.below(why->changes.size())];
        JobSpec spec = *was.spec;
        if (!engine::apply_change(change.kind, change.to, change.value, spec)) {
            ++ends;
            continue;
        }
        ++made, ++of_kind[change.kind];
        if (!starts_with(was, spec)) {
            if (wrong_starts++ < 5)
                std::fprintf(stderr, "%s: %s: does not start\n", id.c_str(), change.text.c_str());
        }
        const double less = change.to + engine::step_of(change.kind, *was.spec, 1280);
        if (change.kind == "gpu_model" || less >= change.from) continue;
        ++less_made;
        engine::apply_change(change.kind, less, change.value, spec);
        if (starts_with(was, spec) && wrong_less++ < 5)
            std::fprintf(stderr, "%s: %s: one step less starts too\n", id.c_str(), change.text.c_str());
    }
    const auto scan = of(scans);
    const auto asked = static_cast<double>(costs.size());
    std::printf(
        "{\"nodes\": %d, \"pending\": %ld, \"kinds_of_jobs\": %d, \"asked\": %zu, \"answered_percent\": %.3f, ",
        nodes, pending, kind_count, costs.size(), 100.0 * static_cast<double>(answered) / asked);
    const auto print = [](const char* name, const std::vector<double>& values) {
        const auto p = of(values);
        std::printf(
            "\"%s\": {\"questions\": %zu, \"p50\": %.1f, \"p99\": %.1f, \"p999\": %.1f, \"max\": %.1f, \"mean\": %.1f}, ",
            name, values.size(), p.p50, p.p99, p.p999, p.max, p.mean);
    };
    print("cpu_us", costs);
    print("wall_us", walls);
    std::printf("\"cpu_us_first\": %.1f, ", costs.front());
    std::printf("\"cpu_us_simulation_of_starts\": %.1f, ", estimates.front());
    print("cpu_us_estimate", {estimates.begin() + 1, estimates.end()});
    print("cpu_us_first_of_its_kind", of_new_kind);
    print("cpu_us_after_a_change", after_change);
    print("cpu_us_nothing_changed", unchanged);
    std::printf(
        "\"above_1_ms\": %ld, \"above_1_ms_first_of_its_kind\": %ld, \"above_1_ms_when_asked_again\": %ld, \"node_by_node_p50_us\": %.1f, "
        "\"node_by_node_p99_us\": %.1f, \"with_changes_percent\": %.1f, \"changes_per_job\": %.2f, \"search_cut_percent\": %.1f, \"changes_made\": %ld, "
        "\"did_not_start\": %ld, \"one_step_less_made\": %ld, \"one_step_less_started\": %ld, \"kinds\": {",
        above, above_of_new_kind, above_again, scan.p50, scan.p99,
        100.0 * static_cast<double>(with_changes) / asked, static_cast<double>(offered) / asked,
        100.0 * static_cast<double>(cut) / asked, made, wrong_starts, less_made, wrong_less);
    const char* comma = "";
    for (const auto& [kind, count] : of_kind)
        std::printf("%s\"%s\": %ld", comma, kind.c_str(), count), comma = ", ";
    std::printf("}}\n");
    return 0;
}

}  // namespace
}  // namespace crater::bench

int main(int argc, char** argv) { return crater::bench::run(argc, argv); }
