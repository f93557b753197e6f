#include <gmock/gmock.h>

#include "kit_test.h"
#include "start_shim.h"

namespace crater::run::testing {
namespace {

using ::testing::HasSubstr;

using Adopt = RuntimeTest;

TEST_F(Adopt, a_running_task_outlives_its_agent_and_is_found) {
    auto launch = shell("echo up; while [ ! -e go ]; do sleep 0.01; done; exit 7");
    launch.env = {{"CRATER_DATASET_PATH", "/data"}};
    launch.tenant = "research/vision";
    launch.allocation.cpu = MilliCpu(500);
    in_doomed_child([&] {
        open();
        start(launch);
        log_has(launch.id, "up");
    });
    open();
    const auto found = adopted(launch.id);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->last.state, State::running);
    EXPECT_EQ(found->launch.spec.command, launch.spec.command);
    EXPECT_EQ(found->launch.env, launch.env);
    EXPECT_EQ(found->launch.tenant, launch.tenant);
    EXPECT_EQ(found->launch.allocation.cpu, launch.allocation.cpu);
    std::ofstream(folder(launch.id) + "/work/go") << "";
    const auto end = end_of(launch.id);
    EXPECT_EQ(end.exit_code, 7);
    EXPECT_EQ(end.reason, Reason::exit_nonzero);
}

TEST_F(Adopt, an_exit_meanwhile_is_reported) {
    const auto launch = shell("echo up; while [ ! -e go ]; do sleep 0.01; done; exit 5");
    in_doomed_child([&] {
        open();
        start(launch);
        log_has(launch.id, "up");
    });
    std::ofstream(folder(launch.id) + "/work/go") << "";
    ASSERT_TRUE(appears(folder(launch.id) + "/exit"));
    open();
    const auto found = adopted(launch.id);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->last.state, State::failed);
    EXPECT_EQ(found->last.exit_code, 5);
    loop_.step();
    EXPECT_EQ(events_.size(), 1U) << "told twice";
    open();
    EXPECT_TRUE(adopted(launch.id)) << "an exit is kept until it is settled";
    runtime_->settle(launch.id);
    open();
    EXPECT_FALSE(adopted(launch.id));
}

TEST_F(Adopt, what_ended_tasks_left_can_be_dropped_once_the_exit_is_settled) {
    open();
    const auto launch = shell("echo kept > $CRATER_CHECKPOINT_PATH/state; exit 0");
    start(launch);
    end_of(launch.id);
    EXPECT_TRUE(runtime_->kept().empty()) << "nobody knows of its end yet";
    EXPECT_TRUE(runtime_->job_folders().empty());
    runtime_->drop({JobFolder::Kind::checkpoints, launch.id.job, {}});
    EXPECT_TRUE(std::filesystem::exists(options_.data + "/checkpoints/" + launch.id.job + "/state"));
    runtime_->settle(launch.id);
    open();  // and by the agent of the next start
    adopted(launch.id);
    const auto kept = runtime_->kept();
    ASSERT_EQ(kept.size(), 1U);
    EXPECT_EQ(kept[0].id, launch.id);
    EXPECT_TRUE(kept[0].ended);
    const auto folders = runtime_->job_folders();
    ASSERT_EQ(folders.size(), 2U);
    for (const auto& one : folders) {
        EXPECT_TRUE(one.used);
        runtime_->drop(one);
    }
    EXPECT_FALSE(std::filesystem::exists(options_.data + "/checkpoints/" + launch.id.job));
    EXPECT_FALSE(std::filesystem::exists(options_.data + "/output/" + launch.id.job));
    EXPECT_TRUE(std::filesystem::exists(folder(launch.id)));
    runtime_->forget(launch.id);
    EXPECT_FALSE(std::filesystem::exists(folder(launch.id)));
    EXPECT_FALSE(std::filesystem::exists(options_.data + "/logs/" + launch.id.text() + ".log"));
    EXPECT_GT(runtime_->space().total.value, 0);
}

TEST_F(Adopt, a_stop_ordered_before_the_crash_keeps_its_outcome) {
    const auto launch = shell("echo up; sleep 600");
    in_doomed_child([&] {
        open();
        start(launch);
        log_has(launch.id, "up");
        runtime_->stop(launch.id, Millis(60'000), State::preempted, Reason::preempted_for, "for job-2");
    });
    ASSERT_TRUE(appears(folder(launch.id) + "/exit"));
    open();
    const auto found = adopted(launch.id);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->last.state, State::preempted);
    EXPECT_EQ(found->last.detail, "for job-2");
}

TEST_F(Adopt, the_time_limit_holds_without_an_agent) {
    auto launch = shell("echo up; sleep 600");
    launch.spec.time_limit = Millis(100);
    in_doomed_child([&] {
        open();
        start(launch);
    });
    open();
    adopted(launch.id);
    EXPECT_EQ(end_of(launch.id).reason, Reason::time_limit);
}

TEST_F(Adopt, a_killed_shim_takes_its_task_along) {
    open();
    const auto launch = shell("exec 9>lock; flock 9; echo up; (setsid sleep 600 &); sleep 600");
    start(launch);
    ASSERT_TRUE(log_has(launch.id, "up"));
    ASSERT_EQ(::kill(look_at_lock(folder(launch.id)).pid, SIGKILL), 0);
    const auto end = end_of(launch.id);
    EXPECT_EQ(end.state, State::failed);
    EXPECT_EQ(end.reason, Reason::killed_by_signal);
    EXPECT_THAT(end.detail, HasSubstr("shim"));
    EXPECT_TRUE(loop_.until(
        [&] { return std::system(("flock -n " + folder(launch.id) + "/work/lock true").c_str()) == 0; }));
    open();
    const auto found = adopted(launch.id);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->last.reason, Reason::killed_by_signal);
}

