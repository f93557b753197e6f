// The engine and its second opinion (testing/naive.h) side by side.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "crater/base/clock.h"
#include "crater/engine/testing/naive.h"
#include "testing.h"

namespace crater::engine {
namespace {

using namespace testing;

// As an A100 in MIG mode is.
void cut_into_instances(Gpu& gpu) {
    gpu.mig_enabled = true;
    gpu.partitions = {{"1g.5gb", MilliGpu(142), Mebibytes(4864), 1, {0, 1, 2, 3, 4, 5, 6}},
                      {"2g.10gb", MilliGpu(285), Mebibytes(9856), 2, {0, 2, 4}},
                      {"3g.20gb", MilliGpu(428), Mebibytes(19968), 4, {0, 4}},
                      {"4g.20gb", MilliGpu(571), Mebibytes(19968), 4, {0}},
                      {"7g.40gb", MilliGpu(1000), Mebibytes(40192), 8, {0}}};
}

void fill_cache(Rng& rng, NodeCache& cache) {
    cache = {};
    for (const char* id : {"a", "b", "c"}) {
        if (rng.below(2)) cache.datasets.push_back({id, {}});
        if (rng.below(3) == 0) cache.models.push_back({id, Bytes(gib)});
    }
}

NodeInventory random_node(Rng& rng, const std::string& name) {
    const int cards = static_cast<int>(rng.below(5));
    const bool odd = rng.below(2) == 0;
    auto node = make_node(name, cards, 1 + static_cast<int>(rng.below(2)), odd ? 40536 : 16384,
                          odd ? "odd-40gb" : "small");
    node.labels["zone"] = rng.below(2) ? "a" : "b";
    if (rng.below(3) == 0) node.cpu = MilliCpu(node.cpu.value - 2000);
    for (auto& gpu : node.gpus) {
        gpu.healthy = rng.below(8) != 0;
        if (rng.below(2) == 0 && gpu.index + 1 < cards) gpu.nvlink_peers = {gpu.index + 1};
        if (odd && rng.below(6) == 0) cut_into_instances(gpu);
    }
    fill_cache(rng, node.cache);
    if (rng.below(2) == 0) {
        Disk second = node.disks[0];
        second.name = "sda";
        second.latency = Micros(500);
        second.iops = Iops(5'000'000);
        node.disks.push_back(second);
    }
    return node;
}

EngineJob random_job(Rng& rng, const std::string& id) {
    auto job = a_job(id);
    auto& want = job.spec.resources;
    const std::int64_t counts[] = {0, 500, 300, 1000, 1000, 2000, 3000};
    want.gpu.count = MilliGpu(counts[rng.below(7)]);
    if (want.gpu.count && rng.below(2)) {
        const std::int64_t sizes[] = {1000, 4096, 16384, 20480, 40000, 40960};
        want.gpu.memory = Mebibytes(sizes[rng.below(6)]);
        if (rng.below(4) == 0)
            want.gpu.compute = MilliGpu(100 * (1 + static_cast<std::int64_t>(rng.below(10))));
    }
    if (rng.below(8) == 0) want.gpu.exclusive = true;
    if (rng.below(6) == 0) want.gpu.model = "odd";
    if (want.gpu.count.value > 1000) want.gpu.interconnect = static_cast<Interconnect>(rng.below(3));
    want.cpu.cores = MilliCpu(500 * (1 + static_cast<std::int64_t>(rng.below(16))));
    want.memory.size = Bytes(gib * (1 + static_cast<std::int64_t>(rng.below(40))));
    if (rng.below(3) == 0)
        want.memory.bandwidth =
            BytesPerSecond(30'000'000'000 * (1 + static_cast<std::int64_t>(rng.below(4))));
    if (rng.below(4) == 0) want.disk.iops = Iops(300'000 * (1 + static_cast<std::int64_t>(rng.below(3))));
    if (rng.below(6) == 0) want.disk.latency_us_max = Micros(200);
    job.spec.numa_binding_policy = static_cast<NumaPolicy>(rng.below(3));
    if (rng.below(6) == 0) job.spec.node.labels["zone"] = "a";
    if (rng.below(12) == 0) job.spec.node.exclusive = true;
    if (rng.below(3) == 0) job.spec.labels["app"] = rng.below(2) ? "web" : "db";
    if (rng.below(6) == 0) job.spec.anti_affinity.jobs.push_back({{{"app", rng.below(2) ? "web" : "db"}}});
    if (rng.below(4) == 0) job.spec.tolerations.push_back({"kind", rng.below(2) ? "" : "old"});
    if (rng.below(3) == 0) job.spec.duration = std::chrono::minutes(rng.below(100));
    if (rng.below(6) == 0) job.spec.time_limit = std::chrono::minutes(1 + rng.below(100));
    if (rng.below(4) == 0) {
        const char* ids[] = {"a", "b", "c"};
        job.spec.data_locality = static_cast<DataLocality>(rng.below(2));
        job.spec.datasets.emplace_back(ids[rng.below(3)]);
        if (rng.below(3) == 0) job.spec.models.emplace_back(ids[rng.below(3)]);
    }
    job.spec.type = rng.below(3) == 0 ? JobType::inference : JobType::training;
    const char* queues[] = {"training", "wide", "packed"};
    job.job.queue = queues[rng.below(3)];
    job.job.priority = 100 * static_cast<int>(rng.below(10));
    job.job.submitted = {noon.ms + static_cast<std::int64_t>(rng.below(1000))};
    return job;
}

// The second opinion lets everybody start who fits: forecast/backfill_test.cc is about who must not.
Settings without_places(Settings settings) {
    settings.backfill_depth = 0;
    return settings;
}

// One random life of a small cluster, the engine and its second opinion side by side.
struct Life {
    SeededRng rng;
    Engine engine;
    Naive naive;
    std::map<std::string, EngineJob> waiting, jobs;
    std::map<std::string, std::set<std::int64_t>> ended;  // tasks of jobs that go on
    std::vector<std::string> log;
    int next = 0;

    bool sampled = false;
    QueueSpec packed{.name = "packed", .policy = Policy::binpack, .priority = {500}};

    explicit Life(std::uint64_t seed, const Settings& settings = {}, std::optional<double> wide_ratio = {}) : rng(seed), engine(without_places(settings)) {
        naive.now = noon;
        naive.ratio = settings.memory_overcommit_ratio;
        if (wide_ratio) naive.ratios["wide"] = *wide_ratio;
        QueueSpec wide{.name = "wide", .policy = Policy::spread, .priority = {500}, .overcommit_ratio = wide_ratio};
        engine.apply(QueueSet{wide});
        if (rng.below(2)) packed.weights.fit = 5;  // where it goes, not whether it fits
        engine.apply(QueueSet{packed});
        const auto nodes = 1 + rng.below(3);
        for (std::uint64_t i = 0; i < nodes; ++i) set_node("n" + std::to_string(i));
    }
    void set_node(const std::string& name) {
        naive.nodes[name] = random_node(rng, name);
        naive.real.erase(name);
        engine.apply(NodeSet{naive.nodes[name]});
    }
    void take(const Plan& plan) {
        for (const auto& placement : plan.placements) {
            for (const auto& [task, allocation] : engine.allocations(placement)) {
                naive.tasks.push_back({jobs.at(placement.job), task, allocation, noon});
                log.push_back(placement.job + "/" + std::to_string(task) + "@" + allocation.node + ":" +
                              std::to_string(allocation.gpus.empty() ? -1 : allocation.gpus[0].index));
            }
            waiting.erase(placement.job);
        }
    }
    void free_one() {
        if (naive.tasks.empty()) return;
        const auto at = naive.tasks.begin() + static_cast<std::ptrdiff_t>(rng.below(naive.tasks.size()));
        const auto job = at->job;
        const auto task = at->index;
        engine.apply(TaskFreed{job.id, task});
        const auto freed = at->held;
        naive.tasks.erase(at);
        naive.forget_use(freed);
        const bool others = std::any_of(naive.tasks.begin(), naive.tasks.end(),
                                        [&](const auto& t) { return t.job.id == job.id; });
        if (others) {
            ended[job.id].insert(task);
        } else if (rng.below(3) == 0) {
            engine.apply(JobRequeued{job.id, 0});
            waiting[job.id] = job;
            ended.erase(job.id);
        } else {
            engine.apply(JobRemoved{job.id});
            jobs.erase(job.id);
            ended.erase(job.id);
        }
    }
    void step() {
        switch (rng.below(sampled ? 13 : 11)) {
            case 0:
            case 1:
            case 2:
            case 3: {
                auto job = random_job(rng, "j" + std::to_string(next++));
                if (rng.below(5) == 0) {
                    auto spec = std::make_shared<JobSpec>(*job.spec);
                    spec->tasks = 2 + static_cast<std::int64_t>(rng.below(2));
                    spec->anti_affinity.spread_tasks = rng.below(3) == 0;
                    job.spec = spec;
                }
                engine.apply(JobAdded{job});
                waiting[job.id] = jobs[job.id] = job;
                break;
            }
            case 4:
            case 5: free_one(); break;
            case 6: {
                const auto name = "n" + std::to_string(rng.below(naive.nodes.size()));
                const bool close = rng.below(2) == 0;
                engine.apply(NodeFlags{name, close, false});
                if (close)
                    naive.closed.insert(name);
                else
                    naive.closed.erase(name);
                break;
            }
            case 8: {
                const auto name = "n" + std::to_string(rng.below(naive.nodes.size()));
                auto& taints = naive.taints[name];
                taints.clear();
                if (rng.below(2)) taints.push_back({"kind", rng.below(2) ? "old" : "new"});
                engine.apply(NodeTaints{name, taints});
                break;
            }
            case 9: {
                const auto name = "n" + std::to_string(rng.below(naive.nodes.size()));
                auto& windows = naive.windows[name];
                windows.clear();
                const Instant start = noon + std::chrono::minutes(static_cast<std::int64_t>(rng.below(150)) - 50);
                if (rng.below(3)) windows.push_back({start, start + std::chrono::minutes(1 + rng.below(90))});
                engine.apply(NodeMaintenance{name, windows});
                break;
            }
            case 7: {  // comes back changed, when nothing runs there
                const auto name = "n" + std::to_string(rng.below(naive.nodes.size()));
                const bool empty = std::none_of(naive.tasks.begin(), naive.tasks.end(),
                                                [&](const auto& t) { return t.held.node == name; });
                if (empty) set_node(name);
                break;
            }
            case 10: {  // whatever runs there
                const auto name = "n" + std::to_string(rng.below(naive.nodes.size()));
                fill_cache(rng, naive.nodes[name].cache);
                engine.apply(NodeSet{naive.nodes[name]});
                break;
            }
            case 11:
            case 12: {
                const auto name = "n" + std::to_string(rng.below(naive.nodes.size()));
                NodeSample sample;
                sample.at = noon;
                naive.real[name].clear();
                for (const auto& gpu : naive.nodes.at(name).gpus) {
                    const Mebibytes used(gpu.memory.value * static_cast<std::int64_t>(rng.below(20)) / 19);
                    sample.gpus.push_back({.index = gpu.index, .memory_used = used});
                    naive.real[name][gpu.index] = used.value;
                }
                engine.apply(LoadSampled{name, sample});
                break;
            }
        }
        if (rng.below(2) == 0) take(engine.pass(noon));
    }
    std::vector<Event> facts() {
        std::vector<Event> out;
        for (const auto& [name, node] : naive.nodes) out.emplace_back(NodeSet{node});
        for (const auto& name : naive.closed) out.emplace_back(NodeFlags{name, true, false});
        for (const auto& [name, taints] : naive.taints) out.emplace_back(NodeTaints{name, taints});
        for (const auto& [name, windows] : naive.windows) out.emplace_back(NodeMaintenance{name, windows});
        for (const auto& [id, job] : jobs) out.emplace_back(JobAdded{job});
        for (const auto& task : naive.tasks)
            out.emplace_back(TaskPlaced{task.job.id, task.index, task.held, task.started});
        for (const auto& [id, tasks] : ended)
            for (const auto task : tasks) out.emplace_back(TaskFreed{id, task});
        return out;
    }
};

TEST(SecondOpinion, agrees_on_what_fits_and_nothing_is_given_twice) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        Life life(seed);
        for (int step = 0; step < 60; ++step) {
            life.step();
            life.take(life.engine.pass(noon));
            EXPECT_EQ(life.naive.overbooked(), "");
            for (const auto& [id, job] : life.waiting) {
                if (job.spec->tasks > 1) continue;
                EXPECT_FALSE(life.naive.fits_anywhere(job))
                    << "seed " << seed << " step " << step << ": " << id
                    << " would fit; the engine says: " << life.engine.why(id, noon)->summary;
            }
            if (::testing::Test::HasFailure()) return;
        }
    }
}

TEST(SecondOpinion, agrees_on_every_single_node) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        Life life(seed * 7919);
        for (int step = 0; step < 30; ++step) life.step();
        for (int i = 0; i < 20; ++i) {
            const auto job = random_job(life.rng, "question");
            const auto trace = life.engine.would_place(job, noon);
            std::set<std::string> engine_says, naive_says;
            for (const auto& candidate : trace->candidates) engine_says.insert(candidate.node);
            for (const auto& [name, node] : life.naive.nodes)
                if (life.naive.fits(job, name)) naive_says.insert(name);
            ASSERT_EQ(engine_says, naive_says) << "seed " << seed << " question " << i;
        }
    }
}

