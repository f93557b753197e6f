// Plans that are only asked about: what they say is what then happens, and asking changes nothing.
#include <map>
#include <set>

#include "crater/base/clock.h"
#include "testing.h"

namespace crater::engine {
namespace {

using namespace testing;

struct PlanWorld {
    Engine engine;
    SeededRng rng;
    std::vector<std::string> running, waiting, nodes;

    explicit PlanWorld(std::uint64_t seed) : rng(seed) {
        add_queue(engine, "training", rng.below(2) ? Policy::best_fit : Policy::price);
        const auto count = 2 + rng.below(4);
        for (std::size_t n = 0; n < count; ++n) {
            nodes.push_back("n" + std::to_string(n));
            engine.apply(NodeSet{make_node(nodes.back(), static_cast<int>(1 + rng.below(4)))});
        }
        for (int i = 0; i < 30; ++i) {
            auto job = a_job("j" + std::to_string(i))
                           .at(i)
                           .cpu(500 + 500 * static_cast<std::int64_t>(rng.below(10)));
            if (rng.below(4))
                job.gpus(rng.below(2) ? 1000 : 100 * static_cast<std::int64_t>(1 + rng.below(9)));
            if (rng.below(6) == 0) job.gpus(1000).tasks(1 + static_cast<std::int64_t>(rng.below(4)));
            job.priority(static_cast<int>(300 + 100 * rng.below(4)));
            if (rng.below(2)) job.preemptible();
            if (rng.below(3) == 0) job.tenant("team/a");
            engine.apply(JobAdded{job});
            waiting.push_back(job.job.id);
            sizes[job.job.id] = job.spec.tasks;
            if (i % 10 == 9) settle();
        }
        settle();
    }
    void settle() {
        while (engine.wants_pass()) {
            const auto plan = engine.pass(noon);
            for (const auto& placement : plan.placements) {
                running.push_back(placement.job);
                std::erase(waiting, placement.job);
            }
            for (const auto& stop : plan.preemptions) {
                for (std::int64_t t = 0; t < sizes.at(stop.victim); ++t)
                    engine.apply(TaskFreed{stop.victim, t});
                engine.apply(JobRequeued{stop.victim, 1});
                std::erase(running, stop.victim);
                waiting.push_back(stop.victim);
            }
        }
    }
    std::map<std::string, std::int64_t> sizes;
    const std::string& any(const std::vector<std::string>& of) { return of[rng.below(of.size())]; }
};

std::string books_text(const Engine& engine) {
    std::string out;
    for (const auto& book : engine.books()) {
        out += book.node + " " + std::to_string(book.cpu_used.value) + " " +
               std::to_string(book.memory_used.value) + " " + std::to_string(book.hash);
        for (const auto& card : book.cards)
            out += " " + std::to_string(card.memory_used.value) + "/" + std::to_string(card.tasks);
        out += "\n";
    }
    const auto usage = engine.usage("team");
    return out + std::to_string(usage.gpu.value) + " " + std::to_string(usage.cpu.value) + " " +
           std::to_string(usage.jobs);
}

TEST(Plans, asking_changes_nothing_in_any_state) {
    int answered = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        PlanWorld asked(seed), left_alone(seed);
        const auto hash = asked.engine.state_hash();
        const auto books = books_text(asked.engine);
        const auto try_plan = [&](const Supposed& plan) {
            const auto answer = asked.engine.what_if(plan, noon);
            EXPECT_EQ(asked.engine.state_hash(), hash) << "seed " << seed;
            EXPECT_EQ(books_text(asked.engine), books) << "seed " << seed;
            EXPECT_FALSE(asked.engine.wants_pass()) << "seed " << seed;
            if (!answer) return;
            ++answered;
            EXPECT_FALSE(answer->summary.empty());
            EXPECT_EQ(std::stoull(answer->state, nullptr, 16), hash);
        };
        const EngineJob fresh = a_job("fresh")
                                    .gpus(1000 * static_cast<std::int64_t>(1 + asked.rng.below(3)))
                                    .priority(700)
                                    .at(99);
        try_plan(SupposeSubmit{&fresh});
        if (!asked.waiting.empty())
            try_plan(SupposePreempt{asked.any(asked.waiting)}),
                try_plan(SupposeDefrag{{asked.any(asked.waiting), 4}});
        if (!asked.running.empty()) try_plan(SupposePreempt{asked.any(asked.running)});
        try_plan(SupposeDrain{asked.any(asked.nodes), false});
        try_plan(SupposeDrain{asked.any(asked.nodes), true});
        try_plan(SupposeLoss{asked.any(asked.nodes)});
        Tenant tenant;
        tenant.path = asked.rng.below(2) ? "team" : "team/a";
        tenant.hard.cpu = MilliCpu(static_cast<std::int64_t>(asked.rng.below(20)) * 1000);
        try_plan(SupposeQuota{tenant});
        try_plan(SupposeDefrag{{{}, 4}});
        // And what it decides afterwards is what it would have decided.
        for (auto* world : {&asked, &left_alone}) {
            world->engine.apply(JobAdded{a_job("later").gpus(500).at(200)});
            world->engine.apply(JobAdded{a_job("latest").priority(900).gpus(1000).at(201)});
        }
        const auto one = asked.engine.pass(noon), other = left_alone.engine.pass(noon);
        ASSERT_EQ(one.placements.size(), other.placements.size());
        for (std::size_t i = 0; i < one.placements.size(); ++i) {
            EXPECT_EQ(one.placements[i].job, other.placements[i].job);
            EXPECT_EQ(node_of(asked.engine, one, one.placements[i].job),
                      node_of(left_alone.engine, other, other.placements[i].job));
        }
        ASSERT_EQ(one.preemptions.size(), other.preemptions.size());
        for (std::size_t i = 0; i < one.preemptions.size(); ++i)
            EXPECT_EQ(one.preemptions[i].victim, other.preemptions[i].victim);
    }
    EXPECT_GT(answered, 400);
}

TEST(Plans, a_submit_goes_where_the_plan_says) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        PlanWorld world(seed);
        const EngineJob job = a_job("fresh").gpus(1000).cpu(1000).priority(900).at(99);
        const auto plan = *world.engine.what_if(SupposeSubmit{&job}, noon);
        world.engine.apply(JobAdded{job});
        const auto done = world.engine.pass(noon);
        ASSERT_FALSE(plan.jobs.empty());
        if (!plan.possible) {
            EXPECT_TRUE(done.placements.empty() && done.preemptions.empty()) << plan.summary;
            ASSERT_TRUE(plan.why);
            EXPECT_FALSE(plan.why->binding.empty());
            continue;
        }
        if (plan.jobs.front().effect == Effect::stops) {
            std::set<std::string> said, did;
            for (const auto& effect : plan.jobs)
                if (effect.effect == Effect::stops) said.insert(effect.job);
            for (const auto& stop : done.preemptions)
                if (stop.preemptor == "fresh") did.insert(stop.victim);
            EXPECT_EQ(said, did);
            continue;
        }
        EXPECT_EQ(plan.jobs.back().effect, Effect::starts);
        EXPECT_EQ(plan.jobs.back().to, std::vector<std::string>{node_of(world.engine, done, "fresh")});
    }
}

