// A restart at size: a store as a scheduler leaves it (5,000 nodes, 87,000 running jobs with 140,000 tasks) is read, parsed and applied to a
// new engine, as recovery does, and a new job is placed. `make FILE` writes the store, `run FILE` measures. Prints one JSON object.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "crater/codec/codec.h"
#include "crater/model/job.h"
#include "crater/store/store.h"
#include "support/cluster.h"

namespace crater::bench {
namespace {

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::int64_t resident_mib() {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("VmHWM:")) return std::atoll(line.c_str() + 6) / 1024;
    return 0;
}

std::unique_ptr<store::Store> open(const std::string& path, Loop& loop) {
    auto opened = store::open_sqlite({.path = path, .group_max = 512, .crash_at = {}}, loop);
    if (!opened) std::fprintf(stderr, "%s\n", opened.error().text().c_str()), std::exit(1);
    return std::move(*opened);
}

// The cluster filled by the engine itself: four in ten jobs have two or three equal tasks, the others one.
int make(const std::string& path, int nodes, int jobs, const std::string& shared) {
    const auto mix = requests_of(shared);
    Cluster cluster(nodes, Policy::best_fit, mix);
    std::map<std::string, JobSpec> specs;
    std::map<std::string, JobStatus> running;
    int placed = 0, made = 0;
    SeededRng rng(1);
    while (made < jobs) {
        for (int i = 0; i < 1000 && made + static_cast<int>(specs.size() - running.size()) < jobs; ++i) {
            const bool small = rng.below(1000) >= 407;  // so that there are 140,000 tasks
            JobSpec spec;
            spec.name = "training of model " + std::to_string(i);
            spec.type = JobType::training;
            spec.queue = "q";
            spec.command.argv = {"/usr/bin/python3", "/data/train.py", "--epochs", "10"};
            spec.resources.cpu.cores = MilliCpu(static_cast<std::int64_t>(1 + rng.below(4)) * 500);
            spec.resources.memory.size = Bytes((1 + static_cast<std::int64_t>(rng.below(4))) * gib);
            if (rng.below(2)) spec.resources.gpu.count = MilliGpu(100 + 100 * static_cast<std::int64_t>(rng.below(4)));
            spec.tasks = small ? 1 : 2 + static_cast<std::int64_t>(rng.below(2));
            engine::EngineJob job;
            job.id = "job-" + std::to_string(1000000 + static_cast<int>(specs.size()));
            job.spec = std::make_shared<JobSpec>(spec);
            job.queue = "q";
            job.tenant = "team/" + std::to_string(rng.below(20));
            job.submitted = noon;
            specs[job.id] = spec;
            cluster.engine.apply(engine::JobAdded{std::move(job)});
        }
        const auto plan = cluster.engine.pass(noon, {.placements_max = 5000, .evaluations_max = 10'000'000});
        if (plan.placements.empty()) break;
        for (const auto& placement : plan.placements) {
            JobStatus status;
            status.id = placement.job;
            status.state = State::running;
            status.submitted = status.started = noon;
            for (const auto& [index, allocation] : cluster.engine.allocations(placement)) {
                TaskStatus task{.index = index, .state = State::running, .attempt = 1, .since = noon};
                task.allocation = allocation;
                status.tasks.push_back(std::move(task));
                ++placed;
            }
            running.emplace(placement.job, std::move(status));
            ++made;
        }
    }
    ThreadLoop loop;
    std::filesystem::remove(path);
    auto store = open(path, loop);
    store::Batch batch;
    for (int n = 0; n < nodes; ++n) {
        auto node = node_number(n);
        batch.writes.push_back({"node/" + node.name, codec::write_json(node)});
    }
    for (const auto& [id, status] : running) {
        batch.writes.push_back({"job/" + id, codec::write_json(status)});
        batch.writes.push_back({"job/" + id + "/spec", codec::write_json(specs.at(id), {.reveal = true})});
    }
    store->commit(std::move(batch), [&](Result<store::Revision> done) {
        if (!done) std::fprintf(stderr, "%s\n", done.error().text().c_str());
        loop.stop();
    });
    loop.run();
    std::printf("{\"jobs\": %d, \"tasks\": %d, \"nodes\": %d, \"state_hash\": \"%016lx\"}\n", made, placed, nodes, cluster.engine.state_hash());
    return 0;
}

template <class T>
T parsed(const std::string& text) {
    auto out = codec::read_json<T>(text, {.allow_unknown = true});
    if (!out) std::fprintf(stderr, "%s\n", out.error().text().c_str()), std::exit(1);
    return std::move(*out);
}

int measure(const std::string& path) {
    const double began = now_s();
    ThreadLoop loop;
    const auto store = open(path, loop);
    engine::Engine engine(Cluster::settings());
    QueueSpec queue;
    queue.name = "q";
    queue.policy = Policy::best_fit;
    engine.apply(engine::QueueSet{queue});
    {
        const auto nodes = store->load("node/");
        for (const auto& entry : *nodes) engine.apply(engine::NodeSet{parsed<NodeInventory>(entry.value)});
    }
    const double nodes_at = now_s();
    int jobs = 0, tasks = 0;
    {
        const auto entries = store->load("job/");
        for (std::size_t i = 0; i + 1 < entries->size(); i += 2) {
            const auto status = parsed<JobStatus>((*entries)[i].value);
            engine::EngineJob job;
            job.id = status.id;
            job.spec = std::make_shared<JobSpec>(parsed<JobSpec>((*entries)[i + 1].value));
            job.queue = "q";
            job.submitted = status.submitted;
            engine.apply(engine::JobAdded{std::move(job)});
            for (const auto& task : status.tasks) engine.apply(engine::TaskPlaced{status.id, task.index, *task.allocation, noon}), ++tasks;
            ++jobs;
        }
    }
    const double applied_at = now_s();
    JobSpec spec;
    spec.type = JobType::training;
    spec.resources.cpu.cores = MilliCpu(1000);
    spec.resources.memory.size = Bytes(gib);
    engine::EngineJob first;
    first.id = "first";
    first.spec = std::make_shared<JobSpec>(spec);
    first.queue = "q";
    first.submitted = noon;
    engine.apply(engine::JobAdded{std::move(first)});
    const auto plan = engine.pass(noon);
    const double decided_at = now_s();
    std::printf("{\"seconds\": %.3f, \"nodes_seconds\": %.3f, \"jobs_seconds\": %.3f, \"first_decision_seconds\": %.4f, \"jobs\": %d, \"tasks\": %d, "
                "\"placed\": %s, \"resident_mib\": %ld}\n",
                decided_at - began, nodes_at - began, applied_at - nodes_at, decided_at - applied_at, jobs, tasks, plan.placements.empty() ? "false" : "true",
                resident_mib());
    return plan.placements.empty() ? 1 : 0;
}

}  // namespace
}  // namespace crater::bench

int main(int argc, char** argv) {
    const std::string verb = argc > 2 ? argv[1] : "";
    const std::string shared = argc > 3 ? argv[3] : "../shared/bench";
    if (verb == "make") return crater::bench::make(argv[2], 5000, 87'000, shared);
    if (verb == "run") return crater::bench::measure(argv[2]);
    std::fprintf(stderr, "bench-restart make|run FILE [folder of traces]\n");
    return 2;
}
