// Decisions made durable per second: the engine decides in batches, each decision's job status goes to the
// store (SQLite, WAL, synchronous FULL), and it counts when the store says it would survive a power loss.
// Deciding goes on while a batch is being written. Prints one JSON object with the latency from decision to
// durable, and how often a single small record could be synced in the same run.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "crater/codec/binary.h"
#include "crater/codec/codec.h"
#include "crater/model/job.h"
#include "crater/store/store.h"
#include "support/cluster.h"

namespace crater::bench {
namespace {

double now_ms() {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

double fsyncs_per_second(const std::string& folder) {
    const std::string path = folder + "/fsync";
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT, 0600);
    const std::string record(200, 'x');
    int count = 0;
    const double began = now_ms();
    while (now_ms() - began < 1000) {
        if (pwrite(fd, record.data(), record.size(), count % 4096 * 256) < 0) break;
        fdatasync(fd);
        ++count;
    }
    close(fd);
    std::filesystem::remove(path);
    return count;
}

std::string status_value(const engine::Engine& engine, const engine::Placement& placement, bool json) {
    JobStatus status;
    status.id = placement.job;
    status.state = State::preparing;
    status.reason = Reason::placed;
    status.submitted = noon;
    for (const auto& [index, allocation] : engine.allocations(placement)) {
        TaskStatus task;
        task.index = index;
        task.state = State::preparing;
        task.reason = Reason::placed;
        task.attempt = 1;
        task.allocation = allocation;
        status.tasks.push_back(std::move(task));
    }
    return json ? codec::write_json(status) : codec::write_binary(status);
}

struct Run {
    Cluster cluster;
    std::unique_ptr<store::Store> store;
    ThreadLoop loop;
    std::vector<double> latencies;
    std::int64_t durable = 0, in_flight = 0, batches = 0, bytes = 0;
    double until = 0;
    int width = 0;
    bool json = false;  // values as they were before: the comparison

    void decide() {
        cluster.leaving.clear();
        while (cluster.load() > 0.93) cluster.free_random();
        for (const auto& event : cluster.leaving) cluster.engine.apply(event);
        for (int i = 0; i < width; ++i) cluster.queue_one();
        const double at = now_ms();
        const auto plan = cluster.engine.pass(noon, {.placements_max = width, .evaluations_max = 1'000'000});
        store::Batch batch;
        for (const auto& placement : plan.placements) {
            batch.writes.push_back({"job/" + placement.job, status_value(cluster.engine, placement, json)});
            bytes += static_cast<std::int64_t>(batch.writes.back().value->size());
        }
        for (const auto& event : cluster.leaving)
            batch.writes.push_back({"job/" + std::get<engine::JobRemoved>(event).job, std::nullopt});
        const auto count = static_cast<std::int64_t>(plan.placements.size());
        cluster.took(plan);
        cluster.drop_waiting();
        ++in_flight;
        store->commit(std::move(batch), [this, at, count](Result<store::Revision> done) {
            --in_flight;
            if (!done) std::fprintf(stderr, "%s\n", done.error().text().c_str()), std::exit(1);
            durable += count;
            ++batches;
            latencies.insert(latencies.end(), static_cast<std::size_t>(count), now_ms() - at);
            next();
        });
    }
    // Two batches under way: one is written while the next is decided.
    void next() {
        if (now_ms() > until) return in_flight == 0 ? loop.stop() : void();
        while (in_flight < 2) decide();
    }
};

int run(int argc, char** argv) {
    std::string shared = "../shared/bench", folder = ".", policy = "best_fit";
    double seconds = 5;
    int width = 128, nodes = 5000;
    bool json = false;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string key = argv[i];
        if (key == "--shared") shared = argv[i + 1];
        if (key == "--folder") folder = argv[i + 1];
        if (key == "--policy") policy = argv[i + 1];
        if (key == "--nodes") nodes = std::atoi(argv[i + 1]);
        if (key == "--batch") width = std::atoi(argv[i + 1]);
        if (key == "--form") json = std::string(argv[i + 1]) == "json";
        if (key == "--seconds") seconds = std::atof(argv[i + 1]);
    }
    const auto chosen = policy_named(policy);
    if (!chosen) return std::fprintf(stderr, "%s\n", chosen.error().text().c_str()), 2;
    const double before = fsyncs_per_second(folder);
    Run bench{Cluster(nodes, *chosen, requests_of(shared)), {}, {}, {}};
    bench.width = width;
    bench.json = json;
    bench.cluster.fill(0.93);
    auto opened =
        store::open_sqlite({.path = folder + "/durable.db", .group_max = 512, .crash_at = {}}, bench.loop);
    if (!opened) return std::fprintf(stderr, "%s\n", opened.error().text().c_str()), 1;
    bench.store = std::move(*opened);
    const double began = now_ms();
    bench.until = began + seconds * 1000;
    bench.loop.post([&] { bench.next(); });
    bench.loop.run();
    const double took = (now_ms() - began) / 1000;
    bench.store.reset();
    auto& all = bench.latencies;
    std::sort(all.begin(), all.end());
    const auto at = [&](double p) {
        return all.empty() ? 0 : all[static_cast<std::size_t>(p * static_cast<double>(all.size() - 1))];
    };
    std::printf(
        "{\"decisions_per_second\": %.0f, \"latency_p50_ms\": %.2f, \"latency_p99_ms\": %.2f, \"fsyncs_per_second\": %.0f, "
        "\"ratio\": %.1f, \"batch\": %d, \"batches\": %ld, \"decisions\": %ld, \"bytes_per_decision\": %.0f, \"form\": \"%s\", \"policy\": \"%s\", \"nodes\": %d}\n",
        static_cast<double>(bench.durable) / took, at(0.5), at(0.99), before,
        static_cast<double>(bench.durable) / took / before, width, bench.batches, bench.durable,
        bench.durable ? static_cast<double>(bench.bytes) / static_cast<double>(bench.durable) : 0.0,
        json ? "json" : "binary", policy.c_str(), nodes);
    return 0;
}

}  // namespace
}  // namespace crater::bench

int main(int argc, char** argv) { return crater::bench::run(argc, argv); }