// Slices may add up to more than a card has, by the ratio of their queue; real use above the watermark closes a card.
TEST(SecondOpinion, agrees_on_overcommitted_cards_and_the_watermark) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        Settings settings;
        settings.enable_prediction = false;
        settings.memory_overcommit_ratio = seed % 3 == 0 ? 1.0 : 1.2;
        const std::optional<double> own[] = {std::nullopt, 1.0, 1.5, 1.1};
        Life life(seed * 48271, settings, own[seed % 4]);
        life.sampled = true;
        for (int step = 0; step < 60; ++step) {
            life.step();
            life.take(life.engine.pass(noon));
            EXPECT_EQ(life.naive.overbooked(), "");
            for (const auto& [id, job] : life.waiting) {
                if (job.spec->tasks > 1) continue;
                EXPECT_FALSE(life.naive.fits_anywhere(job))
                    << "seed " << seed << " step " << step << ": " << id
                    << " would fit; the engine says: " << life.engine.why(id, noon)->summary;
            }
            if (::testing::Test::HasFailure()) return;
        }
        for (int i = 0; i < 20; ++i) {
            const auto job = random_job(life.rng, "question");
            const auto trace = life.engine.would_place(job, noon);
            std::set<std::string> engine_says, naive_says;
            for (const auto& candidate : trace->candidates) engine_says.insert(candidate.node);
            for (const auto& [name, node] : life.naive.nodes)
                if (life.naive.fits(job, name)) naive_says.insert(name);
            ASSERT_EQ(engine_says, naive_says) << "seed " << seed << " question " << i;
        }
    }
}