TEST(Plans, a_node_that_is_emptied_says_where_each_job_goes) {
    Engine engine;
    for (const char* name : {"n1", "n2"}) engine.apply(NodeSet{make_node(name, 2)});
    for (int i = 0; i < 3; ++i) engine.apply(JobAdded{a_job("j" + std::to_string(i)).gpus(1000).at(i)});
    const auto start = engine.pass(noon);
    const auto emptied = node_of(engine, start, "j0");
    const auto plan = *engine.what_if(SupposeDrain{emptied, true}, noon + std::chrono::minutes(10));
    std::int64_t moves = 0, waits = 0;
    for (const auto& effect : plan.jobs) {
        EXPECT_EQ(effect.from, std::vector<std::string>{emptied});
        EXPECT_EQ(effect.lost_gpu_seconds, 900);
        moves += effect.effect == Effect::moves;
        waits += effect.effect == Effect::waits;
        EXPECT_TRUE(effect.to.empty() || effect.to.front() != emptied);
    }
    EXPECT_EQ(moves, 1);
    EXPECT_EQ(waits, plan.affected - 1);
    EXPECT_EQ(engine.what_if(SupposeLoss{emptied}, noon)->affected, plan.affected);
    EXPECT_TRUE(engine.what_if(SupposeDrain{emptied, false}, noon)->possible);
    const auto unknown = engine.what_if(SupposeDrain{"n3", false}, noon);
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().field, "node");
}

