// The engine and its second opinion on gangs in racks, and on who gives way.
#include "random_life.h"

namespace crater::engine {
namespace {

using namespace testing;

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
        auto out = a_job("j" + std::to_string(next++))
                       .gpus(1000 * static_cast<std::int64_t>(rng.below(3)))
                       .tasks(tasks);
        out.cpu(1000 * (1 + static_cast<std::int64_t>(rng.below(8))))
            .memory(gib * (1 + static_cast<std::int64_t>(rng.below(30))));
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
                if (static_cast<std::int64_t>(a.gpus.size()) < want.gpu.count.value / 1000 &&
                    used.card_tasks[gpu.index] == 0)
                    a.gpus.push_back({gpu.index, gpu.uuid, MilliGpu(1000), gpu.memory, true, false});
            naive.tasks.push_back({job, count++, a, noon});
        }
        naive.tasks.resize(before);
        return count;
    }
    // Where a node stands; "" nowhere.
    std::string area(TopologyLevel level, const std::string& name) const {
        const auto& labels = naive.nodes.at(name).labels;
        const auto of = [&](const char* key) {
            return labels.contains(key) ? labels.at(key) : std::string();
        };
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
            const auto job =
                racks.job(i % 2 ? 2 + static_cast<std::int64_t>(racks.rng.below(7)) : 1, crowded);
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
                level = level == TopologyLevel::node   ? TopologyLevel::rack
                        : level == TopologyLevel::rack ? TopologyLevel::spine
                                                       : TopologyLevel::none;
            }
            std::int64_t anywhere = 0;
            for (const auto& [name, node] : racks.naive.nodes) anywhere += racks.holds(job, name);
            const bool starts =
                level != TopologyLevel::none && topology.required ? tightest != INT64_MAX : anywhere >= tasks;
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
                    ASSERT_NE(why->summary.find("has room for " + std::to_string(most) + "."),
                              std::string::npos)
                        << at << why->summary;
                } else {
                    ASSERT_NE(why->binding, "topology")
                        << at << " " << why->summary << " naive " << most << " of " << tasks << " spread "
                        << job.spec->anti_affinity.spread_tasks << " gpus "
                        << job.spec->resources.gpu.count.value << " app "
                        << (job.spec->labels.contains("app") ? job.spec->labels.at("app") : "");
                }
                racks.engine.apply(JobRemoved{job.id});
                continue;
            }
            if (level != TopologyLevel::none) {
                ++(level == topology.level ? near : wider);
                std::set<std::string> areas;
                for (const auto& [task, allocation] : racks.engine.allocations(plan.placements[0]))
                    areas.insert(racks.area(level, allocation.node));
                ASSERT_EQ(areas.size(), 1U) << at;
                ASSERT_NE(*areas.begin(), "") << at;
                const auto room = racks.room(level, job)[*areas.begin()];
                if (crowded) {
                    ASSERT_GE(room, tasks) << at;
                } else {
                    ASSERT_EQ(room, tightest) << at;
                }
            }
            for (const auto& [task, allocation] : racks.engine.allocations(plan.placements[0]))
                racks.naive.tasks.push_back({job, task, allocation, noon});
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