// A job that prefers its data goes to a node that has most of it, of those that have room for it, where nothing else is weighed.
TEST(SecondOpinion, agrees_on_where_most_of_the_data_is) {
    int told_apart = 0;
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        Life life(seed * 6007);
        PlacementWeights data{.capacity = 0, .dataset_locality = 1, .disk = 0, .fit = 0, .fragmentation = 0, .gpu_thrift = 0, .health = 0,
                              .interconnect = 0, .load = 0, .low_utilization = 0, .model_cache = 1, .numa = 0};
        life.engine.apply(QueueSet{{.name = "near", .policy = Policy::affinity, .weights = data, .priority = {500}}});
        for (int step = 0; step < 20; ++step) life.step();
        for (int i = 0; i < 10; ++i) {
            auto question = a_job("question");
            question.queue("near").gpus(1000 * static_cast<std::int64_t>(life.rng.below(2)));
            question.spec.datasets = {"a", "b"};
            question.spec.models = {"c"};
            const EngineJob job = question;
            std::map<std::string, int> has;  // of 4: half of it is the model
            for (const auto& [name, node] : life.naive.nodes)
                if (life.naive.fits(job, name))
                    has[name] = Naive::lies_in(node.cache.datasets, "a") + Naive::lies_in(node.cache.datasets, "b") + 2 * Naive::lies_in(node.cache.models, "c");
            int most = 0, least = 4;
            for (const auto& [name, part] : has) most = std::max(most, part), least = std::min(least, part);
            told_apart += !has.empty() && most > least;
            const auto trace = life.engine.would_place(job, noon);
            ASSERT_EQ(trace->candidates.empty(), has.empty()) << "seed " << seed;
            if (has.empty()) continue;
            ASSERT_EQ(has.at(trace->candidates[0].node), most) << "seed " << seed;
            ASSERT_NEAR(trace->candidates[0].score, most / 4.0, 1e-6) << "seed " << seed;
        }
    }
    EXPECT_GT(told_apart, 100);
}

