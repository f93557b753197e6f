// Nobody who was stopped comes back to stop others, so that no chain of preemptions feeds itself.
#include <map>
#include <set>

#include "crater/base/clock.h"
#include "testing.h"

namespace crater::engine {
namespace {

using namespace testing;

struct Churn {
    SeededRng rng;
    Engine engine;
    Instant now = noon;
    std::map<std::string, EngineJob> jobs;
    std::map<std::string, std::int64_t> running;  // tasks
    std::map<std::string, std::int64_t> stops;
    int next = 0, preemptions = 0;

    explicit Churn(std::uint64_t seed) : rng(seed) {
        const crater::Order orders[] = {crater::Order::las, crater::Order::shortest, crater::Order::fair};
        for (int q = 0; q < 3; ++q) {
            QueueSpec queue;
            queue.name = "q" + std::to_string(q);
            queue.order = orders[q];
            queue.priority.value = 500 + 100 * q;
            if (q == 1) queue.reserved_gpu = static_cast<std::int64_t>(rng.below(3));
            engine.apply(QueueSet{queue});
        }
        const auto nodes = 1 + rng.below(4);
        for (std::uint64_t n = 0; n < nodes; ++n)
            engine.apply(NodeSet{make_node("n" + std::to_string(n), 1 + static_cast<int>(rng.below(4)), 1)});
    }
    void add() {
        const int priorities[] = {200, 500, 500, 500, 700};
        auto job = a_job("j" + std::to_string(next++))
                       .gpus(1000 * (1 + static_cast<std::int64_t>(rng.below(2))))
                       .tasks(1 + static_cast<std::int64_t>(rng.below(3)));
        job.queue("q" + std::to_string(rng.below(3))).priority(priorities[rng.below(5)]);
        if (rng.below(5) == 0) job.type(JobType::inference);
        if (rng.below(4)) job.preemptible();
        job.job.submitted = now;
        EngineJob made = job;
        made.served = static_cast<std::int64_t>(rng.below(100'000)) * 1000;
        made.run_time = RunTime{Millis{60'000 * (1 + static_cast<std::int64_t>(rng.below(1000)))}, Millis{1}};
        jobs[made.id] = made;
        engine.apply(JobAdded{made});
    }
    void free_all(const std::string& id) {
        for (std::int64_t t = 0; t < running.at(id); ++t) engine.apply(TaskFreed{id, t, now});
        running.erase(id);
    }
    // At one instant: what is decided, what that sets free, what is decided then, and so on.
    void settle(const std::string& at) {
        std::set<std::string> victims;
        for (int round = 0;; ++round) {
            ASSERT_LT(round, 30) << at;
            const auto plan = engine.pass(now);
            if (plan.placements.empty() && plan.preemptions.empty()) return;
            for (const auto& p : plan.placements) running[p.job] = p.tasks;
            for (const auto& p : plan.preemptions) {
                ++preemptions;
                ASSERT_FALSE(victims.contains(p.preemptor))
                    << at << ": " << p.preemptor << " was stopped and stops " << p.victim;
                victims.insert(p.victim);
                ASSERT_TRUE(jobs.at(p.victim).preemptible) << at;
                ASSERT_FALSE(jobs.at(p.victim).spec->type == JobType::inference &&
                             jobs.at(p.preemptor).spec->type == JobType::training)
                    << at;
            }
            for (const auto& p : plan.preemptions) {
                free_all(p.victim);
                engine.apply(JobRequeued{p.victim, ++stops[p.victim]});
            }
        }
    }
};

TEST(Stability, who_was_stopped_does_not_come_back_to_stop_others) {
    int preemptions = 0;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        Churn churn(seed * 6700417);
        for (int step = 0; step < 25; ++step) {
            churn.now = churn.now + Millis{1000 * (60 + static_cast<std::int64_t>(churn.rng.below(3600)))};
            for (auto n = churn.rng.below(5); n > 0; --n) churn.add();
            if (!churn.running.empty() && churn.rng.below(3) == 0) {
                auto it = churn.running.begin();
                std::advance(it, static_cast<std::ptrdiff_t>(churn.rng.below(churn.running.size())));
                const auto id = it->first;
                churn.running.erase(it);
                churn.engine.apply(JobRemoved{id, churn.now, true});
            }
            churn.settle("seed " + std::to_string(seed) + " step " + std::to_string(step));
            if (::testing::Test::HasFatalFailure()) return;
        }
        preemptions += churn.preemptions;
    }
    EXPECT_GT(preemptions, 1000);
}

}  // namespace
}  // namespace crater::engine
