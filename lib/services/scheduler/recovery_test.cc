#include "test_world.h"

namespace crater::scheduler {
namespace {

// A state with something of everything.
void fill(TestWorld& w) {
    w.add_agent("n1");
    w.add_agent("n2", 2);
    FakeAgent& a = w.agent("n1");
    JobSpec odd = gpu_job();
    odd.resources.gpu.count = MilliGpu(500);
    odd.resources.memory.bandwidth = BytesPerSecond(0);
    odd.resources.disk.iops = Iops(12'345);
    odd.resources.disk.iops_stability_ratio = 0.1;
    odd.min_gpu_utilization_percent = 33.3;
    odd.env = {{"TOKEN", "s3cret \"quoted\" \n"}};
    odd.duration = Millis(1'234'567);
    w.submit(odd, {.spec = {},
                   .actor = {"ann", Role::admin, "research/vision"},
                   .idempotency_key = {},
                   .document = {},
                   .task_id = {}});
    w.submit(gpu_job(2));
    w.submit(gpu_job(4));
    const std::string first = w.submit(gpu_job(1));
    JobSpec after = gpu_job();
    after.after_ok = {first};
    w.submit(after);
    JobSpec gang = gpu_job(0);
    gang.tasks = 3;
    gang.resources.gpu = {};
    gang.resources.cpu.cores = MilliCpu(700);
    w.submit(gang);
    w.run(seconds(1));
    // A gang of which one task has ended well.
    for (const auto& launch : a.launches)
        if (launch.env().contains("WORLD_SIZE")) {
            a.finish(launch);
            break;
        }
    a.hang_up();
    w.run(seconds(2));
    bool drained = false;
    w.scheduler->drain("n2", true, {}, {}, [&](auto r) { drained = r.has_value(); });
    Tenant tenant;
    api::QuotaChange quota;
    quota.hard.gpu = MilliGpu(2'000);
    quota.max_pending = 50;
    w.scheduler->set_quota("research", quota, {}, [](auto r) { EXPECT_TRUE(r); });
    w.run(seconds(1));
    EXPECT_TRUE(drained);
}

TEST(Recovery, the_rebuilt_state_has_the_stored_hash_and_the_term_rises) {
    TestWorld w;
    fill(w);
    const auto before = w.scheduler->read().cluster();
    const auto jobs = w.scheduler->read().jobs({}, "id", 100, {});
    const auto term = w.agent("n2").term;
    EXPECT_EQ(term, 1u);
    w.crash();
    w.start();
    const auto after = w.scheduler->read().cluster();
    EXPECT_TRUE(after.state_hash_verified);
    EXPECT_EQ(after.state_hash, before.state_hash);
    EXPECT_EQ(after.revision, before.revision);
    EXPECT_EQ(after.jobs, before.jobs);
    EXPECT_EQ(after.resources.gpu.allocated, before.resources.gpu.allocated);
    EXPECT_EQ(after.resources.cpu.allocated, before.resources.cpu.allocated);
    EXPECT_EQ(after.resources.memory_bytes.allocated, before.resources.memory_bytes.allocated);
    const auto again = w.scheduler->read().jobs({}, "id", 100, {});
    ASSERT_TRUE(jobs && again);
    EXPECT_EQ(codec::write_json(*again), codec::write_json(*jobs));
    w.agent("n2").dial(*w.scheduler, *w.loop);
    w.run(seconds(1));
    EXPECT_EQ(w.agent("n2").term, 2u);
}

TEST(Recovery, a_lost_hash_is_said_and_the_service_goes_on) {
    TestWorld w;
    fill(w);
    w.crash();
    {
        VirtualLoop loop(w.time);
        auto store = store::open_memory(w.disk, loop);
        store->commit({.writes = {{"meta/state_hash", "0123456789abcdef"}}}, {});
        w.run();
    }
    w.start();
    EXPECT_FALSE(w.scheduler->read().cluster().state_hash_verified);
    w.run(seconds(1));
    EXPECT_NE(w.submit(gpu_job()), "");
}

TEST(Recovery, what_ran_goes_on_and_what_waited_starts) {
    TestWorld w;
    FakeAgent& a = w.add_agent("n1");
    const std::string first = w.submit(gpu_job(4)), second = w.submit(gpu_job(4));
    w.restart();
    EXPECT_EQ(w.state(first), State::running);
    EXPECT_EQ(a.launches.size(), 1u);
    a.finish(a.launches[0]);
    w.run(seconds(1));
    EXPECT_EQ(w.state(first), State::finished);
    EXPECT_EQ(w.state(second), State::running);
    EXPECT_EQ(w.states(first), (std::vector<std::string>{"Pending", "Preparing", "Running", "Finished"}));
}

// At every moment of a job's way the scheduler may die: what was acknowledged is there, and nothing starts
// twice.
TEST(Recovery, a_crash_at_any_moment_loses_nothing_acknowledged_and_starts_nothing_twice) {
    for (int after_ms = 0; after_ms < 60; ++after_ms) {
        TestWorld w;
        w.commit_latency = Millis(7);
        w.crash();
        w.start();
        FakeAgent& a = w.add_agent("n1");
        std::optional<Result<Submitted>> answer;
        w.scheduler->submit(
            {.spec = gpu_job(), .actor = {}, .idempotency_key = "once", .document = "d", .task_id = {}},
            [&](Result<Submitted> r) { answer = std::move(r); });
        w.run(Millis(after_ms));
        const bool acknowledged = answer.has_value();
        const std::string id = acknowledged ? (**answer).job->row().id : "";
        w.restart();
        answer.reset();
        w.scheduler->submit(
            {.spec = gpu_job(), .actor = {}, .idempotency_key = "once", .document = "d", .task_id = {}},
            [&](Result<Submitted> r) { answer = std::move(r); });
        w.run(seconds(1));
        ASSERT_TRUE(answer && *answer) << after_ms;
        if (acknowledged) {
            EXPECT_EQ((**answer).job->row().id, id);
            EXPECT_FALSE((**answer).created);
        }
        EXPECT_EQ(w.scheduler->read().jobs({}, "", 10, {})->total, 1) << after_ms;
        ASSERT_EQ(a.launches.size(), 1u) << after_ms;
        EXPECT_EQ(a.launches[0].attempt(), 1) << after_ms;
        EXPECT_EQ(w.state((**answer).job->row().id), State::running) << after_ms;
        EXPECT_TRUE(w.scheduler->read().cluster().state_hash_verified);
    }
}

TEST(Recovery, a_stop_that_was_ordered_is_ordered_again) {
    TestWorld w;
    FakeAgent& a = w.add_agent("n1");
    a.stops_at_once = false;
    const std::string id = w.submit(gpu_job());
    ASSERT_TRUE(w.act(id, Action::cancel));
    a.stops.clear();
    w.restart();
    ASSERT_GE(a.stops.size(), 1u);
    EXPECT_EQ(a.stops[0].outcome(), "Cancelled");
    a.report(a.launches[0], "cancelled", "user_cancelled", 143);
    w.run(seconds(1));
    EXPECT_EQ(w.state(id), State::cancelled);
}

TEST(Recovery, agents_that_do_not_come_back_are_lost_after_the_timeout) {
    TestWorld w;
    w.add_agent("n1");
    const std::string id = w.submit(gpu_job());
    w.crash();
    w.start();
    w.run(seconds(20));
    EXPECT_EQ(w.state(id), State::running);
    w.run(seconds(20));
    EXPECT_EQ(w.scheduler->read().node("n1")->node.state, NodeState::lost);
    EXPECT_EQ(w.state(id), State::pending);
}

TEST(Recovery, a_failed_commit_answers_unavailable_and_ends_the_service) {
    TestWorld w;
    FakeAgent& a = w.add_agent("n1");
    w.disk.fail_next_commits = true;
    EXPECT_EQ(w.submit_error(gpu_job()).code, Code::unavailable);
    EXPECT_TRUE(w.fatal.has_value());
    EXPECT_EQ(w.submit_error(gpu_job()).code, Code::unavailable);
    EXPECT_TRUE(a.launches.empty());
    w.disk.fail_next_commits = false;
    w.restart();
    EXPECT_NE(w.submit(gpu_job()), "");
    EXPECT_EQ(a.launches.size(), 1u);
}

TEST(Recovery, event_numbers_go_on) {
    TestWorld w;
    w.add_agent("n1");
    w.submit(gpu_job());
    const auto last = w.scheduler->events().last();
    EXPECT_GT(last, 0u);
    w.restart();
    EXPECT_GE(w.scheduler->events().last(), last);
    EXPECT_FALSE(w.scheduler->events().after(0).has_value()) << "too long ago: the reader must load again";
    w.submit(gpu_job());
    const auto since = w.scheduler->events().after(last);
    ASSERT_TRUE(since.has_value());
    std::uint64_t expected = last + 1;
    for (const auto& e : *since) EXPECT_EQ(e.sequence, expected++);
}

TEST(Reload, what_can_change_while_it_runs_holds_from_the_next_decision_and_the_rest_is_named) {
    TestWorld w;
    FakeAgent& a = w.add_agent("n1");
    Config changed = w.config;
    changed.scheduling.max_tasks_per_gpu = 1;
    changed.listen = "127.0.0.1:1";
    changed.queues.push_back({.name = "night", .policy = Policy::binpack, .priority = {200}});
    changed.quota_policies["small"].gpu = MilliGpu(1'000);
    changed.heartbeat_interval = Millis(2'000);
    auto reloaded = w.scheduler->reload(changed);
    w.run(seconds(1));
    EXPECT_EQ(reloaded.applied,
              (std::vector<std::string>{"heartbeat_interval", "queues", "quota_policies", "scheduling"}));
    EXPECT_EQ(reloaded.at_restart, std::vector<std::string>{"listen"});
    EXPECT_EQ(a.welcomes, 2) << "agents are told the intervals";

    JobSpec spec = gpu_job(2);
    spec.queue = "night";
    spec.quota_policy = "small";
    EXPECT_EQ(w.submit_error(spec).code, Code::unsatisfiable);
    spec.quota_policy.clear();
    EXPECT_EQ(w.job(w.submit(spec))->row().queue, "night");
    const auto unchanged = w.scheduler->reload(changed);
    EXPECT_TRUE(unchanged.applied.empty());
    EXPECT_EQ(unchanged.at_restart, std::vector<std::string>{"listen"}) << "still to come";

    w.config = changed;
    w.restart();
    EXPECT_TRUE(w.scheduler->read().cluster().state_hash_verified);
    EXPECT_TRUE(w.scheduler->reload(changed).at_restart.empty());
}

}  // namespace
}  // namespace crater::scheduler