TEST(State, rebuilt_from_its_facts_in_another_order_has_the_same_hash_and_decides_the_same) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        Life life(seed * 104729);
        for (int step = 0; step < 50; ++step) life.step();
        life.take(life.engine.pass(noon));

        Engine rebuilt(without_places({}));
        std::vector<Event> facts = life.facts();
        // Any order that names a thing before using it: kinds stay in order, members of a kind are turned
        // round.
        std::stable_sort(facts.begin(), facts.end(),
                         [](const Event& a, const Event& b) { return a.index() < b.index(); });
        for (auto from = facts.begin(); from != facts.end();) {
            auto to =
                std::find_if(from, facts.end(), [&](const Event& e) { return e.index() != from->index(); });
            std::reverse(from, to);
            from = to;
        }
        for (const auto& fact : facts) rebuilt.apply(fact);
        rebuilt.apply(Remembered{life.engine.learned()});
        rebuilt.apply(QueueSet{life.packed});
        add_queue(rebuilt, "wide", Policy::spread);
        ASSERT_EQ(rebuilt.state_hash(), life.engine.state_hash()) << "seed " << seed;
        const auto a = life.engine.books(), b = rebuilt.books();
        ASSERT_EQ(a.size(), b.size());
        for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(a[i].hash, b[i].hash);

        for (int i = 0; i < 10; ++i) {
            const auto job = random_job(life.rng, "new" + std::to_string(i));
            life.engine.apply(JobAdded{job});
            rebuilt.apply(JobAdded{job});
        }
        const auto told = [](const Engine& engine, const Plan& plan) {
            std::set<std::string> out;
            for (const auto& placement : plan.placements)
                for (const auto& [task, allocation] : engine.allocations(placement))
                    out.insert(placement.job + "/" + std::to_string(task) + "@" + allocation.node + ":" +
                               (allocation.gpus.empty() ? "" : std::to_string(allocation.gpus[0].index) + allocation.gpus[0].partition));
            for (const auto& stop : plan.preemptions) out.insert(stop.victim + " for " + stop.preemptor);
            return out;
        };
        const auto now = life.engine.pass(noon), then = rebuilt.pass(noon);
        ASSERT_EQ(told(rebuilt, then), told(life.engine, now)) << "decides differently after seed " << seed;
        ASSERT_EQ(rebuilt.state_hash(), life.engine.state_hash())
            << "decides differently after seed " << seed;
    }
}

