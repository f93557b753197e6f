// What is learned from samples: profiles of tasks, and cards above the watermark.
#include "profiles.h"

#include "test_world.h"

namespace crater::scheduler {
namespace {

FakeAgent& real_agent(TestWorld& w, const std::string& name, int cards = 4) {
    FakeAgent& agent = w.add_agent(name, cards);
    agent.inventory().simulated = false;  // what simulated nodes say teaches nothing
    agent.dial(*w.scheduler, *w.loop);
    w.run();
    return agent;
}

std::string expectation(const TestWorld& w, const std::string& id) {
    for (const std::string& note : w.job(id)->notes())
        if (note.starts_with("a task is expected to use")) return note;
    return {};
}

TEST(Profiles, what_finished_jobs_used_is_expected_of_the_next_like_them) {
    TestWorld w;
    FakeAgent& agent = real_agent(w, "n1");
    EXPECT_EQ(expectation(w, w.submit(gpu_job(2))), "");
    const auto run = [&](double cores, std::int64_t mib, bool well) {
        const auto launch = agent.launches.back();
        agent.use(launch, cores, 3ll << 30, mib);
        agent.use(launch, cores / 2, 1ll << 30, mib / 2);
        w.run();
        if (well)
            agent.finish(launch);
        else
            agent.fail(launch);
        w.run(seconds(1));
    };
    run(2.5, 40'000, true);
    const std::string second = w.submit(gpu_job(2, "of another name"));
    EXPECT_EQ(expectation(w, second),
              "a task is expected to use up to 20224 MiB on a card, 3 cores, 3072 MiB of memory, as one like "
              "it did");
    run(1, 48'000, true);
    JobSpec third = gpu_job(2);
    third.command.argv.push_back("--epochs=3");
    const std::string more = w.submit(third);
    EXPECT_NE(expectation(w, more).find("24064 MiB on a card, 3 cores"), std::string::npos)
        << "the most of each: " << expectation(w, more);
    run(16, 60'000, false);
    EXPECT_EQ(expectation(w, w.submit(third)), expectation(w, more)) << "a job that failed teaches nothing";
    run(1, 1, true);

    JobSpec other = gpu_job(2);
    other.command.argv = {"python3", "evaluate.py"};
    EXPECT_EQ(expectation(w, w.submit(other)), "");
    EXPECT_EQ(expectation(w, w.submit(gpu_job(1))), "") << "another part of the cards";
    w.restart();
    EXPECT_NE(expectation(w, w.submit(third)).find("24064 MiB on a card"), std::string::npos)
        << "it is stored";
}

TEST(Profiles, what_a_job_leaves_open_beside_its_cards_is_filled_from_what_its_kind_used) {
    TestWorld w;
    FakeAgent& agent = real_agent(w, "n1");
    JobSpec open = gpu_job();
    open.resources.cpu.cores = {};
    open.resources.memory.size = {};
    const auto asked = [&](const std::string& id) { return w.job(id)->spec()->resources; };
    for (int run = 0; run < 3; ++run) {
        const std::string id = w.submit(open);
        EXPECT_EQ(asked(id).cpu.cores, MilliCpu(4'000)) << "a card's part of the node, run " << run;
        EXPECT_EQ(asked(id).memory.size, Bytes(16ll << 30));
        agent.use(agent.launches.back(), 1.4, 2ll << 30, 1000);
        w.run();
        agent.finish(agent.launches.back());
        w.run(seconds(1));
    }
    const std::string second = w.submit(open);
    EXPECT_EQ(asked(second).cpu.cores, MilliCpu(2'000));
    EXPECT_EQ(asked(second).memory.size, Bytes(5ll << 29)) << "a quarter more";
    EXPECT_EQ(
        w.job(second)->notes().at(0),
        "cpu.cores set to 2 cores: none were asked for, and the last jobs like it used up to 1.5 cores");
    JobSpec said = open;
    said.resources.cpu.cores = MilliCpu(3'000);
    EXPECT_EQ(asked(w.submit(said)).cpu.cores, MilliCpu(3'000));

    // One that needed more than it was given ends that.
    w.run();
    agent.report(agent.launches.back(), "failed", "out_of_memory");
    w.run(seconds(1));
    EXPECT_EQ(asked(w.submit(open)).memory.size, Bytes(16ll << 30));
}

TEST(Profiles, only_the_last_runs_count_and_old_kinds_are_forgotten) {
    Profiles profiles;
    for (std::int64_t i = 0; i < 20; ++i) {
        profiles.saw("job", 0, {.at = Instant{i}, .cpu_cores = i == 0 ? 100.0 : static_cast<double>(i)}, 0);
        const StoredProfile* known = profiles.ended("job", 7, true, Instant{1000 + i});
        ASSERT_NE(known, nullptr);
        EXPECT_EQ(known->runs, i + 1);
        EXPECT_LE(known->last.size(), Profiles::runs_kept);
    }
    EXPECT_EQ(profiles.of(7)->cpu, MilliCpu(19'000));
    EXPECT_FALSE(profiles.of(7)->gpu_memory) << "it has no cards";
    EXPECT_EQ(profiles.ended("job", 7, true, Instant{2000}), nullptr) << "it was not seen";
    EXPECT_TRUE(profiles.forget(Instant{1019}).empty());
    EXPECT_EQ(profiles.forget(Instant{1020}), std::vector<std::uint64_t>{7});
    EXPECT_EQ(profiles.of(7), nullptr);
}

TEST(Profiles, disk_traffic_is_the_highest_rate_between_two_samples) {
    Profiles profiles;
    for (const auto& [at, bytes] : {std::pair{0, 1e8}, {1000, 3e8}, {3000, 4e8}})
        profiles.saw("job", 0, {.at = Instant{at}, .read_bytes = bytes}, 0);
    ASSERT_NE(profiles.ended("job", 7, true, Instant{1}), nullptr);
    EXPECT_EQ(profiles.of(7)->disk_rate, BytesPerSecond(12 * (16 << 20))) << "200 MB/s, in steps of 16 MiB/s";
}

TEST(Watermark, the_job_of_lowest_priority_leaves_a_card_that_stays_above_it) {
    TestWorld w;
    FakeAgent& agent = real_agent(w, "n1", 1);
    const auto share = [&](int priority) {
        JobSpec spec = gpu_job(1);
        spec.resources.gpu.memory = Mebibytes(16'384);
        spec.priority.value = priority;
        spec.preemptible = true;
        return w.submit(spec, {.spec = {},
                               .actor = {"ann", Role::admin, ""},
                               .idempotency_key = {},
                               .document = {},
                               .task_id = {}});
    };
    const std::string high = share(700), low = share(100);
    const auto node = [&](const std::string& id) { return w.job(id)->status().tasks.at(0).allocation->node; };
    real_agent(w, "n2", 1);
    agent.card_memory[0] = 39'000;
    w.run(seconds(30));
    EXPECT_EQ(node(low), "n1") << "its agent has time to have memory given back";
    w.run(seconds(60));
    EXPECT_EQ(node(high), "n1");
    EXPECT_EQ(w.state(low), State::running);
    EXPECT_EQ(node(low), "n2");
    EXPECT_EQ(w.job(low)->status().preemptions, 1);
    bool said = false;
    const auto rows = w.scheduler->history({.kind = "job_state", .subject = low});
    for (const auto& row : *rows) said |= row.body.find("safety watermark") != std::string::npos;
    EXPECT_TRUE(said);
}

}  // namespace
}  // namespace crater::scheduler