TEST(Plans, a_quota_says_who_would_start_and_who_would_be_held_back) {
    Engine engine;
    engine.apply(NodeSet{make_node("n1", 4)});
    Tenant tenant;
    tenant.path = "team";
    tenant.hard.gpu = MilliGpu(1000);
    engine.apply(TenantSet{tenant});
    for (int i = 0; i < 3; ++i) engine.apply(JobAdded{a_job("j" + std::to_string(i)).gpus(1000).at(i)});
    ASSERT_EQ(engine.pass(noon).placements.size(), 1u);
    tenant.hard.gpu = MilliGpu(2000);
    const auto more = *engine.what_if(SupposeQuota{tenant}, noon);
    EXPECT_EQ(more.affected, 1);
    EXPECT_EQ(more.jobs.at(0).job, "j1");
    EXPECT_EQ(more.jobs.at(0).effect, Effect::starts);
    tenant.hard.gpu = MilliGpu(500);
    const auto less = *engine.what_if(SupposeQuota{tenant}, noon);
    EXPECT_NE(less.summary.find("it is exceeded (1 card held, 0.5 cards allowed)"), std::string::npos)
        << less.summary;
    EXPECT_TRUE(engine.pass(noon).placements.empty());
}

// ---- moving jobs ------------------------------------------------------------------------------------------

TEST(Defrag, moves_one_job_so_that_a_whole_node_is_free) {
    Engine engine;
    for (const char* name : {"n1", "n2"}) engine.apply(NodeSet{make_node(name, 2)});
    add_queue(engine, "spread", Policy::spread);
    for (int i = 0; i < 2; ++i)
        engine.apply(JobAdded{a_job("j" + std::to_string(i)).gpus(1000).queue("spread").preemptible().at(i)});
    const auto spread = engine.pass(noon);
    ASSERT_NE(node_of(engine, spread, "j0"), node_of(engine, spread, "j1"));
    engine.apply(JobAdded{a_job("pair").gpus(2000).at(9)});
    EXPECT_TRUE(engine.pass(noon).placements.empty());
    const auto plan = *engine.what_if(SupposeDefrag{{"pair", 3}}, noon);
    EXPECT_TRUE(plan.possible);
    ASSERT_EQ(plan.jobs.size(), 2u);
    EXPECT_EQ(plan.jobs[0].effect, Effect::moves);
    EXPECT_EQ(plan.lost_gpu_seconds, 300);
    EXPECT_EQ(plan.gained_gpus, 2);

    const auto stops = engine.start_defrag({"pair", 3}, noon);
    ASSERT_EQ(stops.size(), 1u);
    EXPECT_EQ(stops[0].preemptor, "pair");
    const auto moved = stops[0].victim;
    EXPECT_TRUE(engine.pass(noon).placements.empty());
    engine.apply(TaskFreed{moved, 0});
    engine.apply(JobRequeued{moved, 1});
    const auto after = engine.pass(noon);
    EXPECT_EQ(node_of(engine, after, moved), plan.jobs[0].to.at(0));
    EXPECT_EQ(node_of(engine, after, "pair"), plan.jobs[0].from.at(0));
    for (const auto& book : engine.books()) EXPECT_LE(book.cards.at(0).tasks, 1);
}

