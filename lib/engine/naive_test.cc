// The engine and its second opinion side by side.
#include "random_life.h"

namespace crater::engine {
namespace {

using namespace testing;

// Lives on for so many steps; after each nothing is given twice and nothing waits that would fit.
void live(Life& life, std::uint64_t seed, int steps) {
    for (int step = 0; step < steps; ++step) {
        life.step();
        life.take(life.engine.pass(noon));
        ASSERT_EQ(life.naive.overbooked(), "");
        for (const auto& [id, job] : life.waiting) {
            if (job.spec->tasks > 1) continue;
            ASSERT_FALSE(life.naive.fits_anywhere(job))
                << "seed " << seed << " step " << step << ": " << id
                << " would fit; the engine says: " << life.engine.why(id, noon)->summary;
        }
    }
}

// Which nodes would take it, asked for so many jobs.
void ask(Life& life, std::uint64_t seed, int questions) {
    for (int i = 0; i < questions; ++i) {
        const auto job = random_job(life.rng, "question");
        const auto trace = life.engine.would_place(job, noon);
        std::set<std::string> engine_says, naive_says;
        for (const auto& candidate : trace->candidates) engine_says.insert(candidate.node);
        for (const auto& [name, node] : life.naive.nodes)
            if (life.naive.fits(job, name)) naive_says.insert(name);
        ASSERT_EQ(engine_says, naive_says) << "seed " << seed << " question " << i;
    }
}

TEST(SecondOpinion, agrees_on_what_fits_and_nothing_is_given_twice) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        Life life(seed);
        ASSERT_NO_FATAL_FAILURE(live(life, seed, 60));
    }
}

TEST(SecondOpinion, agrees_on_every_single_node) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        Life life(seed * 7919);
        for (int step = 0; step < 30; ++step) life.step();
        ASSERT_NO_FATAL_FAILURE(ask(life, seed, 20));
    }
}

// Slices may add up to more than a card has, by the ratio of their queue; real use above the watermark closes
// a card.
TEST(SecondOpinion, agrees_on_overcommitted_cards_and_the_watermark) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        Settings settings;
        settings.enable_prediction = false;
        settings.memory_overcommit_ratio = seed % 3 == 0 ? 1.0 : 1.2;
        const std::optional<double> own[] = {std::nullopt, 1.0, 1.5, 1.1};
        Life life(seed * 48271, settings, own[seed % 4]);
        life.sampled = true;
        ASSERT_NO_FATAL_FAILURE(live(life, seed, 60));
        ASSERT_NO_FATAL_FAILURE(ask(life, seed, 20));
    }
}

// A job that prefers its data goes to a node that has most of it, of those that have room for it, where
// nothing else is weighed.
TEST(SecondOpinion, agrees_on_where_most_of_the_data_is) {
    int told_apart = 0;
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        Life life(seed * 6007);
        PlacementWeights data = no_weights();
        data.dataset_locality = data.model_cache = 1;
        life.engine.apply(
            QueueSet{{.name = "near", .policy = Policy::affinity, .weights = data, .priority = {500}}});
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
                    has[name] = Naive::lies_in(node.cache.datasets, "a") +
                                Naive::lies_in(node.cache.datasets, "b") +
                                2 * Naive::lies_in(node.cache.models, "c");
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
                               (allocation.gpus.empty() ? ""
                                                        : std::to_string(allocation.gpus[0].index) +
                                                              allocation.gpus[0].partition));
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

}  // namespace
}  // namespace crater::engine
