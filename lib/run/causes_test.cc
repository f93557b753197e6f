#include <gmock/gmock.h>

#include "kit_test.h"

namespace crater::run::testing {
namespace {

using ::testing::HasSubstr;

class Causes : public RuntimeTest {
  protected:
    void SetUp() override {
        RuntimeTest::SetUp();
        open();
    }
};

TEST_F(Causes, exit_zero_finishes) {
    const auto end = run(shell("echo hello; exit 0"));
    EXPECT_EQ(end.state, State::finished);
    EXPECT_EQ(end.reason, Reason::exit_zero);
    EXPECT_EQ(end.exit_code, 0);
    EXPECT_EQ(log_of(end.id), "hello\n");
    ASSERT_GE(events_.size(), 3U);
    EXPECT_EQ(events_[0].state, State::preparing);
    EXPECT_EQ(events_[1].state, State::running);
}

TEST_F(Causes, another_exit_code_fails_with_it) {
    const auto end = run(shell("exit 3"));
    EXPECT_EQ(end.state, State::failed);
    EXPECT_EQ(end.reason, Reason::exit_nonzero);
    EXPECT_EQ(end.exit_code, 3);
    EXPECT_EQ(end.detail, "exit code 3");
}

TEST_F(Causes, a_signal_is_named) {
    const auto end = run(shell("kill -SEGV $$"));
    EXPECT_EQ(end.reason, Reason::killed_by_signal);
    EXPECT_EQ(end.exit_code, 128 + 11);
    EXPECT_EQ(end.detail, "SIGSEGV");
}

TEST_F(Causes, a_command_that_is_not_there_is_said) {
    auto launch = shell("");
    launch.spec.command.argv = {"no-such-program"};
    const auto end = run(launch);
    EXPECT_EQ(end.reason, Reason::start_failed);
    EXPECT_EQ(end.exit_code, 127);
    EXPECT_THAT(end.detail, HasSubstr("command not found: no-such-program"));
}

TEST_F(Causes, a_file_that_is_no_program_is_said) {
    std::ofstream(base_ + "/notes") << "text";
    auto launch = shell("");
    launch.spec.command.argv = {base_ + "/notes"};
    const auto end = run(launch);
    EXPECT_EQ(end.reason, Reason::start_failed);
    EXPECT_EQ(end.exit_code, 126);
    EXPECT_THAT(end.detail, HasSubstr(base_ + "/notes"));
}

TEST_F(Causes, a_missing_interpreter_is_said) {
    std::ofstream(base_ + "/script") << "#!/no/such/interpreter\n";
    std::filesystem::permissions(base_ + "/script", std::filesystem::perms(0755));
    auto launch = shell("");
    launch.spec.command.argv = {base_ + "/script"};
    EXPECT_THAT(run(launch).detail, HasSubstr("interpreter"));
}

TEST_F(Causes, a_missing_working_dir_is_said) {
    auto launch = shell("true");
    launch.spec.working_dir = "/no/such/folder";
    const auto end = run(launch);
    EXPECT_EQ(end.reason, Reason::start_failed);
    EXPECT_EQ(end.exit_code, 127);
    EXPECT_THAT(end.detail, HasSubstr("/no/such/folder"));
}

TEST_F(Causes, a_part_of_a_card_is_advisory_a_whole_one_is_not) {
    auto whole = shell("exit 0");
    GpuSlice slice;
    slice.exclusive = true;
    whole.allocation.gpus = {slice};
    const bool otherwise = run(shell("exit 0", "job-0")).advisory;  // without root nothing is enforced
    EXPECT_EQ(run(whole).advisory, otherwise);
    auto part = shell("exit 0", "job-2");
    slice.exclusive = false;
    slice.memory = Mebibytes(1'024);
    part.allocation.gpus = {slice};
    EXPECT_TRUE(run(part).advisory);
}

TEST_F(Causes, more_disk_than_asked_for_ends_it) {
    auto launch = shell("dd if=/dev/zero of=big bs=1M count=24 2>/dev/null; sync big; sleep 600");
    launch.allocation.disk_size = Bytes(8 << 20);
    const auto end = run(launch);
    EXPECT_EQ(end.state, State::failed);
    EXPECT_EQ(end.reason, Reason::disk_full);
    EXPECT_THAT(end.detail, HasSubstr("24Mi"));

    auto modest = shell("dd if=/dev/zero of=small bs=1M count=4 2>/dev/null; sleep 3", "job-2");
    modest.allocation.disk_size = Bytes(8 << 20);
    EXPECT_EQ(run(modest).reason, Reason::exit_zero);
}

TEST_F(Causes, an_image_needs_another_runtime) {
    auto launch = shell("true");
    launch.spec.image = "debian";
    EXPECT_EQ(run(launch).reason, Reason::start_failed);
}

TEST_F(Causes, the_time_limit_ends_a_task) {
    auto launch = shell("sleep 600");
    launch.spec.time_limit = Millis(50);
    launch.spec.grace_period = Millis(60'000);
    const auto end = run(launch);
    EXPECT_EQ(end.state, State::failed);
    EXPECT_EQ(end.reason, Reason::time_limit);
    EXPECT_EQ(end.exit_code, 143);
}

TEST_F(Causes, stop_gives_the_outcome_that_was_asked_for) {
    const auto launch = shell("trap 'echo saved; exit 0' TERM; echo up; while :; do sleep 0.01; done");
    start(launch);
    ASSERT_TRUE(log_has(launch.id, "up"));
    runtime_->stop(launch.id, Millis(60'000), State::preempted, Reason::preempted_for, "for job-9");
    const auto end = end_of(launch.id);
    EXPECT_EQ(end.state, State::preempted);
    EXPECT_EQ(end.reason, Reason::preempted_for);
    EXPECT_EQ(end.detail, "for job-9");
    EXPECT_EQ(end.exit_code, 0);
    EXPECT_THAT(log_of(launch.id), HasSubstr("saved"));
}

TEST_F(Causes, who_ignores_sigterm_is_killed_after_the_grace) {
    const auto launch = shell("trap '' TERM; echo up; while :; do sleep 1000; done");
    start(launch);
    ASSERT_TRUE(log_has(launch.id, "up"));
    runtime_->stop(launch.id, Millis(30), State::cancelled, Reason::user_cancelled, "");
    const auto end = end_of(launch.id);
    EXPECT_EQ(end.state, State::cancelled);
    EXPECT_EQ(end.exit_code, 137);
}

TEST_F(Causes, a_second_stop_may_shorten_the_grace) {
    const auto launch = shell("trap '' TERM; echo up; while :; do sleep 1000; done");
    start(launch);
    ASSERT_TRUE(log_has(launch.id, "up"));
    runtime_->stop(launch.id, Millis(3'600'000), State::preempted, Reason::preempted_for, "for job-9");
    runtime_->stop(launch.id, Millis(0), State::cancelled, Reason::user_cancelled, "");
    EXPECT_EQ(end_of(launch.id).state, State::cancelled);
}

TEST_F(Causes, a_stop_right_after_the_start_is_not_lost) {
    const auto launch = shell("sleep 600");
    start(launch);
    runtime_->stop(launch.id, Millis(0), State::cancelled, Reason::user_cancelled, "changed my mind");
    const auto end = end_of(launch.id);
    EXPECT_EQ(end.state, State::cancelled);
    EXPECT_EQ(end.detail, "changed my mind");
}

TEST_F(Causes, an_end_before_the_stop_keeps_its_own_cause) {
    const auto launch = shell("exit 4");
    run(launch);
    runtime_->stop(launch.id, Millis(0), State::cancelled, Reason::user_cancelled, "");
    loop_.step();
    EXPECT_EQ(last(launch.id)->reason, Reason::exit_nonzero);
}

TEST_F(Causes, stopping_what_is_not_here_answers) {
    runtime_->stop({"job-x", 0, 1}, Millis(0), State::cancelled, Reason::user_cancelled, "");
    ASSERT_TRUE(loop_.until([&] { return !events_.empty(); }));
    EXPECT_EQ(events_[0].state, State::cancelled);
}

TEST_F(Causes, starting_twice_runs_once) {
    const auto launch = shell("echo ran >> count; cat count; sleep 600");
    start(launch);
    runtime_->start(launch);
    ASSERT_TRUE(log_has(launch.id, "ran"));
    runtime_->start(launch);
    runtime_->stop(launch.id, Millis(0), State::cancelled, Reason::user_cancelled, "");
    end_of(launch.id);
    EXPECT_EQ(log_of(launch.id), "ran\n");
    runtime_->start(launch);
    loop_.step();
    EXPECT_EQ(last(launch.id)->state, State::cancelled);
}

TEST_F(Causes, what_a_task_leaves_behind_ends_with_it) {
    // A daemon in a session of its own, which ignores SIGTERM and keeps a lock while it lives.
    const auto launch = shell(
        "(setsid sh -c 'trap \"\" TERM HUP; exec 9>lock; flock 9; touch up; while :; do sleep 1000; done' "
        "&)\n"
        "while [ ! -e up ]; do sleep 0.01; done");
    EXPECT_EQ(run(launch).state, State::finished);
    const std::string lock = folder(launch.id) + "/work/lock";
    ASSERT_TRUE(exists(lock));
    EXPECT_EQ(std::system(("flock -n " + lock + " true").c_str()), 0);
}

TEST_F(Causes, forget_leaves_nothing_and_settle_ends_adoption) {
    const auto launch = shell("echo x");
    run(launch);
    runtime_->settle(launch.id);
    open();
    EXPECT_TRUE(runtime_->adopt().empty());
    EXPECT_EQ(log_of(launch.id), "x\n");
    runtime_->forget(launch.id);
    EXPECT_FALSE(exists(folder(launch.id)));
    EXPECT_FALSE(runtime_->log(launch.id, 0, 100));
    started_.clear();
}

}  // namespace
}  // namespace crater::run::testing