// What moves keeps its new place against a newcomer that would take it.
TEST(Defrag, a_new_place_is_kept_while_its_job_stops) {
    Engine engine;
    for (const char* name : {"n1", "n2"}) engine.apply(NodeSet{make_node(name, 2)});
    add_queue(engine, "spread", Policy::spread);
    for (int i = 0; i < 2; ++i)
        engine.apply(JobAdded{a_job("j" + std::to_string(i)).gpus(1000).queue("spread").preemptible().at(i)});
    engine.pass(noon);
    engine.apply(JobAdded{a_job("pair").gpus(2000).at(9)});
    engine.pass(noon);
    const auto stops = engine.start_defrag({"pair", 3}, noon);
    ASSERT_EQ(stops.size(), 1u);
    engine.apply(JobAdded{a_job("thief").gpus(1000).at(1)});
    EXPECT_TRUE(engine.pass(noon).placements.empty());
    engine.apply(TaskFreed{stops[0].victim, 0});
    EXPECT_TRUE(engine.pass(noon).placements.empty() || node_of(engine, engine.pass(noon), "thief").empty());
    engine.apply(JobRequeued{stops[0].victim, 1});
    const auto after = engine.pass(noon);
    EXPECT_NE(node_of(engine, after, stops[0].victim), "");
    EXPECT_EQ(node_of(engine, after, "thief"), "");
}

// Who goes before them may take such places; then they are taken, and what moved waits until there is room.
TEST(Defrag, a_new_place_that_somebody_else_took_is_not_given_twice) {
    Engine engine;
    for (const char* name : {"n1", "n2"}) engine.apply(NodeSet{make_node(name, 4)});
    add_queue(engine, "spread", Policy::spread);
    for (int i = 0; i < 4; ++i)  // one above and one below on each node
        engine.apply(JobAdded{a_job("j" + std::to_string(i))
                                  .gpus(1000)
                                  .queue("spread")
                                  .preemptible()
                                  .priority(i < 2 ? 500 : 300)
                                  .at(i)});
    engine.pass(noon);
    engine.apply(JobAdded{a_job("quad").gpus(4000).at(9)});
    engine.pass(noon);
    const auto stops = engine.start_defrag({"quad", 3}, noon);
    ASSERT_EQ(stops.size(), 2u);
    const std::string moved = std::min(stops[0].victim, stops[1].victim);
    for (int i = 0; i < 5; ++i)
        engine.apply(JobAdded{a_job("first" + std::to_string(i)).gpus(1000).priority(900).at(10 + i)});
    engine.pass(noon);
    engine.apply(TaskFreed{moved, 0, noon});
    engine.pass(noon);
    engine.apply(JobRequeued{moved, 1});
    engine.pass(noon);
    for (const auto& book : engine.books()) EXPECT_LE(book.tasks, 4) << book.node;
}

TEST(Defrag, gathers_what_is_free_when_that_is_worth_more_than_the_moves) {
    Engine engine;
    for (const char* name : {"n1", "n2"}) engine.apply(NodeSet{make_node(name, 4)});
    add_queue(engine, "spread", Policy::spread);
    for (int i = 0; i < 2; ++i)
        engine.apply(JobAdded{a_job("j" + std::to_string(i)).gpus(1000).queue("spread").preemptible().at(i)});
    engine.pass(noon);
    // The mix is of work that takes whole nodes.
    for (int i = 0; i < 40; ++i)
        engine.apply(JobAdded{a_job("big" + std::to_string(i)).gpus(4000).at(10 + i)});
    engine.apply(NodeFlags{"n1", false, false});
    const auto plan = *engine.what_if(SupposeDefrag{{{}, 3}}, noon);
    EXPECT_TRUE(plan.possible) << plan.summary;
    EXPECT_GT(plan.gained_gpus, 0);
}

