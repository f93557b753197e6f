#include "test_world.h"

namespace crater::scheduler {
namespace {

TEST(Nodes, a_second_agent_of_the_same_name_is_refused_while_the_first_is_heard) {
    TestWorld w;
    w.add_agent("n1");
    FakeAgent second(w.time, test_inventory("n1"));
    second.boot_id = "boot-2";
    second.dial(*w.scheduler, *w.loop);
    w.run();
    EXPECT_FALSE(second.welcomed);
    EXPECT_NE(second.refused, "");
    w.agent("n1").beats = false;
    w.run(seconds(40));
    second.dial(*w.scheduler, *w.loop);
    w.run();
    EXPECT_TRUE(second.welcomed);
}

TEST(Nodes, a_link_that_breaks_for_a_moment_changes_nothing) {
    TestWorld w;
    FakeAgent& a = w.add_agent("n1");
    const std::string id = w.submit(gpu_job());
    a.hang_up();
    w.run(seconds(10));
    EXPECT_EQ(w.state(id), State::running);
    const std::string other = w.submit(gpu_job());
    EXPECT_EQ(w.state(other), State::pending) << "nothing is placed where nothing can be told";
    a.dial(*w.scheduler, *w.loop);
    w.run(seconds(1));
    EXPECT_EQ(w.state(id), State::running);
    EXPECT_EQ(w.state(other), State::running);
    EXPECT_EQ(a.launches.size(), 2u);
}

TEST(Nodes, a_job_waits_for_its_data_and_runs_where_it_comes_to_lie) {
    TestWorld w;
    FakeAgent& a = w.add_agent("n1");
    FakeAgent& b = w.add_agent("n2");
    JobSpec spec = gpu_job();
    spec.datasets = {"imagenet"};
    spec.data_locality = DataLocality::required;
    const std::string id = w.submit(spec);
    ASSERT_FALSE(w.job(id)->notes().empty());
    EXPECT_EQ(
        w.job(id)->notes().back(),
        "it waits until some node has all of its data in its cache: dataset imagenet is cached on no node");
    w.run(seconds(2));
    EXPECT_EQ(w.state(id), State::pending);
    EXPECT_EQ(w.job(id)->status().reason, Reason::waiting_for_data);
    const std::string before = w.submit(gpu_job(4));
    EXPECT_EQ(w.job(before)->row().nodes, std::vector<std::string>{"n1"});

    b.inventory().cache.datasets = {{"imagenet", Bytes(150ll << 30)}};
    b.send_register();
    w.run(seconds(1));
    EXPECT_EQ(w.state(id), State::running);
    EXPECT_EQ(w.job(id)->row().nodes, std::vector<std::string>{"n2"});
    EXPECT_EQ(w.scheduler->read().node("n2")->inventory.cache.datasets.at(0).id, "imagenet");
    w.restart();
    EXPECT_EQ(w.state(id), State::running);
    const std::string next = w.submit(spec);
    EXPECT_EQ(w.job(next)->row().nodes, std::vector<std::string>{"n2"});
    EXPECT_EQ(a.launches.size(), 1u);
}

TEST(Nodes, a_launch_that_was_never_received_is_sent_again_as_the_same_attempt) {
    TestWorld w;
    FakeAgent& a = w.add_agent("n1");
    a.hang_up();  // the scheduler has not noticed yet
    const std::string id = w.submit(gpu_job());
    w.run();
    a.dial(*w.scheduler, *w.loop);
    w.run(seconds(1));
    ASSERT_EQ(a.launches.size(), 1u);
    EXPECT_EQ(a.launches[0].attempt(), 1);
    EXPECT_EQ(w.state(id), State::running);
}

TEST(Nodes, the_jobs_of_a_lost_node_wait_again_and_the_old_attempts_are_ended_when_it_returns) {
    TestWorld w;
    FakeAgent& a = w.add_agent("n1");
    const std::string id = w.submit(gpu_job());
    a.hang_up();
    w.run(seconds(40));
    EXPECT_EQ(w.scheduler->read().node("n1")->node.state, NodeState::lost);
    EXPECT_EQ(w.state(id), State::pending);
    EXPECT_EQ(w.states(id), (std::vector<std::string>{"Pending", "Preparing", "Running", "Lost", "Pending"}));
    EXPECT_EQ(w.scheduler->read().cluster().problems.size(), 1u);
    FakeAgent& b = w.add_agent("n2");
    w.run(seconds(1));
    ASSERT_EQ(b.launches.size(), 1u);
    EXPECT_EQ(b.launches[0].attempt(), 2);
    a.dial(*w.scheduler, *w.loop);
    w.run(seconds(3));
    EXPECT_EQ(a.forgotten, std::vector<std::string>{id + ".0.1"});
    EXPECT_EQ(w.state(id), State::running);
    EXPECT_EQ(w.scheduler->read().node("n1")->node.state, NodeState::up);
    EXPECT_TRUE(w.scheduler->read().cluster().problems.empty());
    // Its cards are offered again.
    const std::string big = w.submit(gpu_job(4));
    EXPECT_EQ(w.job(big)->row().nodes, std::vector<std::string>{"n1"});
}

TEST(Nodes, a_task_that_ran_long_is_waited_for_and_taken_back) {
    TestWorld w;
    FakeAgent& a = w.add_agent("n1");
    const std::string id = w.submit(gpu_job());
    w.run(minutes(11));
    a.hang_up();
    w.run(seconds(60));
    EXPECT_EQ(w.state(id), State::lost);
    a.dial(*w.scheduler, *w.loop);
    w.run(seconds(1));
    EXPECT_EQ(w.state(id), State::running);
    EXPECT_EQ(a.launches.size(), 1u);
    EXPECT_TRUE(a.forgotten.empty());
    a.finish(a.launches[0]);
    w.run();
    EXPECT_EQ(w.state(id), State::finished);
}

TEST(Nodes, an_end_that_nobody_heard_is_told_when_the_node_returns) {
    TestWorld w;
    FakeAgent& a = w.add_agent("n1");
    const std::string id = w.submit(gpu_job());
    w.run(minutes(11));
    a.hang_up();
    w.run(seconds(50));
    EXPECT_EQ(w.state(id), State::lost);
    a.finish(a.launches[0]);
    a.dial(*w.scheduler, *w.loop);
    w.run(seconds(1));
    EXPECT_EQ(w.state(id), State::finished);
    EXPECT_TRUE(a.waiting.empty());
}

TEST(Nodes, a_machine_that_started_anew_has_lost_its_tasks) {
    TestWorld w;
    FakeAgent& a = w.add_agent("n1");
    const std::string id = w.submit(gpu_job());
    a.held.clear();
    a.waiting.clear();
    a.boot_id = "boot-2";
    a.hang_up();
    w.run(seconds(1));
    a.dial(*w.scheduler, *w.loop);
    w.run(seconds(1));
    ASSERT_EQ(a.launches.size(), 2u);
    EXPECT_EQ(a.launches[1].attempt(), 2);
    EXPECT_EQ(w.state(id), State::running);
}

// The next run of an agent numbers its reports anew: what its predecessor said must not take them off its
// list.
TEST(Nodes, an_acknowledgement_goes_to_the_link_that_brought_the_report) {
    TestWorld w;
    FakeAgent& a = w.add_agent("n1");
    a.runs_at_once = false;
    w.submit(gpu_job());
    ASSERT_EQ(a.launches.size(), 1u);
    a.report(a.launches[0], "running", "process_started");
    w.run(Millis(50));
    a.hang_up();
    a.dial(*w.scheduler, *w.loop);
    const std::uint64_t earlier = a.waiting.at(0).number();
    w.run(Millis(50));
    EXPECT_TRUE(a.acknowledged.empty());
    w.run(seconds(1));
    EXPECT_TRUE(a.acknowledged.contains(earlier)) << "it was said again on the new link";
    EXPECT_TRUE(a.waiting.empty());
}

TEST(Nodes, a_cancelled_job_on_a_lost_node_is_over_at_once_and_stopped_later) {
    TestWorld w;
    FakeAgent& a = w.add_agent("n1");
    a.stops_at_once = false;
    const std::string id = w.submit(gpu_job());
    w.run(minutes(11));
    a.hang_up();
    w.run(seconds(40));
    ASSERT_TRUE(w.act(id, Action::cancel));
    EXPECT_EQ(w.state(id), State::cancelled);
    a.dial(*w.scheduler, *w.loop);
    w.run(seconds(2));
    ASSERT_EQ(a.stops.size(), 1u);
    const std::string next = w.submit(gpu_job());
    EXPECT_EQ(w.state(next), State::pending) << "the node still runs what was given up";
    a.report(a.launches[0], "cancelled", "user_cancelled", 143);
    w.run(seconds(2));
    EXPECT_EQ(w.state(next), State::running);
}

TEST(Nodes, tasks_that_ended_on_a_lost_node_ended_when_their_reports_say_whichever_comes_first) {
    TestWorld w;
    FakeAgent& a = w.add_agent("n1");
    JobSpec gang = gpu_job();
    gang.tasks = 2;
    const std::string id = w.submit(gang);
    ASSERT_EQ(a.launches.size(), 2u);
    w.run(minutes(11));
    a.hang_up();
    w.run(seconds(40));
    a.fail(a.launches[1]);  // it is heard first
    a.finish(a.launches[0]);
    const Instant ended = w.time.now();
    w.run(seconds(9));
    a.dial(*w.scheduler, *w.loop);
    w.run(seconds(2));
    EXPECT_EQ(w.state(id), State::failed);
    for (const TaskStatus& task : w.job(id)->status().tasks) EXPECT_EQ(task.ended, ended) << task.index;
}

TEST(Nodes, drain_stops_new_work_and_evict_moves_what_runs) {
    TestWorld w;
    FakeAgent& a = w.add_agent("n1");
    const std::string id = w.submit(gpu_job());
    const auto drain = [&](bool on, bool evict) {
        bool done = false;
        api::ReasonBody body;
        body.evict = evict;
        w.scheduler->drain("n1", on, body, {}, [&](Result<api::NodeRow> r) { done = r.has_value(); });
        w.run();
        EXPECT_TRUE(done);
    };
    drain(true, false);
    EXPECT_EQ(w.state(w.submit(gpu_job())), State::pending);
    EXPECT_EQ(w.state(id), State::running);
    FakeAgent& b = w.add_agent("n2");
    drain(true, true);
    w.run(seconds(1));
    ASSERT_EQ(a.stops.size(), 1u);
    EXPECT_EQ(w.state(id), State::running);
    EXPECT_EQ(w.job(id)->row().nodes, std::vector<std::string>{"n2"});
    EXPECT_EQ(b.launches.size(), 2u);
    EXPECT_EQ(w.job(id)->row().preemptions, 0);
    drain(false, false);
    EXPECT_EQ(w.scheduler->read().node("n1")->node.state, NodeState::up);
}

TEST(Nodes, taints_are_kept_over_a_restart_and_taken_away) {
    TestWorld w;
    w.add_agent("n1");
    const auto taint = [&](Taint what, bool off) {
        std::optional<Result<api::NodeRow>> row;
        w.scheduler->set_taint("n1", what, off, {}, [&](Result<api::NodeRow> r) { row = std::move(r); });
        w.run();
        EXPECT_TRUE(row && *row);
        return (*row)->taints.size();
    };
    const std::string id = w.submit(gpu_job(4));
    EXPECT_EQ(taint({"kind", "old"}, false), 1u);
    EXPECT_EQ(taint({"kind", "new"}, false), 1u) << "one a key";
    EXPECT_EQ(w.state(id), State::running) << "what runs goes on";
    EXPECT_EQ(w.submit_error(gpu_job()).field, "tolerations");
    JobSpec tolerant = gpu_job();
    tolerant.tolerations = {{"kind", "new"}};
    EXPECT_EQ(w.state(w.submit(tolerant)), State::pending) << "full, but it may go there";
    w.restart();
    w.run(seconds(2));
    ASSERT_EQ(w.scheduler->read().node("n1")->node.taints.size(), 1u);
    EXPECT_EQ(w.submit_error(gpu_job()).field, "tolerations");
    EXPECT_EQ(taint({"kind", "other"}, true), 1u);
    EXPECT_EQ(taint({"kind", ""}, true), 0u);
    EXPECT_EQ(w.state(w.submit(gpu_job())), State::pending);
}

TEST(Nodes, maintenance_closes_a_node_in_time_and_opens_it_again) {
    TestWorld w;
    w.add_agent("n1");
    const auto plan = [&](std::optional<Maintenance> window) {
        std::optional<Result<api::NodeRow>> row;
        w.scheduler->plan_maintenance("n1", window, {}, [&](Result<api::NodeRow> r) { row = std::move(r); });
        w.run();
        return row && *row ? Result<void>() : Result<void>(fail(row->error()));
    };
    const Instant start = w.time.now() + seconds(3600), end = start + seconds(1800);
    EXPECT_FALSE(plan(Maintenance{end, start}));
    ASSERT_TRUE(plan(Maintenance{start, end}));
    JobSpec lasting = gpu_job();
    lasting.time_limit = seconds(2 * 3600);
    const std::string late = w.submit(lasting);
    EXPECT_EQ(w.state(late), State::pending);
    lasting.time_limit = seconds(600);
    EXPECT_EQ(w.state(w.submit(lasting)), State::running);
    w.restart();
    w.run(seconds(2));
    EXPECT_EQ(w.state(late), State::pending);
    w.run(seconds(3600));
    EXPECT_EQ(w.scheduler->read().node("n1")->node.state, NodeState::draining);
    EXPECT_NE(w.scheduler->read().node("n1")->node.detail.find("maintenance until"), std::string::npos);
    const std::string next = w.submit(gpu_job());
    EXPECT_EQ(w.state(next), State::pending);
    w.run(seconds(1800));
    EXPECT_EQ(w.scheduler->read().node("n1")->node.state, NodeState::up);
    EXPECT_EQ(w.state(next), State::running);
    EXPECT_EQ(w.state(late), State::running);
    EXPECT_TRUE(w.scheduler->read().node("n1")->node.maintenance.empty());
    ASSERT_TRUE(plan(Maintenance{w.time.now() + seconds(10), w.time.now() + seconds(7200)}));
    ASSERT_TRUE(plan(std::nullopt));
    EXPECT_TRUE(w.scheduler->read().node("n1")->node.maintenance.empty());
}

TEST(Nodes, a_card_that_is_gone_fails_its_tasks_with_that_cause) {
    TestWorld w;
    FakeAgent& a = w.add_agent("n1", 1);
    const std::string id = w.submit(gpu_job());
    a.hang_up();
    w.run(seconds(1));
    a.inventory().gpus.clear();
    a.dial(*w.scheduler, *w.loop);
    w.run(seconds(1));
    EXPECT_EQ(w.state(id), State::failed);
    EXPECT_EQ(w.job(id)->status().reason, Reason::device_lost);
}

// An agent that tells its hardware anew lists what it held then: an order may be on its way to it.
TEST(Nodes, what_a_second_registration_on_a_link_does_not_list_is_still_held) {
    TestWorld w;
    FakeAgent& a = w.add_agent("n1");
    a.stops_at_once = false;
    const std::string id = w.submit(gpu_job());
    ASSERT_TRUE(w.act(id, Action::cancel));
    const auto held = std::exchange(a.held, {});
    a.send_register();
    a.held = held;
    w.run(seconds(1));
    EXPECT_EQ(w.state(id), State::running) << "its end was not heard";
    a.report(a.launches[0], "cancelled", "user_cancelled", 143);
    w.run(seconds(1));
    EXPECT_EQ(w.state(id), State::cancelled);
}

TEST(Nodes, a_card_that_was_away_shows_again_who_holds_it) {
    TestWorld w;
    FakeAgent& a = w.add_agent("n1");
    a.stops_at_once = false;
    const std::string id = w.submit(gpu_job());
    const auto all = a.inventory().gpus;
    const std::int64_t held = a.launches.at(0).allocation().gpus(0).index();
    std::erase_if(a.inventory().gpus, [held](const Gpu& gpu) { return gpu.index == held; });
    a.send_register();
    w.run(seconds(1));
    a.inventory().gpus = all;
    a.send_register();
    w.run(seconds(1));
    const auto view = w.scheduler->read().node("n1");
    for (const api::CardView& card : view->node.cards)
        EXPECT_EQ(card.slices.size(), card.index == held ? 1u : 0u) << card.index;
}

TEST(Nodes, tables_are_the_agents_own) {
    TestWorld w;
    w.add_agent("n1");
    w.add_agent("n2");
    const std::string id = w.submit(gpu_job());
    std::optional<Result<Scheduler::Tables>> rows;
    w.scheduler->tables(seconds(1), [&](auto r) { rows = std::move(r); });
    w.run();
    ASSERT_TRUE(rows && *rows);
    ASSERT_EQ((*rows)->rows.size(), 1u);
    EXPECT_EQ((*rows)->rows[0].job, id);
    EXPECT_EQ((*rows)->rows[0].allocation.gpus.size(), 1u);
    EXPECT_EQ((*rows)->differences, std::vector<std::string>{});
    w.agent("n2").hang_up();
    rows.reset();
    w.scheduler->tables(seconds(1), [&](auto r) { rows = std::move(r); });
    w.run(seconds(2));
    ASSERT_TRUE(rows && *rows);
    EXPECT_EQ((*rows)->rows.size(), 1u);
}

}  // namespace
}  // namespace crater::scheduler
