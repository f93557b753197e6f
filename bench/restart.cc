// A restart at size: a store as a scheduler leaves it (5,000 nodes, 87,000 running jobs with 140,000 tasks)
// is opened by the scheduler itself, the agent of one node comes back, and a new job is placed there. `make
// FILE` writes the store, `make-json FILE` in the form that stores had before, `run FILE` measures, `read
// FILE` only reads all rows. Each prints one JSON object.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "crater/base/ids.h"
#include "crater/base/log.h"
#include "crater/codec/codec.h"
#include "crater/codec/proto.h"
#include "crater/model/job.h"
#include "crater/proto/agent.pb.h"
#include "crater/scheduler/scheduler.h"
#include "crater/store/store.h"
#include "records.h"
#include "support/cluster.h"

namespace crater::bench {
namespace {

double now_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double cpu_s() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

std::string hex(std::uint64_t n) {
    char text[17];
    std::snprintf(text, sizeof text, "%016lx", n);
    return text;
}

// "VmHWM:" the most that was ever resident, "VmRSS:" what is now.
std::int64_t resident_mib(std::string_view field) {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(field)) return std::atoll(line.c_str() + field.size()) / 1024;
    return 0;
}

std::unique_ptr<store::Store> open(const std::string& path, Loop& loop) {
    auto opened = store::open_sqlite({.path = path, .group_max = 512, .crash_at = {}}, loop);
    if (!opened) std::fprintf(stderr, "%s\n", opened.error().text().c_str()), std::exit(1);
    return std::move(*opened);
}

// As stores were before values had a form of their own.
template <class T>
std::string json_value(const T& object) {
    return codec::write_json(object, {.reveal = true});
}

// The cluster filled by the engine itself: four in ten jobs have two or three equal tasks, the others one.
int make(const std::string& path, bool json, int nodes, int jobs, const std::string& shared) {
    const auto mix = requests_of(shared);
    Cluster cluster(nodes, Policy::best_fit, mix);
    std::map<std::string, scheduler::StoredSpec> specs;
    scheduler::Outlines outlines;
    std::map<std::string, scheduler::StoredStatus> running;
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
            if (rng.below(2))
                spec.resources.gpu.count = MilliGpu(100 + 100 * static_cast<std::int64_t>(rng.below(4)));
            spec.tasks = small ? 1 : 2 + static_cast<std::int64_t>(rng.below(2));
            engine::EngineJob job;
            job.id = "job-" + std::to_string(1000000 + static_cast<int>(specs.size()));
            job.queue = "q";
            job.tenant = "team/" + std::to_string(rng.below(20));
            job.submitted = noon;
            scheduler::StoredSpec& fixed = specs[job.id];
            fixed.id = job.id;
            fixed.queue = job.queue;
            fixed.tenant = job.tenant;
            fixed.user = "ann";
            fixed.document_hash = sha256_hex(job.id);
            fixed.submitted = noon;
            fixed.spec = spec;
            scheduler::FixedJob kept;
            if (!scheduler::keep_job(kept, fixed, outlines)) std::exit(1);
            job.spec = kept.outline;
            cluster.engine.apply(engine::JobAdded{std::move(job)});
        }
        const auto plan = cluster.engine.pass(noon, {.placements_max = 5000, .evaluations_max = 10'000'000});
        if (plan.placements.empty()) break;
        for (const auto& placement : plan.placements) {
            scheduler::StoredStatus stored;
            stored.placed = noon;
            JobStatus status;
            status.id = placement.job;
            status.state = State::running;
            status.submitted = status.started = noon;
            for (const auto& [index, allocation] : cluster.engine.allocations(placement)) {
                TaskStatus task{
                    .index = index, .state = State::running, .attempt = 1, .since = noon, .started = noon};
                task.allocation = allocation;
                status.tasks.push_back(std::move(task));
                ++placed;
            }
            stored.status = std::move(status);
            running.emplace(placement.job, std::move(stored));
            ++made;
        }
    }
    // What found no room is not stored; what is stored of tenants is a fact too.
    std::map<std::string, Tenant> tenants;
    const auto know = [&](const std::string& tenant) {
        if (tenants.contains(tenant)) return;
        tenants[tenant].path = tenant;
        cluster.engine.apply(engine::TenantSet{tenants[tenant]});
    };
    know("team");
    for (const auto& [id, fixed] : specs) {
        if (running.contains(id))
            know(fixed.tenant);
        else
            cluster.engine.apply(engine::JobRemoved{id});
    }
    const std::string hash = hex(cluster.engine.state_hash());
    ThreadLoop loop;
    std::filesystem::remove(path);
    auto store = open(path, loop);
    store::Batch batch;
    const auto put = [&](std::string key, const auto& object) {
        batch.writes.push_back({std::move(key), json ? json_value(object) : scheduler::stored_value(object)});
    };
    put("meta/settings", Cluster::settings());
    scheduler::StoredQueue queue;
    queue.spec.name = "q";
    queue.spec.policy = Policy::best_fit;
    put("queue/q", queue);
    for (int n = 0; n < nodes; ++n) {
        const auto node = node_number(n);
        put("node/" + node.name, node);
        scheduler::StoredNodeState state;
        state.boot_id = "b";
        state.since = noon;
        put("node/" + node.name + "/state", state);
    }
    for (const auto& [id, stored] : running) {
        put("job/" + id, stored);
        put("job/" + id + "/spec", specs.at(id));
    }
    for (const auto& [tenant, stored] : tenants) put("tenant/" + tenant, stored);
    batch.writes.push_back({"meta/state_hash", hash});
    store->commit(std::move(batch), [&](Result<store::Revision> done) {
        if (!done) std::fprintf(stderr, "%s\n", done.error().text().c_str());
        loop.stop();
    });
    loop.run();
    std::printf("{\"jobs\": %d, \"tasks\": %d, \"nodes\": %d, \"state_hash\": \"%s\"}\n", made, placed, nodes,
                hash.c_str());
    return 0;
}

