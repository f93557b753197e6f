#include "test_world.h"

namespace crater::scheduler {
namespace {

using Names = std::vector<std::string>;

TEST(Lifecycle, from_submit_to_the_end) {
    TestWorld w;
    FakeAgent& a = w.add_agent("n1");
    const std::string id = w.submit(gpu_job());
    ASSERT_NE(id, "");
    EXPECT_TRUE((*w.submit_answer)->created);
    ASSERT_EQ(a.launches.size(), 1u);
    EXPECT_EQ(a.launches[0].attempt(), 1);
    EXPECT_EQ(w.state(id), State::running);
    EXPECT_EQ(w.job(id)->row().nodes, Names{"n1"});
    EXPECT_EQ(w.scheduler->read().node("n1")->held.size(), 1u);
    EXPECT_EQ(w.scheduler->read().cluster().resources.gpu.allocated, 1);

    a.finish(a.launches[0]);
    w.run(seconds(1));  // acknowledgements take their time
    EXPECT_EQ(w.state(id), State::finished);
    EXPECT_EQ(w.states(id), (Names{"Pending", "Preparing", "Running", "Finished"}));
    EXPECT_EQ(w.job(id)->status().tasks[0].exit_code, 0);
    EXPECT_TRUE(a.waiting.empty()) << "every report is acknowledged";
    EXPECT_EQ(w.scheduler->read().cluster().resources.gpu.allocated, 0);
    EXPECT_TRUE(w.scheduler->read().node("n1")->node.cards[0].slices.empty());
    EXPECT_EQ(w.scheduler->read().cluster().jobs.at("Finished"), 1);
}

TEST(Lifecycle, nothing_is_said_or_started_before_it_is_durable) {
    TestWorld w;
    w.commit_latency = Millis(1'000);
    w.crash();
    w.start();
    w.agents["n1"] = std::make_unique<FakeAgent>(w.time, test_inventory("n1"));
    FakeAgent& a = w.agent("n1");
    a.dial(*w.scheduler, *w.loop);
    w.run(seconds(5));
    ASSERT_TRUE(a.welcomed);

    std::optional<Result<Submitted>> answer;
    w.scheduler->submit(
        {.spec = gpu_job(), .actor = {}, .idempotency_key = {}, .document = "d", .task_id = {}},
        [&](Result<Submitted> r) { answer = std::move(r); });
    w.run(Millis(900));
    EXPECT_FALSE(answer.has_value());
    EXPECT_TRUE(a.launches.empty());
    w.run(Millis(3'000));
    ASSERT_TRUE(answer.has_value() && *answer);
    EXPECT_EQ(a.launches.size(), 1u);

    a.finish(a.launches[0]);
    w.run(Millis(500));
    EXPECT_FALSE(a.waiting.empty()) << "acknowledged only when durable";
    w.run(Millis(3'000));
    EXPECT_TRUE(a.waiting.empty());
}

TEST(Lifecycle, a_repeated_report_changes_nothing) {
    TestWorld w;
    FakeAgent& a = w.add_agent("n1");
    const std::string id = w.submit(gpu_job());
    a.finish(a.launches[0]);
    w.run();
    const auto before = w.scheduler->history({.kind = "job_state", .subject = id})->size();
    proto::TaskReport again;
    again.set_number(77);
    again.set_job(id);
    again.set_attempt(1);
    again.set_state("finished");
    a.send_report(again);
    again.set_number(78);
    again.set_state("running");
    a.send_report(again);
    w.run();
    EXPECT_EQ(w.scheduler->history({.kind = "job_state", .subject = id})->size(), before);
    EXPECT_TRUE(a.acknowledged.contains(77) && a.acknowledged.contains(78));
    EXPECT_TRUE(a.forgotten.empty());
}

TEST(Lifecycle, cancel_stops_with_grace) {
    TestWorld w;
    FakeAgent& a = w.add_agent("n1");
    a.stops_at_once = false;
    const std::string id = w.submit(gpu_job());
    ASSERT_TRUE(w.act(id, Action::cancel));
    EXPECT_EQ(w.state(id), State::running);
    EXPECT_EQ(w.job(id)->status().reason, Reason::user_cancelled);
    ASSERT_EQ(a.stops.size(), 1u);
    EXPECT_EQ(a.stops[0].grace_ms(), 10'000);
    EXPECT_EQ(a.stops[0].outcome(), "Cancelled");
    w.run(seconds(45));
    EXPECT_GE(a.stops.size(), 2u) << "asked again when it does not stop";
    a.report(a.launches[0], "cancelled", "user_cancelled", 143);
    w.run();
    EXPECT_EQ(w.state(id), State::cancelled);
    EXPECT_TRUE(w.act(id, Action::cancel)) << "once more is no error";
    EXPECT_EQ(w.act(id, Action::evict).error().code, Code::conflict);
}

TEST(Lifecycle, cancel_of_a_waiting_job_is_at_once) {
    TestWorld w;
    w.add_agent("n1");
    const std::string first = w.submit(gpu_job(4)), second = w.submit(gpu_job(4));
    EXPECT_EQ(w.state(second), State::pending);
    ASSERT_TRUE(w.act(second, Action::cancel));
    EXPECT_EQ(w.state(second), State::cancelled);
    EXPECT_EQ(w.scheduler->read().queues()[2].waiting, 0);
    EXPECT_EQ(w.state(first), State::running);
}

TEST(Lifecycle, a_failed_task_fails_its_gang_and_stops_the_rest) {
    TestWorld w;
    FakeAgent& a = w.add_agent("n1");
    JobSpec spec = gpu_job();
    spec.tasks = 3;
    const std::string id = w.submit(spec);
    ASSERT_EQ(a.launches.size(), 3u);
    EXPECT_EQ(a.launches[1].env().at("WORLD_SIZE"), "3");
    EXPECT_EQ(a.launches[1].env().at("NODE_RANK"), "1");
    a.fail(a.launches[1]);
    w.run();
    EXPECT_EQ(w.state(id), State::failed);
    EXPECT_EQ(a.stops.size(), 2u);
    EXPECT_TRUE(a.held.empty());
    EXPECT_EQ(w.job(id)->status().tasks[0].state, State::cancelled);
    EXPECT_EQ(w.job(id)->status().tasks[1].exit_code, 3);
    EXPECT_EQ(w.scheduler->read().cluster().resources.gpu.allocated, 0);
}

TEST(Lifecycle, restart_on_failure_takes_the_whole_gang_and_ends_at_its_maximum) {
    TestWorld w;
    FakeAgent& a = w.add_agent("n1");
    JobSpec spec = gpu_job();
    spec.tasks = 2;
    spec.restart = {RestartPolicy::on_failure, 2};
    const std::string id = w.submit(spec);
    for (int attempt = 1; attempt <= 3; ++attempt) {
        ASSERT_EQ(a.launches.size(), static_cast<std::size_t>(2 * attempt));
        EXPECT_EQ(a.launches.back().attempt(), attempt);
        a.fail(a.launches.back());
        w.run();
    }
    EXPECT_EQ(w.state(id), State::failed);
    EXPECT_EQ(w.job(id)->status().restarts, 2);
    EXPECT_EQ(a.launches.size(), 6u);
}

TEST(Lifecycle, a_preempted_job_waits_again_with_its_place_and_starts_its_next_attempt) {
    TestWorld w;
    FakeAgent& a = w.add_agent("n1");
    JobSpec low = gpu_job(4, "low");
    low.preemptible = true;
    low.priority = {100};
    const std::string victim = w.submit(low);
    const Instant submitted = w.job(victim)->row().submitted;
    w.run(minutes(1));
    JobSpec high = gpu_job(4, "high");
    high.priority = {700};
    const std::string preemptor = w.submit(high);
    w.run(seconds(1));
    ASSERT_EQ(a.stops.size(), 1u);
    EXPECT_EQ(a.stops[0].outcome(), "Preempted");
    EXPECT_EQ(w.state(preemptor), State::running);
    EXPECT_EQ(w.state(victim), State::pending);
    EXPECT_EQ(w.states(victim),
              (Names{"Pending", "Preparing", "Running", "Preempting", "Preempted", "Pending"}));
    EXPECT_EQ(w.job(victim)->row().preemptions, 1);
    EXPECT_EQ(w.job(victim)->row().submitted, submitted);
    a.finish(a.launches[1]);
    w.run(seconds(1));
    ASSERT_EQ(a.launches.size(), 3u);
    EXPECT_EQ(a.launches[2].job(), victim);
    EXPECT_EQ(a.launches[2].attempt(), 2);
    EXPECT_EQ(w.state(victim), State::running);
}

TEST(Lifecycle, a_task_that_never_gets_ready_fails_by_the_time_limit_of_preparing) {
    TestWorld w;
    FakeAgent& a = w.add_agent("n1");
    a.runs_at_once = false;
    const std::string id = w.submit(gpu_job());
    w.run(minutes(9));
    EXPECT_EQ(w.state(id), State::preparing);
    w.run(minutes(2));
    EXPECT_EQ(w.state(id), State::failed);
    EXPECT_EQ(w.job(id)->status().reason, Reason::prepare_timeout);
}

// By the scheduler's clock: a node's clock that is off neither shortens nor stretches it.
TEST(Lifecycle, a_node_whose_clock_is_off_does_not_move_the_time_limit) {
    for (const Millis off : {Millis(minutes(-30)), Millis(minutes(30))}) {
        TestWorld w;
        w.add_agent("n1").clock_off = off;
        JobSpec spec = gpu_job();
        spec.time_limit = minutes(5);
        const std::string id = w.submit(spec);
        w.run(minutes(4));
        EXPECT_EQ(w.state(id), State::running);
        w.run(minutes(2));
        EXPECT_EQ(w.state(id), State::failed);
        EXPECT_EQ(w.job(id)->status().reason, Reason::time_limit);
    }
}

// What it used is known by when its run began and ended, whatever becomes of the job afterwards.
TEST(Lifecycle, a_job_that_is_cancelled_while_it_waits_again_keeps_the_end_of_its_last_run) {
    TestWorld w;
    FakeAgent& a = w.add_agent("n1");
    JobSpec spec = gpu_job();
    spec.preemptible = true;
    const std::string id = w.submit(spec);
    w.run(seconds(30));
    api::ReasonBody move;
    move.evict = true;
    w.scheduler->drain("n1", true, move, {}, [](auto) {});
    w.run(seconds(1));
    ASSERT_EQ(w.state(id), State::pending);
    const Instant ended = w.job(id)->status().tasks[0].ended;
    EXPECT_GT(ended, w.job(id)->status().tasks[0].started);
    w.run(minutes(10));
    ASSERT_TRUE(w.act(id, Action::cancel));
    EXPECT_EQ(w.job(id)->status().tasks[0].ended, ended);
    EXPECT_GE(w.job(id)->status().ended, ended + minutes(10));
    EXPECT_EQ(a.stops.size(), 1u);
}

TEST(Lifecycle, the_time_limit_ends_a_run) {
    TestWorld w;
    FakeAgent& a = w.add_agent("n1");
    JobSpec spec = gpu_job();
    spec.time_limit = minutes(5);
    const std::string id = w.submit(spec);
    w.run(minutes(4));
    EXPECT_EQ(w.state(id), State::running);
    w.run(minutes(2));
    EXPECT_EQ(w.state(id), State::failed);
    EXPECT_EQ(w.job(id)->status().reason, Reason::time_limit);
    ASSERT_EQ(a.stops.size(), 1u);
}

TEST(Lifecycle, dependents_start_when_what_they_wait_for_ended_well_and_fail_otherwise) {
    TestWorld w;
    FakeAgent& a = w.add_agent("n1");
    const std::string first = w.submit(gpu_job());
    JobSpec after = gpu_job();
    after.after_ok = {first};
    const std::string second = w.submit(after);
    JobSpec any = gpu_job();
    any.after_any = {second};
    const std::string third = w.submit(any);
    EXPECT_EQ(w.job(second)->status().reason, Reason::waiting_for_dependency);
    EXPECT_EQ(a.launches.size(), 1u);
    a.finish(a.launches[0]);
    w.run(seconds(1));
    EXPECT_EQ(w.state(second), State::running);
    EXPECT_EQ(w.state(third), State::pending);
    JobSpec needs = gpu_job();
    needs.after_ok = {second};
    const std::string fourth = w.submit(needs);
    a.fail(a.launches[1]);
    w.run(seconds(1));
    EXPECT_EQ(w.state(third), State::running);
    EXPECT_EQ(w.state(fourth), State::failed);
    EXPECT_EQ(w.job(fourth)->status().reason, Reason::dependency_failed);
    needs.after_ok = {"job-nowhere"};
    EXPECT_EQ(w.submit_error(needs).field, "after_ok");
}

TEST(Lifecycle, an_evicted_job_can_be_resumed_under_its_id) {
    TestWorld w;
    FakeAgent& a = w.add_agent("n1");
    const std::string id = w.submit(gpu_job());
    ASSERT_TRUE(w.act(id, Action::evict));
    w.run(seconds(1));
    EXPECT_EQ(w.state(id), State::evicted);
    ASSERT_TRUE(w.act(id, Action::resume));
    w.run(seconds(1));
    EXPECT_EQ(w.state(id), State::running);
    EXPECT_EQ(a.launches.back().attempt(), 2);
    EXPECT_EQ(w.act(id, Action::resume).error().code, Code::conflict);
}

TEST(Lifecycle, waiting_longer_than_wanted_is_said_once) {
    TestWorld w;
    w.add_agent("n1");
    w.submit(gpu_job(4));
    JobSpec spec = gpu_job(4);
    spec.max_queue_time = minutes(2);
    const std::string id = w.submit(spec);
    w.run(minutes(10));
    int said = 0;
    const auto events = w.scheduler->events().after(0);
    for (const auto& e : *events) said += e.state == "sla_missed" && e.subject == id;
    EXPECT_EQ(said, 1);
    EXPECT_EQ(w.state(id), State::pending);
}

TEST(Waiting, the_reason_says_what_for_after_the_first_pass_and_holds_after_a_restart) {
    TestWorld w;
    FakeAgent& a = w.add_agent("n1");
    w.submit(gpu_job(4, "holds all cards"));
    const std::string cards = w.submit(gpu_job(2));
    JobSpec gang = gpu_job(3);
    gang.tasks = 2;
    EXPECT_EQ(w.submit_error(gang).code, Code::unsatisfiable);
    JobSpec fat = gpu_job(0);
    fat.type = JobType::batch;
    fat.resources.memory.size = Bytes(60ll << 30);
    w.submit(fat);
    const std::string memory = w.submit(fat);
    api::QuotaChange change;
    change.hard.cpu = MilliCpu(1'000);
    w.scheduler->set_quota("poor", change, {}, [](auto r) { EXPECT_TRUE(r); });
    JobSpec poor = gpu_job(0);
    poor.tenant = "poor";
    w.submit(poor);
    const std::string quota = w.submit(poor);
    EXPECT_EQ(w.job(quota)->status().reason, Reason::submitted) << "not looked at yet";
    w.run(seconds(2));
    const auto holds = [&] {
        for (const auto& [id, reason] : {std::pair{cards, Reason::waiting_for_gpu},
                                         {memory, Reason::waiting_for_memory},
                                         {quota, Reason::waiting_for_quota}}) {
            EXPECT_EQ(name_of(w.job(id)->status().reason), name_of(reason));
            EXPECT_EQ(name_of(w.job(id)->row().reason), name_of(reason));
            EXPECT_EQ(name_of(w.job(id)->status().tasks[0].reason), name_of(reason));
            EXPECT_EQ(w.states(id), (std::vector<std::string>{"Pending"})) << "no step of its history";
        }
    };
    holds();
    w.restart();
    holds();

    a.finish(a.launches[0]);
    w.run(seconds(2));
    EXPECT_EQ(w.state(cards), State::running);
    EXPECT_EQ(name_of(w.job(cards)->status().reason), "process_started");
}

TEST(Waiting, a_gang_whose_tasks_do_not_all_fit_says_so) {
    TestWorld w;
    w.add_agent("n1");
    w.add_agent("n2");
    w.submit(gpu_job(4, "holds a node"));
    JobSpec gang = gpu_job(4);
    gang.tasks = 2;
    const std::string id = w.submit(gang);
    w.run(seconds(2));
    EXPECT_EQ(name_of(w.job(id)->status().reason), "waiting_for_gang");
}

TEST(Waiting, nothing_is_written_while_the_reason_stays) {
    // Commits that five short jobs cause, each with its passes, while so many others wait.
    const auto commits = [](int waiting) {
        TestWorld w;
        w.add_agent("n1");
        w.submit(gpu_job(4));
        for (int i = 0; i < waiting; ++i) w.submit(gpu_job(1, "waits"));
        w.run(seconds(20));
        const auto page = w.scheduler->read().jobs({.name = "waits"}, "submitted", 100, {});
        for (const auto& row : page->items) EXPECT_EQ(name_of(row.reason), "waiting_for_gpu");
        const auto before = w.scheduler->read().cluster().revision;
        JobSpec other = gpu_job(0);
        other.resources.cpu.cores = MilliCpu(100);
        for (int i = 0; i < 5; ++i) {
            w.submit(other);
            w.run(seconds(15));
        }
        return w.scheduler->read().cluster().revision - before;
    };
    EXPECT_EQ(commits(20), commits(0));
}

TEST(Waiting, more_jobs_than_one_round_looks_at_are_all_explained) {
    Config config;
    TestWorld w(config);
    w.add_agent("n1");
    w.submit(gpu_job(4));
    constexpr int jobs = 5'000;
    for (int i = 0; i < jobs; ++i) {
        Submit command{.spec = gpu_job(1 + i % 3, "waits"),
                       .actor = {},
                       .idempotency_key = {},
                       .document = std::to_string(i),
                       .task_id = {}};
        command.spec.queue = i % 2 ? "training" : "offline";
        w.scheduler->submit(std::move(command), [](Result<Submitted> r) { EXPECT_TRUE(r); });
    }
    w.run(seconds(15));
    const auto page = w.scheduler->read().jobs({}, "submitted", 10'000, {});
    int explained = 0;
    for (const auto& row : page->items) explained += row.reason == Reason::waiting_for_gpu;
    EXPECT_EQ(explained, jobs);
}

}  // namespace
}  // namespace crater::scheduler
