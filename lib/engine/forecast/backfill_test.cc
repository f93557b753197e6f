// Places kept for blocked jobs: who may start beside them, and that they hold.
#include <algorithm>
#include <map>
#include <set>

#include "crater/base/clock.h"
#include "forecast/timed.h"

namespace crater::engine {
namespace {

using namespace testing;

struct Cluster4 {
    Engine engine;
    explicit Cluster4(int nodes = 1, std::int64_t depth = 4)
        : engine([&] {
              Settings settings;
              settings.backfill_depth = depth;
              return settings;
          }()) {
        for (int n = 0; n < nodes; ++n) engine.apply(NodeSet{make_node("n" + std::to_string(n), 4)});
    }
    std::set<std::string> pass(std::int64_t minute_now) {
        std::set<std::string> out;
        for (bool more = true; more;) {
            const Plan plan = engine.pass(at_minute(minute_now));
            for (const auto& placement : plan.placements) out.insert(placement.job);
            more = plan.more || engine.wants_pass();
        }
        return out;
    }
    void add(EngineJob job) { engine.apply(JobAdded{std::move(job)}); }
    void end(const std::string& id, std::int64_t minute_now) {
        engine.apply(JobRemoved{id, at_minute(minute_now), true});
    }
};

using Names = std::set<std::string>;

TEST(Backfill, a_job_that_ends_in_time_goes_ahead_and_one_that_does_not_waits) {
    Cluster4 c;
    c.add(timed("running", 3, 60));
    EXPECT_EQ(c.pass(0), Names{"running"});
    c.add(timed("head", 4, 60, 1));
    c.add(timed("long", 1, 61, 2));
    c.add(timed("short", 1, 30, 3));
    EXPECT_EQ(c.pass(0), Names{"short"});
    EXPECT_EQ(c.engine.why("long", at_minute(0))->binding, "gpu_count");  // now there is no room either
    c.end("short", 30);
    EXPECT_EQ(c.pass(30), Names{});
    c.end("running", 60);
    EXPECT_EQ(c.pass(60), Names{"head"});
}

TEST(Backfill, a_job_that_fits_beside_what_is_kept_starts) {
    Cluster4 c;
    c.add(timed("running", 3, 60));
    c.pass(0);
    c.add(timed("head", 3, 60, 1));
    c.add(timed("beside", 1, 1000, 2));
    EXPECT_EQ(c.pass(0), Names{"beside"});  // one card stays free for it beside the head
    c.end("running", 60);
    EXPECT_EQ(c.pass(60), Names{"head"});
}

TEST(Backfill, what_the_head_cannot_use_stays_open) {
    Cluster4 c;
    c.engine.apply(NodeSet{make_node("cpu", 0)});
    c.engine.apply(NodeSet{make_node("other", 2, 1, 24576, "l4")});
    c.add(timed("running", 4, 60));
    c.pass(0);
    JobMaker head = timed("head", 4, 60, 1);
    head.spec.resources.gpu.model = "a100-pcie-40gb";
    c.add(head);
    c.add(timed("cores", 0, 0, 2).cpu(4000));
    c.add(timed("other_model", 2, 0, 3));
    EXPECT_EQ(c.pass(0), (Names{"cores", "other_model"}));
}

// The cores of the node are wanted by the head, but not all of them.
TEST(Backfill, cores_beside_a_place_are_given_out) {
    Cluster4 c;
    c.add(timed("running", 4, 60).cpu(16'000));  // of 32
    c.pass(0);
    c.add(timed("head", 4, 60, 1).cpu(24'000));
    c.add(timed("cores", 0, 0, 2).cpu(1'000));
    c.add(timed("too_many", 0, 0, 3).cpu(8'000));
    EXPECT_EQ(c.pass(0), Names{"cores"});
}

TEST(Backfill, without_an_end_in_sight_nothing_is_kept) {
    Cluster4 c;
    c.add(timed("running", 3, 0));
    c.pass(0);
    c.add(timed("head", 4, 60, 1));
    c.add(timed("other", 1, 0, 2));
    EXPECT_EQ(c.pass(0), Names{"other"});
}

TEST(Backfill, of_unknown_length_is_for_ever) {
    Cluster4 c;
    c.add(timed("running", 3, 60));
    c.pass(0);
    c.add(timed("head", 4, 60, 1));
    c.add(timed("other", 1, 0, 2));
    EXPECT_EQ(c.pass(0), Names{});
    EXPECT_EQ(c.engine.why("other", at_minute(0))->binding, "order");
    EXPECT_NE(c.engine.why("other", at_minute(0))->summary.find("the place is kept"), std::string::npos);
}

TEST(Backfill, a_head_that_goes_lets_others_start) {
    Cluster4 c;
    c.add(timed("running", 3, 60));
    c.pass(0);
    c.add(timed("head", 4, 60, 1));
    c.add(timed("other", 1, 100, 2));
    EXPECT_EQ(c.pass(0), Names{});
    c.end("head", 1);
    EXPECT_TRUE(c.engine.wants_pass());
    EXPECT_EQ(c.pass(1), Names{"other"});
}

TEST(Backfill, gangs_keep_several_nodes) {
    Cluster4 c(2);
    c.add(timed("a", 3, 60));
    c.add(timed("b", 4, 30));
    EXPECT_EQ(c.pass(0), (Names{"a", "b"}));
    c.add(timed("gang", 4, 60, 1).tasks(2));
    c.add(timed("long", 1, 61, 2));
    EXPECT_EQ(c.pass(0), Names{});
    c.end("b", 30);
    c.add(timed("fills", 4, 30, 3));
    c.add(timed("over", 4, 31, 4));
    EXPECT_EQ(c.pass(30), Names{"fills"});
    c.end("a", 60), c.end("fills", 60);
    EXPECT_EQ(c.pass(60), Names{"gang"});
}

TEST(Backfill, places_avoid_maintenance) {
    Cluster4 c;
    c.add(timed("running", 3, 60));
    c.pass(0);
    c.engine.apply(NodeMaintenance{"n0", {{at_minute(90), at_minute(120)}}});
    JobMaker head = timed("head", 4, 60, 1);
    head.spec.duration = 60 * minute;
    c.add(head);
    // The head starts at 120 at the earliest: until then there is room for this one, before the maintenance.
    JobMaker before = timed("before", 1, 80, 2);
    before.spec.duration = 80 * minute;
    c.add(before);
    EXPECT_EQ(c.pass(0), Names{"before"});
}

TEST(Backfill, what_takes_longer_moves_the_place) {
    Cluster4 c;
    c.add(timed("running", 3, 60));
    c.pass(0);
    c.add(timed("head", 4, 60, 1));
    c.add(timed("other", 1, 10, 2));
    c.add(timed("later", 1, 20, 3));
    EXPECT_EQ(c.pass(0), Names{"other"});
    c.end("other", 10);
    EXPECT_EQ(c.pass(45), Names{});
    ASSERT_TRUE(c.engine.wake_at());
    EXPECT_EQ(*c.engine.wake_at(), at_minute(60));
    EXPECT_EQ(c.pass(61), Names{});          // a while longer than it said, but not twenty minutes
    EXPECT_EQ(c.pass(200), Names{"later"});  // by now it may take as long again
}

// What would yield to the head counts as gone after its grace, and passes settle although the time goes on.
TEST(Backfill, what_yields_is_free_soon) {
    Cluster4 c;
    Settings settings;
    settings.min_run_time = 30 * minute;
    c.engine.apply(SettingsSet{settings});
    c.add(timed("low", 3, 600).preemptible().priority(100));
    c.pass(0);
    c.add(timed("head", 4, 60, 1).priority(700));
    c.add(timed("short", 1, 20, 2));
    c.add(timed("long", 1, 40, 3));
    EXPECT_EQ(c.pass(0), Names{"short"});
    for (int second = 1; second < 50; ++second) {
        c.engine.pass(noon + Millis{second * 1000});
        EXPECT_FALSE(c.engine.wants_pass()) << second;
    }
}

// ---- At random --------------------------------------------------------------------------------------------

// When a job with so many cards and cores fits on one node at the earliest if nobody else starts: by
// counting.
struct Held {
    int node, gpus;
    std::int64_t cpu, end;
};
std::int64_t naive_earliest(const std::vector<Held>& held, int nodes, int gpus, std::int64_t cpu,
                            std::int64_t now) {
    std::vector<std::int64_t> times{now};
    for (const auto& h : held) times.push_back(h.end);
    std::sort(times.begin(), times.end());
    for (const auto t : times)
        for (int n = 0; n < nodes; ++n) {
            int free = 4;
            std::int64_t cores = 32'000;
            for (const auto& h : held)
                if (h.node == n && h.end > t) free -= h.gpus, cores -= h.cpu;
            if (free >= gpus && cores >= cpu) return t;
        }
    return INT64_MAX;
}

struct Story {
    std::map<std::string, std::int64_t> starts;
    int late = 0, heads = 0;
    std::uint64_t hash = 0;
};

// Jobs of random sizes and exact lengths. The first in order, once blocked, starts no later than by counting
// at that moment: whoever started ahead of it did not delay it.
Story play(std::uint64_t seed, std::int64_t depth) {
    constexpr int nodes = 3;
    SeededRng rng{seed};
    Cluster4 c(nodes, depth);
    Story out;
    struct Job {
        int gpus;
        std::int64_t cpu, length, came;
    };
    std::map<std::string, Job> jobs;
    std::vector<std::string> order;  // those that wait
    std::map<std::string, Held> held;
    std::map<std::string, std::int64_t> by;
    std::int64_t now = 0;
    int made = 0;
    while (made < 60 || !order.empty()) {
        for (auto it = held.begin(); it != held.end();) {
            if (it->second.end > now) {
                ++it;
                continue;
            }
            c.end(it->first, now);
            it = held.erase(it);
        }
        for (int k = static_cast<int>(rng.below(3)); k > 0 && made < 60; --k) {
            char id[8];
            std::snprintf(id, sizeof id, "j%03d", made++);
            const Job job{static_cast<int>(rng.below(5)), static_cast<std::int64_t>(1 + rng.below(12)) * 1000,
                          static_cast<std::int64_t>(1 + rng.below(40)), now};
            jobs[id] = job;
            order.push_back(id);
            c.add(timed(id, job.gpus, job.length, now * 60).cpu(job.cpu));
        }
        for (bool more = true; more;) {
            const Plan plan = c.engine.pass(at_minute(now));
            for (const auto& placement : plan.placements) {
                const Job& job = jobs.at(placement.job);
                const int node = node_of(c.engine, plan, placement.job).back() - '0';
                held[placement.job] = {node, job.gpus, job.cpu, now + job.length};
                std::erase(order, placement.job);
                out.starts[placement.job] = now;
                if (by.contains(placement.job) && now > by.at(placement.job)) ++out.late;
            }
            more = plan.more || c.engine.wants_pass();
        }
        if (!order.empty() && !by.contains(order.front())) {
            const Job& head = jobs.at(order.front());
            // Work without a card leaves part of a node's cores alone: not counted here.
            if (head.gpus > 0) {
                std::vector<Held> all;
                for (const auto& [id, h] : held) all.push_back(h);
                by[order.front()] = naive_earliest(all, nodes, head.gpus, head.cpu, now);
                ++out.heads;
            }
        }
        ++now;
        if (now > 10'000) break;
    }
    EXPECT_TRUE(order.empty());
    out.hash = c.engine.state_hash();
    return out;
}

// Who may be stopped again for the order is promised nothing by it, and holds nobody up.
TEST(Backfill, a_job_that_its_order_may_stop_keeps_no_place) {
    for (const bool preemptible : {false, true}) {
        Cluster4 c;
        QueueSpec queue;
        queue.name = "training";
        queue.order = crater::Order::shortest;
        c.engine.apply(QueueSet{queue});
        c.add(timed("running", 3, 60));
        EXPECT_EQ(c.pass(0), Names{"running"});
        auto head = timed("head", 4, 90, 1);
        head.job.preemptible = preemptible;
        c.add(head);
        c.add(timed("long", 1, 100, 2));
        EXPECT_EQ(c.pass(0), preemptible ? Names{"long"} : Names{});
    }
}

TEST(Backfill, nobody_ahead_of_the_first_delays_it) {
    int heads = 0, late_without = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        const Story story = play(seed, seed % 2 ? 4 : 100);
        EXPECT_EQ(story.late, 0) << "seed " << seed;
        heads += story.heads;
        late_without += play(seed, 0).late;
    }
    EXPECT_GT(heads, 200);
    EXPECT_GT(late_without, 20);  // without places they are: the test sees it
}

TEST(Backfill, equal_stories_end_equally) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const Story a = play(seed, seed % 2 ? 4 : 100), b = play(seed, seed % 2 ? 4 : 100);
        EXPECT_EQ(a.starts, b.starts);
        EXPECT_EQ(a.hash, b.hash);
    }
}

}  // namespace
}  // namespace crater::engine
