// Overcommit, the watermark and the prediction: how much of a card is promised, and when no more is.
#include <map>
#include <set>

#include "crater/base/clock.h"
#include "testing.h"

namespace crater::engine {
namespace {

using namespace testing;

Settings overcommitting(bool prediction = true) {
    Settings settings;
    settings.memory_overcommit_ratio = 1.2;
    settings.enable_prediction = prediction;
    return settings;
}

// Rounded up to 8960 MiB of a card of 40960: four make no five, but five go into 1.2 cards.
JobMaker a_slice(const std::string& id) { return a_job(id).gpus(1000).gpu_memory(8192); }

EngineJob with(EngineJob job, const Profile& profile) {
    job.profile = std::make_shared<Profile>(profile);
    return job;
}
Profile uses(std::int64_t gpu_mib) { return {.gpu_memory = Mebibytes(gpu_mib)}; }

NodeSample sample_of(std::int64_t used_mib, Instant at = noon, std::int64_t card = 0) {
    NodeSample sample;
    sample.at = at;
    sample.gpus.push_back({.index = card, .memory_used = Mebibytes(used_mib)});
    return sample;
}

// Adds the job and gives the node it starts on, "" when it waits.
std::string start(Engine& engine, const EngineJob& job, Instant now = noon) {
    engine.apply(JobAdded{job});
    return node_of(engine, engine.pass(now), job.id);
}
int started(Engine& engine, int jobs, const std::string& queue) {
    int out = 0;
    for (int i = 0; i < jobs; ++i)
        out += !start(engine, a_slice(queue + std::to_string(i)).queue(queue)).empty();
    return out;
}

TEST(Overcommit, slices_add_up_to_the_ratio_of_a_cards_memory) {
    Engine plain, engine(overcommitting(false));
    plain.apply(NodeSet{make_node("n1", 1)});
    engine.apply(NodeSet{make_node("n1", 1)});
    EXPECT_EQ(started(plain, 7, "training"), 4);
    EXPECT_EQ(started(engine, 7, "training"), 5);
    const auto card = engine.books()[0].cards[0];
    EXPECT_EQ(card.memory_used.value, 5 * 8960);
    EXPECT_EQ(card.memory_total.value, 40960);
    EXPECT_EQ(card.memory_limit.value, 49152);
    EXPECT_EQ(engine.largest_free()[0].largest.value, 49152 - 5 * 8960);
}

TEST(Overcommit, a_queue_has_its_own_ratio) {
    Settings plain;
    plain.enable_prediction = false;
    Engine engine(overcommitting(false)), raised(plain);
    for (Engine* each : {&engine, &raised}) each->apply(NodeSet{make_node("n1", 1)});
    engine.apply(QueueSet{{.name = "inference", .overcommit_ratio = 1.0}});
    raised.apply(QueueSet{{.name = "offline", .overcommit_ratio = 1.2}});
    EXPECT_EQ(started(engine, 6, "inference"), 4);
    EXPECT_EQ(started(engine, 6, "training"), 1) << "what is left above the card's memory is for the others";
    EXPECT_EQ(started(raised, 6, "training"), 4);
    EXPECT_EQ(started(raised, 6, "offline"), 1);
    EXPECT_EQ(start(raised, a_job("small").gpus(1000).gpu_memory(1024)), "");
    raised.apply(QueueSet{{.name = "training", .overcommit_ratio = 1.5}});
    EXPECT_EQ(node_of(raised, raised.pass(noon), "small"), "n1")
        << "a ratio that is raised is for those that wait, too";
}

TEST(Overcommit, whole_cards_are_never_shared) {
    Engine engine(overcommitting(false));
    engine.apply(NodeSet{make_node("n1", 1)});
    EXPECT_EQ(start(engine, a_job("whole").gpus(1000)), "n1");
    EXPECT_EQ(start(engine, a_slice("slice")), "");
    EXPECT_EQ(start(engine, a_job("other").gpus(1000)), "");
}

TEST(Overcommit, a_gang_is_admitted_only_if_the_empty_cluster_holds_it_without) {
    Engine engine(overcommitting(false));
    engine.apply(NodeSet{make_node("n1", 1)});
    EXPECT_TRUE(engine.admit(a_slice("four").tasks(4)));
    EXPECT_FALSE(engine.admit(a_slice("five").tasks(5)));
}

TEST(Watermark, real_use_above_it_closes_a_card_and_below_opens_it_again) {
    Engine engine;
    engine.apply(NodeSet{make_node("n1", 1)});
    ASSERT_EQ(start(engine, a_slice("a")), "n1");
    const auto hash = engine.state_hash();
    engine.apply(LoadSampled{"n1", sample_of(38 * 1024 + 103)});
    EXPECT_EQ(engine.state_hash(), hash);
    EXPECT_EQ(start(engine, a_slice("b")), "");
    const auto why = *engine.why("b", noon, {.nodes = true});
    EXPECT_EQ(why.binding, "gpu_watermark");
    EXPECT_NE(why.summary.find("n1: of card 0 38.1 of 40 GiB are in real use, the watermark is 36 GiB"),
              std::string::npos)
        << why.summary;
    EXPECT_EQ(engine.books()[0].cards[0].memory_real->value, 38 * 1024 + 103);
    EXPECT_EQ(engine.largest_free()[0].largest.value, 0);
    engine.apply(LoadSampled{"n1", sample_of(36 * 1024)});
    EXPECT_TRUE(engine.wants_pass());
    EXPECT_EQ(node_of(engine, engine.pass(noon), "b"), "n1");
}

TEST(Watermark, what_was_measured_of_tasks_that_are_gone_closes_nothing) {
    Engine engine;
    engine.apply(NodeSet{make_node("n1", 1)});
    ASSERT_EQ(start(engine, a_job("a").gpus(1000)), "n1");
    engine.apply(LoadSampled{"n1", sample_of(40000)});
    EXPECT_EQ(start(engine, a_job("b").gpus(1000)), "");
    engine.apply(JobRemoved{"a"});
    EXPECT_EQ(node_of(engine, engine.pass(noon), "b"), "n1") << "no next sample is waited for";
}

struct Prediction : ::testing::Test {
    // 20 GiB each, one after the other on one card.
    static EngineJob half(const std::string& id, std::int64_t peak) {
        return with(a_job(id).gpus(1000).gpu_memory(20480), uses(peak));
    }
};

TEST_F(Prediction, a_card_that_would_pass_the_watermark_takes_no_more_and_says_so) {
    Engine engine;
    engine.apply(NodeSet{make_node("n1", 1)});
    ASSERT_EQ(start(engine, half("a", 20480)), "n1");
    const auto would = engine.would_place(half("b", 18570), noon);
    EXPECT_TRUE(would->candidates.empty());
    ASSERT_FALSE(would->rejections.empty());
    EXPECT_EQ(would->rejections[0].filter, "predicted_use");
    EXPECT_EQ(start(engine, half("b", 18570)), "");
    const auto why = *engine.why("b", noon, {.nodes = true});
    EXPECT_EQ(why.binding, "predicted_use");
    EXPECT_EQ(why.summary,
              "Would fit, but card 0 of n1 would reach 38.1 of 40 GiB, the watermark is 36 GiB.");
    ASSERT_EQ(why.nodes.size(), 1u);
    EXPECT_EQ(why.nodes[0].filter, "predicted_use");
    engine.apply(JobRemoved{"a"});
    EXPECT_EQ(node_of(engine, engine.pass(noon), "b"), "n1");
}

TEST_F(Prediction, up_to_the_watermark_all_is_well_and_it_can_be_switched_off) {
    Engine engine;
    engine.apply(NodeSet{make_node("n1", 1)});
    ASSERT_EQ(start(engine, half("a", 20480)), "n1");
    EXPECT_EQ(start(engine, half("b", 36864 - 20480)), "n1");

    Settings off;
    off.enable_prediction = false;
    Engine unforeseen(off);
    unforeseen.apply(NodeSet{make_node("n1", 1)});
    ASSERT_EQ(start(unforeseen, half("a", 20480)), "n1");
    EXPECT_EQ(start(unforeseen, half("b", 20480)), "n1");
}

TEST_F(Prediction, is_silent_where_nothing_is_known_and_the_card_holds_what_is_declared) {
    Engine engine;
    engine.apply(NodeSet{make_node("n1", 2)});
    ASSERT_EQ(start(engine, half("elsewhere", 20480)), "n1");
    ASSERT_EQ(start(engine, a_job("a").gpus(1000).gpu_memory(25600)), "n1") << "does not fit beside it";
    EXPECT_EQ(start(engine, a_job("b").gpus(1000).gpu_memory(15360)), "n1")
        << "fills the second card, of which nothing is known";
}

TEST_F(Prediction, another_card_of_the_node_or_the_next_candidate_is_taken) {
    Engine engine;
    engine.apply(QueueSet{{.name = "training", .policy = Policy::best_fit}});
    engine.apply(NodeSet{make_node("n1", 2)});
    engine.apply(NodeSet{make_node("n2", 2)});
    ASSERT_EQ(start(engine, half("a", 30000)), "n1");
    engine.apply(JobAdded{half("b", 30000)});
    auto plan = engine.pass(noon);
    ASSERT_EQ(node_of(engine, plan, "b"), "n1") << "the card beside";
    EXPECT_EQ(allocation_of(engine, plan, "b")->gpus[0].index, 1);
    engine.apply(JobAdded{half("c", 30000)});
    plan = engine.pass(noon);
    ASSERT_EQ(node_of(engine, plan, "c"), "n2");
    const auto words = engine.words(plan.placements[0].trace);
    EXPECT_EQ(words.candidates[0].node, "n2") << "the winner comes first";
    ASSERT_FALSE(words.rejections.empty());
    EXPECT_EQ(words.rejections[0].filter, "predicted_use");
    EXPECT_EQ(words.rejections[0].first_node, "n1");
}

TEST_F(Prediction, a_job_alone_on_its_card_starts_whatever_its_profile) {
    Engine engine;
    engine.apply(NodeSet{make_node("n1", 1)});
    EXPECT_EQ(start(engine, with(a_slice("a"), uses(50000))), "n1");
    engine.apply(NodeSet{make_node("n2", 1)});
    EXPECT_EQ(start(engine, with(a_job("whole").gpus(1000), uses(40960))), "n2");
}

TEST_F(Prediction, a_gang_counts_what_its_own_tasks_will_use) {
    Engine engine(overcommitting());
    engine.apply(NodeSet{make_node("n1", 2)});
    engine.apply(JobAdded{with(a_slice("gang").tasks(8), uses(9000))});
    const auto plan = engine.pass(noon);
    ASSERT_EQ(plan.placements.size(), 1u);
    std::map<std::int64_t, int> tasks;
    for (const auto& [task, allocation] : engine.allocations(plan.placements[0]))
        ++tasks[allocation.gpus[0].index];
    EXPECT_EQ(tasks[0], 4) << "a fifth would overcommit the card and pass the watermark";
    EXPECT_EQ(tasks[1], 4);
}

TEST_F(Prediction, tasks_that_have_run_for_the_window_count_by_their_live_use) {
    Engine engine(overcommitting());
    engine.apply(NodeSet{make_node("n1", 1)});
    EXPECT_EQ(started(engine, 5, "training"), 4) << "nothing is known of them: they count what they hold";
    const auto early = noon + Millis{14 * 60'000}, late = noon + Millis{15 * 60'000};
    engine.apply(LoadSampled{"n1", sample_of(10240, early)});
    EXPECT_EQ(node_of(engine, engine.pass(early), "training4"), "");
    engine.apply(LoadSampled{"n1", sample_of(10240, late)});
    EXPECT_EQ(node_of(engine, engine.pass(late), "training4"), "n1");
}

TEST_F(Prediction, real_use_above_what_is_predicted_counts) {
    Engine engine;
    engine.apply(NodeSet{make_node("n1", 1)});
    ASSERT_EQ(start(engine, half("a", 1024)), "n1");
    engine.apply(LoadSampled{"n1", sample_of(30 * 1024)});
    EXPECT_EQ(start(engine, half("b", 8 * 1024)), "");
    engine.apply(LoadSampled{"n1", sample_of(20 * 1024)});
    ASSERT_TRUE(engine.wake_at());
    EXPECT_EQ(node_of(engine, engine.pass(*engine.wake_at()), "b"), "n1");
}

TEST_F(Prediction, memory_traffic_of_the_node_counts) {
    Engine engine;
    engine.apply(NodeSet{make_node("n1", 2)});
    const Profile heavy{.memory_bandwidth = BytesPerSecond(130'000'000'000)};
    ASSERT_EQ(start(engine, with(a_slice("a"), heavy)), "n1");
    EXPECT_EQ(start(engine, with(a_slice("b"), heavy)), "");
    EXPECT_EQ(
        engine.why("b", noon)->summary,
        "Would fit, but memory traffic of n1 would reach 260 GB/s of 280 GB/s, the watermark is 252 GB/s.");
    EXPECT_EQ(start(engine, a_slice("c")), "n1") << "a job of another profile is not held up";
}

TEST_F(Prediction, nobody_is_stopped_for_what_is_only_foreseen) {
    Engine engine;
    engine.apply(NodeSet{make_node("n1", 1)});
    EngineJob low = half("low", 30000);
    low.priority = 100;
    low.preemptible = true;
    ASSERT_EQ(start(engine, low), "n1");
    EngineJob high = half("high", 18000);
    high.priority = 900;
    engine.apply(JobAdded{high});
    const auto plan = engine.pass(noon);
    EXPECT_TRUE(plan.placements.empty());
    EXPECT_TRUE(plan.preemptions.empty());
    EXPECT_TRUE(engine.would_preempt("high", noon).empty());
    EXPECT_EQ(engine.why("high", noon)->binding, "predicted_use");
}

TEST_F(Prediction, many_nodes_on_their_way_above_hold_nobody_up_while_others_are_idle) {
    Engine engine(overcommitting());
    engine.apply(QueueSet{{.name = "training", .policy = Policy::best_fit}});
    for (int n = 0; n < 20; ++n) engine.apply(NodeSet{make_node("n" + std::to_string(10 + n), 1)});
    EXPECT_EQ(started(engine, 80, "training"), 80) << "full cards fit best, and take no more";
    EXPECT_EQ(start(engine, a_slice("last")), "");
    EXPECT_FALSE(engine.wake_at()) << "no sample will come";
    EXPECT_NE(engine.why("last", noon)->summary.find("; 19 other candidates likewise."), std::string::npos);
}

// Whatever comes and goes: what the tasks of an overcommitted card, and of one that somebody's profile tells
// of, will use together stays below the watermark. And a job waits only while each card would pass it, or is
// full.
TEST_F(Prediction, no_cards_predicted_use_passes_the_watermark_and_nobody_waits_for_less) {
    constexpr std::int64_t memory = 40960, limit = 49152;
    std::int64_t overcommitted = 0, waited = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        SeededRng rng(seed * 6364136223846793005ULL);
        Engine engine(overcommitting());
        const Policy policies[] = {Policy::price, Policy::best_fit, Policy::spread, Policy::binpack,
                                   Policy::fragmentation};
        engine.apply(QueueSet{{.name = "training", .policy = policies[seed % 5]}});
        struct Held {
            std::string job;
            std::int64_t declared = 0, peak = 0;
            bool known = false;
        };
        std::map<std::pair<std::string, std::int64_t>, std::vector<Held>> cards;
        const auto nodes = 1 + rng.below(9);
        for (std::uint64_t n = 0; n < nodes; ++n) {
            const auto node = make_node("n" + std::to_string(n), 1 + static_cast<int>(rng.below(3)));
            engine.apply(NodeSet{node});
            for (const auto& gpu : node.gpus) cards[{node.name, gpu.index}];
        }
        const auto held_by = [](const EngineJob& job) {
            const auto declared = (job.spec->resources.gpu.memory.value + 1279) / 1280 * 1280;
            return Held{job.id, declared, job.profile ? job.profile->gpu_memory->value : declared,
                        job.profile != nullptr};
        };
        const auto declared_on = [](const std::vector<Held>& card) {
            std::int64_t sum = 0;
            for (const auto& each : card) sum += each.declared;
            return sum;
        };
        const auto stays_below = [&](const std::vector<Held>& card) {
            std::int64_t peak = 0;
            bool known = false;
            std::set<std::string> jobs;
            for (const auto& each : card) peak += each.peak, known |= each.known, jobs.insert(each.job);
            const bool asked = declared_on(card) > memory || (jobs.size() > 1 && known);
            return !asked || peak * 10 <= memory * 9;
        };
        const auto takes = [&](std::vector<Held> card, const Held& one) {
            std::int64_t weights = one.declared * 1000 / limit;
            for (const auto& each : card) weights += each.declared * 1000 / limit;
            card.push_back(one);
            return declared_on(card) <= limit && weights <= 1000 && card.size() <= 8 && stays_below(card);
        };
        std::map<std::string, EngineJob> running, waiting;
        for (int step = 0; step < 120; ++step) {
            const std::string id = "j" + std::to_string(step);
            auto maker =
                a_job(id).gpus(1000).gpu_memory(1024 * (1 + static_cast<std::int64_t>(rng.below(20))));
            if (rng.below(5) == 0) maker.tasks(2 + static_cast<std::int64_t>(rng.below(3)));
            EngineJob job = maker;
            const auto asked = job.spec->resources.gpu.memory.value;
            if (rng.below(3) > 0)
                job = with(job, uses(asked * static_cast<std::int64_t>(2 + rng.below(10)) / 10));
            engine.apply(JobAdded{job});
            waiting[id] = job;
            for (const auto& placement : engine.pass(noon).placements) {
                running[placement.job] = waiting.at(placement.job);
                waiting.erase(placement.job);
                for (const auto& [task, allocation] : engine.allocations(placement))
                    for (const auto& slice : allocation.gpus)
                        cards.at({allocation.node, slice.index})
                            .push_back(held_by(running.at(placement.job)));
            }
            for (const auto& [card, held] : cards) {
                ASSERT_LE(declared_on(held), limit);
                ASSERT_TRUE(stays_below(held))
                    << "seed " << seed << " step " << step << " card " << card.second << " of " << card.first;
                overcommitted += declared_on(held) > memory;
                for (const auto& [name, one] : waiting) {
                    if (one.spec->tasks > 1) continue;
                    ASSERT_FALSE(takes(held, held_by(one)))
                        << "seed " << seed << " step " << step << ": " << name << " would go to card "
                        << card.second << " of " << card.first
                        << "; the engine says: " << engine.why(name, noon)->summary;
                }
            }
            if (rng.below(3) == 0 && !running.empty()) {
                auto it = running.begin();
                std::advance(it, static_cast<std::ptrdiff_t>(rng.below(running.size())));
                for (auto& [card, held] : cards)
                    std::erase_if(held, [&](const Held& h) { return h.job == it->first; });
                engine.apply(JobRemoved{it->first});
                running.erase(it);
            }
        }
        for (const auto& [id, job] : waiting) waited += engine.why(id, noon)->binding == "predicted_use";
    }
    EXPECT_GT(overcommitted, 100) << "cards are overcommitted";
    EXPECT_GT(waited, 10);
}

}  // namespace
}  // namespace crater::engine