TEST(State, the_same_events_give_the_same_decisions) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Life one(seed), two(seed);
        for (int step = 0; step < 80; ++step) one.step(), two.step();
        EXPECT_EQ(one.log, two.log);
        EXPECT_EQ(one.engine.state_hash(), two.engine.state_hash());
    }
}

TEST(State, questions_leave_no_trace) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        Life asked(seed * 31), silent(seed * 31);
        for (int step = 0; step < 60; ++step) {
            asked.step();
            for (const auto& [id, job] : asked.waiting) {
                (void)asked.engine.why(id, noon);
                (void)asked.engine.would_preempt(id, noon);
                (void)asked.engine.would_place(job, noon);
                (void)asked.engine.admit(job);
            }
            silent.step();
            ASSERT_EQ(asked.engine.state_hash(), silent.engine.state_hash());
            ASSERT_EQ(asked.log, silent.log);
        }
    }
}

// Gangs of whole cards, of which a node holds as many as its sums say.
struct Racks {
    SeededRng rng;
    Engine engine;
    Naive naive;
    std::map<std::string, std::string> rack_of, spine_of;
    int next = 0;

    explicit Racks(std::uint64_t seed) : rng(seed) {
        add_queue(engine, "wide", Policy::spread);
        add_queue(engine, "packed", Policy::binpack);
        add_queue(engine, "kept whole", Policy::fragmentation);
        const auto nodes = 3 + rng.below(8);
        for (std::uint64_t i = 0; i < nodes; ++i) {
            const auto name = "n" + std::to_string(i);
            auto node = make_node(name, static_cast<int>(rng.below(5)), 1);
            if (rng.below(8)) node.labels["topology.rack"] = "r" + std::to_string(rng.below(3));
            if (rng.below(8)) node.labels["topology.spine"] = "s" + std::to_string(rng.below(2));
            naive.nodes[name] = node;
            engine.apply(NodeSet{node});
            if (rng.below(6) == 0) {
                naive.taints[name] = {{"kind", "old"}};
                engine.apply(NodeTaints{name, naive.taints[name]});
            }
        }
    }
    EngineJob job(std::int64_t tasks, bool crowded) {
        auto out = a_job("j" + std::to_string(next++)).gpus(1000 * static_cast<std::int64_t>(rng.below(3))).tasks(tasks);
        out.cpu(1000 * (1 + static_cast<std::int64_t>(rng.below(8)))).memory(gib * (1 + static_cast<std::int64_t>(rng.below(30))));
        const char* queues[] = {"training", "wide", "packed", "kept whole"};
        out.queue(queues[rng.below(4)]);
        if (rng.below(3) == 0) out.spec.tolerations.push_back({"kind", ""});
        if (crowded) {
            if (rng.below(2)) out.spec.labels["app"] = rng.below(2) ? "web" : "db";
            if (rng.below(3) == 0) out.spec.anti_affinity.jobs.push_back({{{"app", "db"}}});
            if (tasks > 1) out.spec.anti_affinity.spread_tasks = rng.below(3) == 0;
        }
        if (tasks > 1 && rng.below(4)) {
            out.spec.topology.level = static_cast<TopologyLevel>(rng.below(4));
            out.spec.topology.required = rng.below(2);
        }
        return out;
    }
    // How many tasks of the job a node holds.
    std::int64_t holds(EngineJob job, const std::string& name) {
        std::int64_t count = 0;
        const auto before = naive.tasks.size();
        const auto& want = job.spec->resources;
        while (naive.fits(job, name)) {
            Allocation a;
            a.node = name;
            a.cpu = want.cpu.cores;
            a.memory = want.memory.size;
            auto used = naive.used_on(name);
            for (const auto& gpu : naive.nodes[name].gpus)
                if (static_cast<std::int64_t>(a.gpus.size()) < want.gpu.count.value / 1000 && used.card_tasks[gpu.index] == 0)
                    a.gpus.push_back({gpu.index, gpu.uuid, MilliGpu(1000), gpu.memory, true, false});
            naive.tasks.push_back({job, count++, a, noon});
        }
        naive.tasks.resize(before);
        return count;
    }
    // Where a node stands; "" nowhere.
    std::string area(TopologyLevel level, const std::string& name) const {
        const auto& labels = naive.nodes.at(name).labels;
        const auto of = [&](const char* key) { return labels.contains(key) ? labels.at(key) : std::string(); };
        if (level == TopologyLevel::node) return name;
        if (level == TopologyLevel::spine) return of("topology.spine");
        return of("topology.rack").empty() ? "" : of("topology.rack") + " " + of("topology.spine");
    }
    std::map<std::string, std::int64_t> room(TopologyLevel level, const EngineJob& job) {
        std::map<std::string, std::int64_t> out;
        for (const auto& [name, node] : naive.nodes)
            if (const auto where = area(level, name); !where.empty()) out[where] += holds(job, name);
        return out;
    }
};

