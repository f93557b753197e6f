// Cards above the safety watermark: who makes room, and where it goes.
#include "crater/base/clock.h"
#include "testing.h"

namespace crater::engine {
namespace {

using namespace testing;

Instant later(std::int64_t seconds) { return {noon.ms + seconds * 1000}; }

struct Relief : ::testing::Test {
    Engine engine{[] {
        Settings settings;
        settings.memory_overcommit_ratio = 1.5;
        settings.enable_prediction = false;
        return settings;
    }()};
    void SetUp() override {
        engine.apply(NodeSet{make_node("n1", 1)});
        engine.relieve_cards(noon);
    }
    void start(JobMaker job) {
        engine.apply(JobAdded{job});
        ASSERT_EQ(engine.pass(noon).placements.size(), 1u);
    }
    static JobMaker share(const char* id, int priority) {
        return a_job(id).gpus(1000).gpu_memory(16384).priority(priority).preemptible();
    }
    void use(const std::string& node, std::int64_t mib) {
        NodeSample sample;
        sample.at = noon;
        sample.gpus = {{.index = 0, .memory_used = Mebibytes(mib)}};
        engine.apply(LoadSampled{node, sample});
    }
    std::vector<std::string> told(std::int64_t second) {
        std::vector<std::string> out;
        for (const auto& one : engine.relieve_cards(later(second))) out.push_back(one.victim);
        return out;
    }
    using Names = std::vector<std::string>;
};

TEST_F(Relief, the_lowest_priority_moves_after_the_grace_and_its_place_is_kept) {
    start(share("high", 700));
    start(share("low", 100));
    use("n1", 38'000);
    engine.apply(NodeSet{make_node("n2", 1)});
    EXPECT_EQ(told(1), Names{});
    EXPECT_EQ(told(60), Names{}) << "the grace began when it was first seen";
    const auto moves = engine.relieve_cards(later(61));
    ASSERT_EQ(moves.size(), 1u);
    EXPECT_EQ(moves[0].victim, "low");
    EXPECT_NE(moves[0].detail.find("37.1 of 40 GiB"), std::string::npos) << moves[0].detail;
    EXPECT_NE(moves[0].detail.find("It moves to n2."), std::string::npos) << moves[0].detail;
    EXPECT_EQ(told(200), Names{}) << "it stops already";

    engine.apply(JobAdded{a_job("other").gpus(1000).priority(50)});  // the whole card
    EXPECT_TRUE(engine.pass(later(201)).placements.empty()) << "n2 is kept";
    engine.apply(TaskFreed{"low", 0, later(202)});
    engine.apply(JobRequeued{"low", 1});
    EXPECT_EQ(node_of(engine, engine.pass(later(203)), "low"), "n2");
}

TEST_F(Relief, what_finds_no_place_waits) {
    start(share("high", 700));
    start(share("low", 100));
    use("n1", 38'000);
    told(1);
    const auto stopped = engine.relieve_cards(later(61));
    ASSERT_EQ(stopped.size(), 1u);
    EXPECT_NE(stopped[0].detail.find("it waits"), std::string::npos) << stopped[0].detail;
    engine.apply(TaskFreed{"low", 0, later(70)});
    engine.apply(JobRequeued{"low", 1});
    EXPECT_TRUE(engine.pass(later(71)).placements.empty()) << "the card takes no more";
    use("n1", 20'000);
    EXPECT_EQ(node_of(engine, engine.pass(later(72)), "low"), "n1");
}

TEST_F(Relief, use_that_fell_meanwhile_was_given_back) {
    start(share("high", 700));
    start(share("low", 100));
    use("n1", 38'000);
    told(1);
    use("n1", 30'000);
    told(40);
    use("n1", 38'000);
    EXPECT_EQ(told(61), Names{});
    EXPECT_EQ(told(120), Names{});
    EXPECT_EQ(told(121), Names{"low"});
}

TEST_F(Relief, no_inference_stops_for_training_nor_what_may_not_be_stopped) {
    start(share("service", 100).type(JobType::inference));
    auto fixed = share("fixed", 50);
    fixed.job.preemptible = false;
    start(fixed);
    use("n1", 38'000);
    told(1);
    EXPECT_EQ(told(61), Names{});
    use("n1", 20'000);
    told(62);
    start(share("training", 700));
    use("n1", 38'000);
    told(70);
    EXPECT_EQ(told(130), Names{"training"});
}

TEST_F(Relief, among_inference_jobs_the_lowest_priority_makes_room) {
    start(share("first", 600).type(JobType::inference));
    start(share("second", 500).type(JobType::inference));
    use("n1", 38'000);
    told(1);
    EXPECT_EQ(told(61), Names{"second"});
}

TEST_F(Relief, a_card_that_one_job_has_alone_is_left_to_it) {
    start(share("alone", 100));
    use("n1", 38'000);
    told(1);
    EXPECT_EQ(told(1000), Names{});
}

TEST_F(Relief, a_grace_of_zero_is_for_ever) {
    Settings settings;
    settings.memory_overcommit_ratio = 1.5;
    settings.watermark_grace = Millis(0);
    engine.apply(SettingsSet{settings});
    start(share("high", 700));
    start(share("low", 100));
    use("n1", 38'000);
    told(1);
    EXPECT_EQ(told(100'000), Names{});
}

}  // namespace
}  // namespace crater::engine