// The least a restart costs: every row, and what says that it is not damaged.
int read_all(const std::string& path) {
    const double began = now_s();
    ThreadLoop loop;
    const auto store = open(path, loop);
    std::size_t rows = 0, bytes = 0;
    const auto read = store->for_each("", [&](std::string_view, std::string_view value) -> Result<void> {
        ++rows;
        bytes += value.size();
        return {};
    });
    if (!read) return std::fprintf(stderr, "%s\n", read.error().text().c_str()), 1;
    std::printf("{\"seconds\": %.3f, \"rows\": %zu, \"value_mib\": %.1f, \"resident_mib\": %ld}\n",
                now_s() - began, rows, static_cast<double>(bytes) / (1 << 20), resident_mib("VmHWM:"));
    return 0;
}

// The agent of one node, as far as a placement needs it: it registers with what it holds and takes what it is
// told.
class OneAgent final : public wire::Link {
  public:
    explicit OneAgent(scheduler::Scheduler& scheduler) {
        std::shared_ptr<wire::Link> self(std::shared_ptr<wire::Link>(), this);
        callbacks_ = scheduler.agent_link([self] { return self; });
    }
    void come_back(const api::NodeView& node) {
        proto::ToScheduler message;
        auto& r = *message.mutable_register_();
        r.set_protocol(std::string(wire::agent_protocol));
        r.set_boot_id("b");
        codec::to_proto(node.inventory, *r.mutable_inventory());
        for (const auto& held : node.held) {
            auto& h = *r.add_held();
            h.set_job(held.job);
            h.set_task(held.task.index);
            h.set_attempt(held.task.attempt);
            h.set_state("running");
        }
        callbacks_.on_message(message.SerializeAsString());
    }
    void send(std::string bytes) override {
        proto::ToAgent message;
        if (!message.ParseFromString(bytes) || !message.has_launch() || !launched) return;
        launched(message.launch());
    }
    void close() override {}
    std::string peer() const override { return "127.0.0.1:1"; }
    std::function<void(const proto::Launch&)> launched;