TEST(SecondOpinion, agrees_on_the_rack_that_holds_a_gang) {
    int near = 0, wider = 0, refused = 0;
    for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
        const bool crowded = seed % 2;
        Racks racks(seed * 2654435761);
        for (int i = 0; i < 12; ++i) {
            const auto job = racks.job(i % 2 ? 2 + static_cast<std::int64_t>(racks.rng.below(7)) : 1, crowded);
            const auto& topology = job.spec->topology;
            const auto tasks = job.spec->tasks;
            const auto would = racks.engine.would_place(job, noon);
            racks.engine.apply(JobAdded{job});
            const auto plan = racks.engine.pass(noon);
            // The first level up at which an area holds it; none: anywhere.
            auto level = tasks > 1 ? topology.level : TopologyLevel::none;
            std::int64_t tightest = INT64_MAX, most = 0;
            for (bool asked = true; level != TopologyLevel::none; asked = false) {
                for (const auto& [name, room] : racks.room(level, job)) {
                    if (asked) most = std::max(most, room);
                    if (room >= tasks) tightest = std::min(tightest, room);
                }
                if (tightest != INT64_MAX) break;
                if (topology.required) break;
                level = level == TopologyLevel::node ? TopologyLevel::rack : level == TopologyLevel::rack ? TopologyLevel::spine : TopologyLevel::none;
            }
            std::int64_t anywhere = 0;
            for (const auto& [name, node] : racks.naive.nodes) anywhere += racks.holds(job, name);
            const bool starts = level != TopologyLevel::none && topology.required ? tightest != INT64_MAX : anywhere >= tasks;
            const std::string at = "seed " + std::to_string(seed) + " job " + job.id;
            ASSERT_EQ(plan.placements.size(), starts ? 1U : 0U) << at;
            ASSERT_EQ(!would->candidates.empty(), starts) << at;
            if (!starts) {
                const auto why = racks.engine.why(job.id, noon);
                const bool bound = tasks > 1 && topology.required && topology.level != TopologyLevel::none;
                if (bound && racks.room(topology.level, job).empty()) {
                    ASSERT_EQ(why->binding, "topology") << at;
                } else if (bound && most > 0) {
                    ++refused;
                    ASSERT_EQ(why->binding, "topology") << at;
                    ASSERT_NE(why->summary.find("has room for " + std::to_string(most) + "."), std::string::npos) << at << why->summary;
                } else {
                    ASSERT_NE(why->binding, "topology") << at << " " << why->summary << " naive " << most << " of " << tasks << " spread " << job.spec->anti_affinity.spread_tasks << " gpus " << job.spec->resources.gpu.count.value << " app " << (job.spec->labels.contains("app") ? job.spec->labels.at("app") : "");
                }
                racks.engine.apply(JobRemoved{job.id});
                continue;
            }
            if (level != TopologyLevel::none) {
                ++(level == topology.level ? near : wider);
                std::set<std::string> areas;
                for (const auto& [task, allocation] : racks.engine.allocations(plan.placements[0])) areas.insert(racks.area(level, allocation.node));
                ASSERT_EQ(areas.size(), 1U) << at;
                ASSERT_NE(*areas.begin(), "") << at;
                const auto room = racks.room(level, job)[*areas.begin()];
                if (crowded) {
                    ASSERT_GE(room, tasks) << at;
                } else {
                    ASSERT_EQ(room, tightest) << at;
                }
            }
            for (const auto& [task, allocation] : racks.engine.allocations(plan.placements[0])) racks.naive.tasks.push_back({job, task, allocation, noon});
            EXPECT_EQ(racks.naive.overbooked(), "");
            if (::testing::Test::HasFailure()) FAIL() << at;
        }
    }
    EXPECT_GT(near, 100);
    EXPECT_GT(wider, 100);
    EXPECT_GT(refused, 100);
}

