// What the learning policies learned outlives the engine that learned it.
#include "place/pricing.h"

#include <set>
#include <sstream>

#include "crater/base/clock.h"
#include "testing.h"

namespace crater::engine {
namespace {

using namespace testing;

void add_nodes(Engine& engine, bool backwards) {
    for (int i = 0; i < 12; ++i) {
        const int n = backwards ? 11 - i : i;
        engine.apply(NodeSet{n % 4 == 3 ? make_node("n" + std::to_string(n), 2, 1, 16384, "t4")
                                        : make_node("n" + std::to_string(n), 4)});
    }
}

EngineJob any_job(std::int64_t number, Rng& rng) {
    JobMaker job("j" + std::to_string(number));
    job.at(number).cpu(static_cast<std::int64_t>(1 + rng.below(8)) * 500);
    if (rng.below(8) > 0) job.gpus(static_cast<std::int64_t>(1 + rng.below(10)) * 100);
    return job;
}

// Jobs come, and each leaves again when 25 more have come.
void live(Engine& engine, std::int64_t from, std::int64_t to, std::uint64_t seed,
          std::vector<std::string>* log = nullptr) {
    constexpr std::int64_t stay = 25;
    SeededRng rng(seed);
    for (auto i = from; i < to + stay; ++i) {
        if (i >= from + stay) engine.apply(JobRemoved{"j" + std::to_string(i - stay)});
        if (i >= to) continue;
        engine.apply(JobAdded{any_job(i, rng)});
        const auto plan = engine.pass(noon);
        if (log) log->push_back(node_of(engine, plan, "j" + std::to_string(i)));
    }
}

TEST(Pricing, what_was_learned_goes_on_after_a_restart_in_whatever_order_the_nodes_come_back) {
    Engine first;
    add_nodes(first, false);
    live(first, 0, 700, 5);
    const std::string text = first.learned();
    ASSERT_FALSE(text.empty());

    Engine second;
    add_nodes(second, true);
    second.apply(QueueSet{[] {
        QueueSpec queue;
        queue.name = "training";
        return queue;
    }()});
    second.apply(Remembered{text});
    std::vector<std::string> of_first, of_second;
    live(first, 700, 1400, 9, &of_first);
    live(second, 700, 1400, 9, &of_second);
    EXPECT_EQ(of_first, of_second);
    EXPECT_GT(std::set<std::string>(of_first.begin(), of_first.end()).size(), 1u)
        << "the test must be able to fail";
}

TEST(Pricing, a_text_that_is_damaged_is_as_good_as_none) {
    Engine learned;
    add_nodes(learned, false);
    live(learned, 0, 400, 5);
    const std::string text = learned.learned();
    for (std::size_t cut = 0; cut < text.size(); cut += 1 + text.size() / 200) {
        Engine engine;
        add_nodes(engine, false);
        engine.apply(Remembered{text.substr(0, cut)});
        std::string wrong = text;
        wrong[cut] = wrong[cut] == '7' ? '-' : '7';
        engine.apply(Remembered{wrong});
        live(engine, 0, 5, 1);
    }
}

// Prices found before anything came would be due again at once, for ever.
TEST(Pricing, a_text_whose_counts_cannot_be_is_as_good_as_none) {
    Engine learned;
    add_nodes(learned, false);
    live(learned, 0, 400, 5);
    std::vector<std::string> words;
    const std::string all = learned.learned();
    std::istringstream in(all.substr(0, all.find('\n')));
    for (std::string word; in >> word;) words.push_back(word);
    const auto taken = [&](std::size_t from_end, const std::string& value) {
        std::string text;
        for (std::size_t i = 0; i < words.size(); ++i)
            text += (i + from_end == words.size() ? value : words[i]) + " ";
        Engine engine;
        add_nodes(engine, false);
        QueueSpec queue;
        queue.name = "training";
        engine.apply(QueueSet{queue});
        engine.apply(Remembered{text});
        return engine.learned().starts_with(text + "\n");
    };
    // From the end: no prices of the other policy, version, turnover, departed, arrived, targets_at,
    // priced_at, arrivals, cards.
    EXPECT_TRUE(taken(1, words.back()));
    EXPECT_TRUE(taken(7, words[words.size() - 7]));
    for (const std::size_t count : {std::size_t{7}, std::size_t{8}, std::size_t{9}})
        EXPECT_FALSE(taken(count, "-1000")) << count;
    EXPECT_FALSE(taken(7, "0")) << "there are prices";
    EXPECT_FALSE(taken(7, "1000000")) << "more than arrived";
    EXPECT_FALSE(taken(9, "9000000000000000")) << "cards";
}

TEST(Pricing, a_plan_tells_when_something_worth_storing_was_learned) {
    Engine engine;
    add_nodes(engine, false);
    SeededRng rng(3);
    std::vector<int> told;
    for (int i = 1; i <= 2600; ++i) {
        engine.apply(JobAdded{any_job(i, rng)});
        if (engine.pass(noon).learned) told.push_back(i);
        engine.apply(JobRemoved{"j" + std::to_string(i)});
    }
    EXPECT_EQ(told, (std::vector<int>{25, 50, 100, 200, 400, 800, 1600}))
        << "ever more rarely while as much leaves as comes";
}

TEST(Pricing, a_node_with_cards_of_several_types_is_still_used) {
    Engine engine;
    NodeInventory mixed = make_node("mixed", 2);
    mixed.gpus[1].model = "t4";
    mixed.gpus[1].memory = Mebibytes(16384);
    engine.apply(NodeSet{mixed});
    live(engine, 0, 650, 2);
    engine.apply(JobAdded{a_job("last").gpus(1000).at(9999)});
    EXPECT_EQ(node_of(engine, engine.pass(noon), "last"), "mixed");
}

}  // namespace
}  // namespace crater::engine