TEST_F(Adopt, a_shutdown_of_the_node_is_the_cause) {
    open();
    const auto launch = shell("echo up; sleep 600");
    start(launch);
    ASSERT_TRUE(log_has(launch.id, "up"));
    ASSERT_EQ(::kill(look_at_lock(folder(launch.id)).pid, SIGTERM), 0);
    EXPECT_EQ(end_of(launch.id).reason, Reason::node_lost);
}

TEST_F(Adopt, a_task_is_no_child_and_in_no_group_of_its_starter) {
    open();
    const auto launch = shell("echo up; sleep 600");
    start(launch);
    ASSERT_TRUE(log_has(launch.id, "up"));
    const auto stat =
        read_text("/proc/" + std::to_string(look_at_lock(folder(launch.id)).pid) + "/stat").value_or("");
    std::istringstream in(stat.substr(stat.rfind(')') + 1));
    std::string state;
    pid_t parent = 0, group = 0, session = 0;
    in >> state >> parent >> group >> session;
    EXPECT_NE(parent, ::getpid());
    EXPECT_NE(group, ::getpgrp());
    EXPECT_NE(session, ::getsid(0));
}

// What a crash may leave of a start, one after the other; in each state the task runs exactly once.
class Torn : public RuntimeTest {
  protected:
    void SetUp() override {
        RuntimeTest::SetUp();
        open();
        launch_ = shell("echo ran");
        EXPECT_TRUE(make_folder(folder(launch_.id)));
        launch_text_ = format_launch(launch_, boot_id());
    }
    void leave(const std::string& file, const std::string& text) {
        std::ofstream(folder(launch_.id) + "/" + file) << text;
    }
    void expect_one_run() {
        open();
        const auto found = adopted(launch_.id);
        if (!found) start(launch_);
        EXPECT_EQ(end_of(launch_.id).reason, Reason::exit_zero);
        EXPECT_EQ(log_of(launch_.id), "ran\n");
    }
    Launch launch_;
    std::string launch_text_;
};

TEST_F(Torn, an_empty_folder) { expect_one_run(); }
TEST_F(Torn, half_a_launch) {
    leave("launch.json.new", launch_text_.substr(0, 20));
    expect_one_run();
}
TEST_F(Torn, a_torn_launch) {
    leave("launch.json", launch_text_.substr(0, launch_text_.size() / 2));
    expect_one_run();
}
TEST_F(Torn, a_launch_without_a_shim) {
    leave("launch.json", launch_text_);
    expect_one_run();
}
TEST_F(Torn, half_a_shim_launch) {
    leave("launch.json", launch_text_);
    leave("shim.launch", "crater-shim=1");
    leave("shim.launch.new", "crater-shim=1");
    expect_one_run();
}
TEST_F(Torn, a_shim_that_only_made_its_lock) {
    leave("launch.json", launch_text_);
    leave("shim.lock", "");
    expect_one_run();
}
TEST_F(Torn, a_shim_that_was_killed_early_never_runs_again) {
    leave("launch.json", launch_text_);
    leave("shim.lock", "1 1 " + boot_id() + "\n");
    leave("exit.new", "code=0\n");
    open();
    const auto found = adopted(launch_.id);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->last.state, State::failed);
    start(launch_);
    loop_.step();
    EXPECT_EQ(last(launch_.id)->reason, Reason::killed_by_signal);
}
TEST_F(Torn, a_reboot_is_said) {
    leave("launch.json", launch_text_);
    leave("shim.lock", "1 1 another-boot\n");
    open();
    const auto found = adopted(launch_.id);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->last.reason, Reason::node_lost);
    EXPECT_THAT(found->last.detail, HasSubstr("restarted"));
}
TEST_F(Torn, a_reboot_before_the_start_begins_nothing) {
    leave("launch.json", format_launch(launch_, "another-boot"));
    open();
    const auto found = adopted(launch_.id);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->last.reason, Reason::node_lost);
}
TEST_F(Torn, killed_at_any_moment_it_runs_once) {
    remove_tree(folder(launch_.id));
    for (int moment = 0; moment < 25; ++moment) {
        launch_.id.job = "job-" + std::to_string(moment);
        const pid_t child = ::fork();
        if (child == 0) {
            runtime_->start(launch_);
            for (;;) loop_.step();
        }
        const auto end = clock_->ticks_us() + moment * 400;
        while (clock_->ticks_us() < end) {
        }
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        expect_one_run();
    }
}
TEST_F(Torn, two_shims_run_one_task) {
    start(launch_);
    // As after a crash between the spawn and the lock.
    const auto second = spawn_shim(options_.shim, folder(launch_.id));
    EXPECT_TRUE(second);
    EXPECT_EQ(end_of(launch_.id).reason, Reason::exit_zero);
    EXPECT_TRUE(loop_.until([&] { return !look_at_lock(folder(launch_.id)).held; }));
    EXPECT_EQ(log_of(launch_.id), "ran\n");
}

}  // namespace
}  // namespace crater::run::testing
