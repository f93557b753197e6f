#include "testing.h"

namespace crater::engine {
namespace {

using namespace testing;

class Explain : public ::testing::Test {
  protected:
    Engine engine;
    void add(const EngineJob& job) { engine.apply(JobAdded{job}); }
};

TEST_F(Explain, says_in_one_sentence_what_is_missing_and_who_holds_it) {
    for (const char* name : {"n1", "n2", "n3", "n4"}) engine.apply(NodeSet{make_node(name, 1)});
    engine.apply(NodeSet{make_node("plain", 0, 1)});
    for (int i = 0; i < 4; ++i) add(a_job("h" + std::to_string(i)).gpus(1000).gpu_memory(30720));
    ASSERT_EQ(engine.pass(noon).placements.size(), 4u);
    add(a_job("want").gpus(1000).gpu_memory(16640));
    engine.pass(noon);
    const auto why = engine.why("want", noon, {.nodes = true});
    ASSERT_TRUE(why);
    EXPECT_EQ(
        why->summary,
        "Needs a card with 16640 MiB free; the 4 nodes of its kind have at most 10 GiB free on one card.");
    EXPECT_EQ(why->binding, "gpu_memory");
    EXPECT_EQ(why->rank, 1);
    EXPECT_EQ(why->queue_length, 1);
    ASSERT_EQ(why->holders.size(), 4u);
    EXPECT_EQ(why->holders[0].job, "h0");
    EXPECT_EQ(why->holders[0].holds, "30 GiB on card 0");
    ASSERT_EQ(why->nodes.size(), 5u);
    EXPECT_EQ(why->nodes[0].detail, "needs 16640 MiB on one card, at most 10 GiB free");
    EXPECT_EQ(why->nodes[4].filter, "gpu_cards");
    ASSERT_EQ(why->rejections.size(), 2u);
    EXPECT_EQ(why->rejections[0].nodes, 4);
    bool bar = false;
    for (const auto& requirement : why->requirements)
        if (requirement.binding)
            bar = requirement.needs == 16640 && requirement.best_has == 10240 &&
                  requirement.best_total == 40960;
    EXPECT_TRUE(bar);
}

// A lost node has nothing for anybody; what binds is what the others lack.
TEST_F(Explain, counts_on_no_node_that_takes_no_work) {
    for (const char* name : {"n1", "n2", "n3"}) engine.apply(NodeSet{make_node(name, 4)});
    for (const char* name : {"n2", "n3"}) engine.apply(NodeFlags{.node = name, .lost = true});
    add(a_job("all").gpus(4000));
    ASSERT_EQ(engine.pass(noon).placements.size(), 1u);
    add(a_job("more").gpus(4000));
    engine.pass(noon);
    const auto why = engine.why("more", noon);
    ASSERT_TRUE(why);
    EXPECT_EQ(why->binding, "gpu_count");
    ASSERT_FALSE(why->requirements.empty());
    for (const auto& requirement : why->requirements)
        EXPECT_EQ(requirement.best_node, "n1") << requirement.name;
}

// What was found for its kind before they changed is not what holds now.
TEST_F(Explain, answers_by_the_settings_that_hold_now) {
    for (const char* name : {"n1", "n2"}) engine.apply(NodeSet{make_node(name, 2)});
    const auto ask = [&](double most) {
        Settings settings;
        settings.inference_max_gpu_fraction = most;
        engine.apply(SettingsSet{settings});
        engine.pass(noon);
        return engine.why("want", noon, {.nodes = true});
    };
    add(a_job("want").gpus(1000).gpu_memory(30720).type(JobType::inference).cpu(10'000'000));
    const auto before = ask(0.8), between = ask(0.5), after = ask(0.8);
    ASSERT_TRUE(before && between && after);
    EXPECT_NE(before->summary, between->summary);
    EXPECT_EQ(before->summary, after->summary);
    ASSERT_EQ(before->nodes.size(), 2u);
    EXPECT_EQ(before->nodes[0].filter, "cpu");
    EXPECT_EQ(between->nodes[0].filter, "gpu_inference_part");
}

TEST_F(Explain, says_how_many_are_ahead_of_a_job_that_would_fit) {
    add(a_job("first"));
    add(a_job("second").at(1));
    engine.apply(NodeSet{make_node("n1", 0, 1)});
    EXPECT_EQ(engine.why("second", noon)->summary, "Fits now; 1 job is ahead of it in queue training.");
    EXPECT_EQ(engine.why("second", noon)->binding, "order");
}

TEST_F(Explain, says_where_the_data_is_that_a_job_requires) {
    auto has = make_node("n2", 2);
    has.cache.datasets = {{"imagenet", {}}};
    engine.apply(NodeSet{make_node("n1", 2)});
    engine.apply(NodeSet{has});
    auto job = a_job("a").gpus(2000);
    job.spec.datasets = {"imagenet"}, job.spec.data_locality = DataLocality::required;
    add(job);
    EXPECT_EQ(engine.pass(noon).placements.size(), 1u);
    auto second = job;
    second.job.id = "b";
    add(second);
    engine.pass(noon);
    auto why = engine.why("b", noon, {.nodes = true});
    EXPECT_EQ(why->binding, "gpu_count");
    EXPECT_EQ(
        why->summary,
        "Needs 2 whole cards on one node; the 1 node of its kind has at most 0 free on one. It runs only where its data is: dataset imagenet is cached on 1 node.");
    EXPECT_EQ(why->nodes.at(0).filter, "data_locality");
    EXPECT_EQ(why->nodes.at(0).detail, "does not have dataset imagenet in its cache");
    EXPECT_EQ(why->holders.at(0).job, "a");

    auto third = job;
    third.job.id = "c";
    third.spec.models = {"llama-7b:3"};
    add(third);
    engine.pass(noon);
    why = engine.why("c", noon);
    EXPECT_EQ(why->binding, "data_locality");
    EXPECT_EQ(
        why->summary,
        "n1: does not have dataset imagenet, model llama-7b:3 in its cache; 1 other node likewise. It runs only where its data is: dataset imagenet is cached on 1 "
        "node, model llama-7b:3 on no node; all of it on none.");
}

TEST_F(Explain, unknown_jobs_are_not_found) {
    const auto why = engine.why("nobody", noon);
    ASSERT_FALSE(why);
    EXPECT_EQ(why.error().code, Code::not_found);
}

TEST_F(Explain, would_place_answers_without_changing_anything) {
    engine.apply(NodeSet{make_node("n1", 2)});
    const auto before = engine.state_hash();
    EXPECT_EQ(engine.would_place(a_job("x").gpus(2000), noon)->candidates.size(), 1u);
    EXPECT_TRUE(engine.would_place(a_job("x").gpus(1000).tasks(3), noon)->candidates.empty());
    const auto no = engine.would_place(a_job("x").gpus(3000), noon);
    EXPECT_TRUE(no->candidates.empty());
    EXPECT_EQ(no->rejections.at(0).detail, "needs 3 cards on one node, it has 2");
    EXPECT_EQ(engine.state_hash(), before);
    EXPECT_EQ(engine.books().at(0).tasks, 0);
}

TEST_F(Explain, books_and_the_largest_free_slice_show_what_is_left) {
    engine.apply(NodeSet{make_node("n1", 2)});
    add(a_job("a").gpus(1000).gpu_memory(10240).cpu(2000));
    engine.pass(noon);
    const auto book = engine.book("n1");
    ASSERT_TRUE(book);
    EXPECT_EQ(book->cpu_used.value, 2000);
    EXPECT_EQ(book->cards.at(0).memory_used.value, 10240);
    EXPECT_EQ(book->cards.at(0).memory_total.value, 40960);
    EXPECT_EQ(book->tasks, 1);
    EXPECT_NE(book->hash, 0u);
    const auto free = engine.largest_free();
    ASSERT_EQ(free.size(), 1u);
    EXPECT_EQ(free[0].whole_cards, 1);
    EXPECT_EQ(free[0].largest.value, 40960);
    EXPECT_EQ(free[0].node, "n1");
    EXPECT_FALSE(free[0].simulated);
    EXPECT_FALSE(engine.book("n9"));
}

}  // namespace
}  // namespace crater::engine