  private:
    wire::LinkCallbacks callbacks_;
};

int measure(const std::string& path, int nodes) {
    const double began = now_s(), began_cpu = cpu_s();
    ThreadLoop loop;
    const auto store = open(path, loop);
    const double opened_at = now_s();
    const auto clock = system_clock();
    const auto rng = system_rng();
    scheduler::Config config;
    config.scheduling = Cluster::settings();
    auto started = scheduler::Scheduler::start(
        config,
        {.clock = *clock, .loop = loop, .rng = *rng, .store = *store, .on_fatal = [](const Error& error) {
             std::fprintf(stderr, "%s\n", error.text().c_str()), std::exit(1);
         }});
    if (!started) return std::fprintf(stderr, "%s\n", started.error().text().c_str()), 1;
    scheduler::Scheduler& service = **started;
    const double recovered_at = now_s();
    const bool verified = service.read().cluster().state_hash_verified;

    OneAgent agent(service);
    const auto back = service.read().node(node_number(nodes - 1).name);
    double decided_at = 0;
    agent.launched = [&](const proto::Launch& launch) {
        if (launch.allocation().node() == back->node.name) decided_at = now_s();
        loop.stop();
    };
    loop.post([&] {
        agent.come_back(*back);
        JobSpec spec;
        spec.name = "first";
        spec.type = JobType::training;
        spec.queue = "q";
        spec.command.argv = {"true"};
        spec.resources.cpu.cores = MilliCpu(1000);
        spec.resources.memory.size = Bytes(gib);
        service.submit({.spec = spec, .actor = {}, .idempotency_key = {}, .document = {}, .task_id = {}},
                       [&](Result<scheduler::Submitted> answer) {
                           if (!answer)
                               std::fprintf(stderr, "%s\n", answer.error().text().c_str()), std::exit(1);
                       });
    });
    loop.run();
    // before all rows are copied below
    const std::int64_t most = resident_mib("VmHWM:"), now = resident_mib("VmRSS:");
    const auto cluster = service.read().cluster();
    std::int64_t tasks = 0;
    for (const auto& row : service.read().nodes({}, false, static_cast<std::size_t>(nodes), {}).items)
        tasks += row.tasks;
    std::printf(
        "{\"seconds\": %.3f, \"cpu_seconds\": %.3f, \"open_seconds\": %.3f, \"recovery_seconds\": %.3f, \"first_decision_seconds\": %.3f, "
        "\"jobs\": %ld, \"tasks\": %ld, \"verified\": %s, \"placed\": %s, \"resident_mib\": %ld, \"resident_after_mib\": %ld}\n",
        decided_at - began, cpu_s() - began_cpu, opened_at - began, recovered_at - opened_at,
        decided_at - recovered_at, cluster.jobs.at("Running"), tasks, verified ? "true" : "false",
        decided_at > 0 ? "true" : "false", most, now);
    std::fflush(stdout);
    std::_Exit(verified && decided_at > 0 ? 0 : 1);  // taking it all apart is no part of a restart
}

}  // namespace
}  // namespace crater::bench

int main(int argc, char** argv) {
    using namespace crater::bench;
    const std::string verb = argc > 2 ? argv[1] : "";
    const std::string shared = argc > 3 ? argv[3] : "../shared/bench";
    const int nodes = argc > 4 ? std::atoi(argv[4]) : 5000, jobs = argc > 5 ? std::atoi(argv[5]) : 87'000;
    crater::log::setup("bench-restart", crater::log::Level::warning);
    if (verb == "make" || verb == "make-json") return make(argv[2], verb == "make-json", nodes, jobs, shared);
    if (verb == "run") return measure(argv[2], nodes);
    if (verb == "read") return read_all(argv[2]);
    std::fprintf(stderr, "bench-restart make|make-json|run|read FILE [folder of traces [nodes [jobs]]]\n");
    return 2;
}
