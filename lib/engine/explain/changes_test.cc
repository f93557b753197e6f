// What `why` says would start a job starts it, and one step less of it does not: on clusters filled at
// random, each change made and the engine asked.
#include <map>
#include <set>

#include "crater/base/clock.h"
#include "crater/engine/apply_change.h"
#include "forecast/timed.h"
#include "testing.h"

namespace crater::engine {
namespace {

using namespace testing;

struct ChangesLife {
    Engine engine;
    SeededRng rng;
    std::map<std::string, EngineJob> jobs;
    std::set<std::string> waiting;

    explicit ChangesLife(std::uint64_t seed) : rng(seed) {
        add_queue(engine, "training", rng.below(2) ? Policy::best_fit : Policy::price);
        const auto nodes = 2 + rng.below(4);
        for (std::size_t n = 0; n < nodes; ++n)
            engine.apply(NodeSet{make_node("n" + std::to_string(n), static_cast<int>(1 + rng.below(4)),
                                           1 + static_cast<int>(rng.below(2)), n % 3 == 2 ? 81920 : 40960,
                                           n % 3 == 2 ? "h100-80gb" : "a100-pcie-40gb")});
        Tenant tenant;
        tenant.path = "poor";
        tenant.hard.cpu = MilliCpu(6000);
        engine.apply(TenantSet{tenant});
        for (int i = 0; i < 40; ++i) add(random_job("j" + std::to_string(i), i));
        while (engine.wants_pass()) took(engine.pass(noon));
    }
    EngineJob random_job(const std::string& id, int at) {
        auto job = a_job(id)
                       .at(at)
                       .cpu(500 + 500 * static_cast<std::int64_t>(rng.below(20)))
                       .memory(gib * static_cast<std::int64_t>(1 + rng.below(40)));
        switch (rng.below(6)) {
            case 0: break;
            case 1: job.gpus(1000).gpu_memory(1280 * static_cast<std::int64_t>(1 + rng.below(30))); break;
            case 2: job.gpus(100 * static_cast<std::int64_t>(1 + rng.below(9))); break;
            case 3: job.gpus(1000 * static_cast<std::int64_t>(1 + rng.below(4))); break;
            case 4: job.gpus(1000).tasks(1 + static_cast<std::int64_t>(rng.below(6))); break;
            default:
                job.spec.resources.disk.size = Bytes(512 * gib * static_cast<std::int64_t>(1 + rng.below(8)));
        }
        if (rng.below(4) == 0 && job.spec.resources.gpu.count.value > 0)
            job.spec.resources.gpu.model = rng.below(2) ? "a100" : "h100";
        if (rng.below(5) == 0) job.tenant("poor");
        return job;
    }
    void add(const EngineJob& job) {
        jobs[job.id] = job;
        waiting.insert(job.id);
        engine.apply(JobAdded{job});
    }
    void took(const Plan& plan) {
        for (const auto& placement : plan.placements) waiting.erase(placement.job);
    }
    // Whether the job starts with this request; everything is as before after it.
    bool starts(const EngineJob& was, const JobSpec& spec) {
        EngineJob other = was;
        other.spec = std::make_shared<JobSpec>(spec);
        engine.apply(JobRemoved{was.id});
        engine.apply(JobAdded{other});
        const auto plan = engine.pass(noon);
        const bool started = std::any_of(plan.placements.begin(), plan.placements.end(),
                                         [&](const auto& p) { return p.job == was.id; });
        EXPECT_EQ(plan.placements.size(), started ? 1u : 0u) << "somebody else started instead";
        engine.apply(JobRemoved{was.id});
        engine.apply(JobAdded{was});
        EXPECT_TRUE(engine.pass(noon).placements.empty());
        return started;
    }
};

TEST(Changes, what_would_start_a_job_starts_it_and_one_step_less_does_not) {
    std::map<std::string, int> tried;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        ChangesLife life(seed);
        const auto before = life.engine.state_hash();
        for (const auto& id : std::set<std::string>(life.waiting)) {
            const EngineJob was = life.jobs.at(id);
            const auto why = *life.engine.why(id, noon, {.thorough = true});
            EXPECT_EQ(life.engine.state_hash(), before);
            EXPECT_FALSE(why.binding.empty()) << id;
            EXPECT_FALSE(why.summary.empty()) << id;
            EXPECT_GE(why.rank, 1) << id;
            for (const Change& change : why.changes) {
                ++tried[change.kind];
                const auto where =
                    "seed " + std::to_string(seed) + ", job " + id + ": " + change.text + "; " + why.summary;
                if (change.kind == "job_end") {
                    const EngineJob holder = life.jobs.at(change.value);
                    ChangesLife again(seed);
                    again.engine.apply(JobRemoved{change.value});
                    const auto plan = again.engine.pass(noon);
                    EXPECT_NE(node_of(again.engine, plan, id), "") << where;
                    continue;
                }
                JobSpec spec = *was.spec;
                ASSERT_TRUE(apply_change(change.kind, change.to, change.value, spec)) << where;
                EXPECT_TRUE(life.starts(was, spec)) << where;
                if (change.kind == "gpu_model") continue;
                const double less = change.to + step_of(change.kind, *was.spec, 1280);
                if (less >= change.from) continue;
                ASSERT_TRUE(apply_change(change.kind, less, change.value, spec));
                EXPECT_FALSE(life.starts(was, spec)) << "one step less of it starts it too: " << where;
            }
        }
        EXPECT_EQ(life.engine.state_hash(), before);
    }
    for (const char* kind :
         {"gpu_memory", "gpu_count", "cpu", "memory", "disk", "gpu_model", "tasks", "job_end"})
        EXPECT_GT(tried[kind], 5) << kind;
}

// Where no change of a kind is offered, none would do.
TEST(Changes, none_is_missed) {
    int missing = 0;
    for (std::uint64_t seed = 1; seed <= 15; ++seed) {
        ChangesLife life(seed);
        for (const auto& id : std::set<std::string>(life.waiting)) {
            const EngineJob was = life.jobs.at(id);
            const auto why = *life.engine.why(id, noon, {.thorough = true});
            const auto offered = [&](const char* kind) {
                return std::any_of(why.changes.begin(), why.changes.end(),
                                   [&](const Change& c) { return c.kind == kind; });
            };
            JobSpec least = *was.spec;
            least.resources.cpu.cores = MilliCpu(100);
            if (!offered("cpu") && was.spec->resources.cpu.cores.value > 100) {
                ++missing;
                EXPECT_FALSE(life.starts(was, least)) << seed << " " << id;
            }
            least = *was.spec;
            least.resources.memory.size = Bytes(128 << 20);
            if (!offered("memory")) {
                ++missing;
                EXPECT_FALSE(life.starts(was, least)) << seed << " " << id;
            }
            least = *was.spec;
            least.resources.gpu.memory = Mebibytes(1280);
            if (!offered("gpu_memory") && was.spec->resources.gpu.count.value >= 1000 &&
                was.spec->resources.gpu.memory.value != 1280) {
                ++missing;
                EXPECT_FALSE(life.starts(was, least)) << seed << " " << id;
            }
        }
    }
    EXPECT_GT(missing, 50);
}

TEST(Changes, are_read_as_sentences) {
    Engine engine;
    engine.apply(NodeSet{make_node("n1", 1)});
    engine.apply(JobAdded{a_job("held").gpus(1000).gpu_memory(30720)});
    engine.apply(JobAdded{a_job("want").gpus(1000).gpu_memory(16640).at(1)});
    engine.pass(noon);
    const auto why = *engine.why("want", noon);
    ASSERT_EQ(why.changes.size(), 2u);
    EXPECT_EQ(why.changes[0].text, "ask for 10 GiB of GPU memory on each card instead of 16640 MiB");
    EXPECT_EQ(why.changes[0].to, 10240);
    EXPECT_EQ(why.changes[1].text, "the end of job held");
    EXPECT_FALSE(why.more_changes);
}

TEST(Changes, a_priority_is_offered_that_would_stop_somebody) {
    Engine engine;
    engine.apply(NodeSet{make_node("n1", 1)});
    engine.apply(JobAdded{a_job("held").gpus(1000).priority(600).preemptible()});
    engine.apply(JobAdded{a_job("want").gpus(1000).at(1)});
    engine.pass(noon);
    const auto why = *engine.why("want", noon);
    const auto change = std::find_if(why.changes.begin(), why.changes.end(),
                                     [](const auto& c) { return c.kind == "priority"; });
    ASSERT_NE(change, why.changes.end());
    EXPECT_EQ(change->to, 601);
}

// What is kept for a job of lower priority is free for it once, not twice: a third card does not come of it.
TEST(Changes, what_is_kept_for_others_is_lifted_once_when_a_priority_is_looked_for) {
    Engine engine;
    engine.apply(NodeSet{make_node("n1", 2)});
    engine.apply(JobAdded{a_job("low").gpus(1000).priority(100).preemptible()});
    engine.apply(JobAdded{a_job("peer").gpus(1000).priority(700).preemptible()});
    engine.pass(noon);
    engine.apply(JobAdded{a_job("mid").gpus(1000).priority(500).at(1)});
    ASSERT_EQ(engine.pass(noon).preemptions.size(), 1u);
    for (const int tasks : {2, 3}) {
        const std::string id = "want" + std::to_string(tasks);
        engine.apply(JobAdded{a_job(id).gpus(1000).tasks(tasks).priority(600).at(2)});
        engine.pass(noon);
        const auto hash = engine.state_hash();
        const auto why = *engine.why(id, noon, {.thorough = true});
        const auto change = std::find_if(why.changes.begin(), why.changes.end(),
                                         [](const auto& c) { return c.kind == "priority"; });
        if (tasks == 2) {
            ASSERT_NE(change, why.changes.end());
            EXPECT_EQ(change->to, 701);
        } else {
            EXPECT_EQ(change, why.changes.end());
        }
        EXPECT_EQ(engine.state_hash(), hash);
        engine.apply(JobRemoved{id});
    }
}

// A job behind others gains nothing by an end that lets them start.
TEST(Changes, an_end_that_serves_somebody_else_first_is_not_offered) {
    Engine engine;
    engine.apply(NodeSet{make_node("n1", 1)});
    engine.apply(JobAdded{a_job("held").gpus(1000)});
    engine.apply(JobAdded{a_job("first").gpus(1000).at(1)});
    engine.apply(JobAdded{a_job("second").gpus(1000).cpu(2000).at(2)});
    engine.pass(noon);
    const auto ends = [&](const char* id) {
        const auto why = *engine.why(id, noon);
        return std::any_of(why.changes.begin(), why.changes.end(),
                           [](const auto& c) { return c.kind == "job_end"; });
    };
    EXPECT_TRUE(ends("first"));
    EXPECT_FALSE(ends("second"));
}

// A place that is kept for one that goes first is not taken by a change: it would not start by it. One that
// has ended by then may have it, and so may who goes before.
TEST(Changes, places_that_are_kept_for_others_are_not_counted_on) {
    Settings settings;
    settings.backfill_depth = 4;
    Engine engine(settings);
    engine.apply(NodeSet{make_node("n1", 4)});
    engine.apply(JobAdded{timed("running", 3, 60)});
    engine.pass(noon);
    engine.apply(JobAdded{timed("head", 4, 60, 1)});
    engine.apply(JobAdded{timed("long", 2, 0, 2)});
    engine.apply(JobAdded{timed("short", 2, 30, 3)});
    ASSERT_TRUE(engine.pass(noon).placements.empty());
    const auto starts = [&](JobMaker job) {
        engine.apply(JobRemoved{job.job.id});
        const std::string id = job.job.id;
        engine.apply(JobAdded{job.gpus(1000)});
        const auto plan = engine.pass(noon);
        return std::any_of(plan.placements.begin(), plan.placements.end(),
                           [&](const auto& p) { return p.job == id; });
    };
    const auto offered = [&](const char* id) {
        const auto why = *engine.why(id, noon);
        const bool fewer = std::any_of(why.changes.begin(), why.changes.end(),
                                       [](const auto& c) { return c.kind == "gpu_count" && c.to == 1; });
        EXPECT_TRUE(fewer || why.more_changes) << id;
        return fewer;
    };
    EXPECT_FALSE(offered("long"));
    EXPECT_TRUE(offered("short"));
    EXPECT_FALSE(starts(timed("long", 2, 0, 2)));
    EXPECT_TRUE(starts(timed("short", 2, 30, 3)));
    for (const char* id : {"long", "short"}) engine.apply(JobRemoved{id});
    engine.apply(JobAdded{timed("urgent", 2, 0, 4).priority(900)});
    engine.pass(noon);
    EXPECT_TRUE(offered("urgent"));
    EXPECT_TRUE(starts(timed("urgent", 2, 0, 4).priority(900)));
}

}  // namespace
}  // namespace crater::engine