// A second opinion: every set of movable jobs, every way to place them and the job.
struct BruteForce {
    std::vector<int> free;               // cards by node
    std::vector<std::vector<int>> jobs;  // by node: cards of its movable jobs
    int wants = 1;

    static bool pack(std::vector<int>& free, std::vector<int>& items, std::size_t at) {
        if (at == items.size()) return true;
        for (auto& room : free) {
            if (room < items[at]) continue;
            room -= items[at];
            const bool done = pack(free, items, at + 1);
            room += items[at];
            if (done) return true;
        }
        return false;
    }
    int fewest(int most) const {
        std::vector<std::pair<int, int>> all;
        for (std::size_t n = 0; n < jobs.size(); ++n)
            for (const int size : jobs[n]) all.emplace_back(static_cast<int>(n), size);
        for (int moves = 0; moves <= most; ++moves)
            for (std::uint32_t set = 0; set < (1u << all.size()); ++set) {
                if (__builtin_popcount(set) != moves) continue;
                auto room = free;
                std::vector<int> items{wants};
                for (std::size_t i = 0; i < all.size(); ++i)
                    if (set >> i & 1)
                        room[static_cast<std::size_t>(all[i].first)] += all[i].second,
                            items.push_back(all[i].second);
                if (pack(room, items, 0)) return moves;
            }
        return -1;
    }
};

TEST(Defrag, finds_the_fewest_moves_that_any_plan_needs) {
    int planned = 0, impossible = 0;
    for (std::uint64_t seed = 1; seed <= 600; ++seed) {
        SeededRng rng(seed);
        Engine engine;
        BruteForce brute;
        const auto nodes = 3 + rng.below(2);
        int id = 0;
        for (std::size_t n = 0; n < nodes; ++n) {
            const auto name = "n" + std::to_string(n);
            engine.apply(NodeSet{make_node(name, 4)});
            int left = 4;
            brute.jobs.emplace_back();
            while (left > 0 && rng.below(3)) {
                const int size =
                    static_cast<int>(1 + rng.below(static_cast<std::uint64_t>(std::min(left, 2))));
                const bool fixed = rng.below(8) == 0;
                auto job = a_job("j" + std::to_string(id++)).gpus(1000 * size);
                if (!fixed) job.preemptible(), brute.jobs.back().push_back(size);
                // Where it runs is a fact.
                engine.apply(JobAdded{job});
                Allocation slices;
                slices.node = name;
                slices.cpu = MilliCpu(1000), slices.memory = Bytes(gib);
                for (int c = 0; c < size; ++c)
                    slices.gpus.push_back({4 - left + c, "GPU-" + name + "-" + std::to_string(4 - left + c),
                                           MilliGpu(1000), Mebibytes(40960), true, false});
                engine.apply(TaskPlaced{job.job.id, 0, slices, noon});
                left -= size;
            }
            brute.free.push_back(left);
        }
        brute.wants = static_cast<int>(3 + rng.below(2));
        engine.apply(JobAdded{a_job("want").gpus(1000 * brute.wants).at(99)});
        const int fewest = brute.fewest(4);
        if (fewest == 0) continue;
        const auto plan = *engine.what_if(SupposeDefrag{{"want", 4}}, noon);
        if (fewest < 0) {
            ++impossible;
            EXPECT_FALSE(plan.possible) << "seed " << seed << ": " << plan.summary;
            continue;
        }
        ++planned;
        EXPECT_EQ(plan.affected - 1, fewest) << "seed " << seed << ": " << plan.summary;
    }
    EXPECT_GT(planned, 40);
    EXPECT_GT(impossible, 10);
}

}  // namespace
}  // namespace crater::engine