// All sets of victims, compared by the rules of the contract.
TEST(SecondOpinion, agrees_on_who_gives_way) {
    int preempted = 0;
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        Life life(seed * 15485863);
        // Fill the cluster with jobs of which some may be stopped.
        std::vector<EngineJob> running;
        Instant now = noon;
        for (int i = 0; i < 14; ++i) {
            auto job = random_job(life.rng, "r" + std::to_string(i));
            job.preemptible = life.rng.below(4) != 0;
            job.priority = 200 - 100 * (i / 5);  // falling, so that these leave each other alone
            now = now + Millis{1000 * (1 + static_cast<std::int64_t>(life.rng.below(1000)))};
            life.engine.apply(JobAdded{job});
            life.jobs[job.id] = job;
            auto plan = life.engine.pass(now);
            for (const auto& p : plan.placements)
                for (const auto& [task, allocation] : life.engine.allocations(p))
                    life.naive.tasks.push_back({life.jobs.at(p.job), task, allocation, now});
            ASSERT_TRUE(plan.preemptions.empty());
            if (plan.placements.empty()) life.engine.apply(JobRemoved{job.id});
        }
        auto high = random_job(life.rng, "high");
        high.priority = 250;
        now = now + Millis{5000};
        life.engine.apply(JobAdded{high});
        const auto plan = life.engine.pass(now);
        std::vector<const NaiveTask*> able;
        for (const auto& task : life.naive.tasks)
            if (task.job.preemptible && task.job.priority < high.priority &&
                !(task.job.spec->type == JobType::inference && high.spec->type == JobType::training))
                able.push_back(&task);
        if (able.size() > 12) continue;
        using Figures = std::tuple<int, std::int64_t, std::size_t, std::int64_t>;
        const auto figures = [&](const std::set<std::string>& gone) {
            Figures f{0, 0, gone.size(), 0};
            std::int64_t started = INT64_MAX;
            for (const auto* task : able) {
                if (!gone.contains(task->job.id)) continue;
                std::int64_t cards = 0;
                for (const auto& slice : task->held.gpus) cards += slice.compute.value;
                const auto seconds = (now - task->started).count() / 1000 + 300;
                std::get<0>(f) = std::max(std::get<0>(f), task->job.priority);
                std::get<1>(f) += cards > 0 ? cards * seconds : task->held.cpu.value * seconds / 1000;
                started = std::min(started, task->started.ms);
            }
            std::get<3>(f) = -started;
            return f;
        };
        std::optional<Figures> best;
        if (!life.naive.fits_anywhere(high))
            for (std::uint32_t bits = 1; bits < (1U << able.size()); ++bits) {
                std::set<std::string> gone;
                for (std::size_t i = 0; i < able.size(); ++i)
                    if (bits >> i & 1) gone.insert(able[i]->job.id);
                const auto f = figures(gone);
                if ((!best || f < *best) && life.naive.fits_anywhere(high, gone)) best = f;
            }
        std::set<std::string> chosen;
        for (const auto& p : plan.preemptions) chosen.insert(p.victim);
        ASSERT_EQ(chosen.empty(), !best) << "seed " << seed;
        if (best) {
            ++preempted;
            ASSERT_EQ(figures(chosen), *best) << "seed " << seed;
        }
    }
    EXPECT_GT(preempted, 50);
}

}  // namespace
}  // namespace crater::engine
