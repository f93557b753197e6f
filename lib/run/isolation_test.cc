#include <gmock/gmock.h>

#include "kit_test.h"
#include "start_shim.h"

namespace crater::run::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Isolation : public RuntimeTest {
  protected:
    void SetUp() override {
        RuntimeTest::SetUp();
        if (!is_root() || !namespaces_work()) GTEST_SKIP() << "needs root and namespaces";
        open();
    }
    std::string output_of(const std::string& script) { return output_of(shell(script)); }
    std::string output_of(const Launch& launch) {
        run(launch);
        return log_of(launch.id);
    }
    void write(const std::string& path, const std::string& text, int mode = 0644) {
        std::ofstream(path) << text;
        std::filesystem::permissions(path, std::filesystem::perms(mode));
    }
};

TEST_F(Isolation, nothing_of_craters_own_is_readable) {
    // World readable on purpose: the view of the file system hides them too.
    write(options_.data + "/admin.token", "secret");
    write(options_.data + "/crater.db", "secret");
    const auto other = shell("echo secret > work.txt; chmod 777 . work.txt; echo up; sleep 600", "job-2");
    start(other);
    ASSERT_TRUE(log_has(other.id, "up"));
    const auto text =
        output_of("cat " + options_.data + "/admin.token " + options_.data + "/crater.db " +
                  folder(other.id) + "/work/work.txt " + options_.data + "/logs/*; ls " + options_.data +
                  " " + options_.data + "/tasks; cat " + folder({"job-1", 0, 1}) +
                  "/launch.json; find / -name admin.token 2>/dev/null; echo done");
    EXPECT_THAT(text, AllOf(Not(HasSubstr("secret")), Not(HasSubstr("job-2.0.1\n")), HasSubstr("done")));
}

TEST_F(Isolation, it_is_not_root_and_cannot_become_it) {
    const auto text = output_of(
        "id -u; id -G; grep -E 'Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs' /proc/self/status; echo x > /etc/x; echo x "
        "> /x; mount -t tmpfs x /mnt; echo done");
    EXPECT_THAT(text, HasSubstr("65534\n65534\n"));
    EXPECT_THAT(text, AllOf(HasSubstr("CapPrm:\t0000000000000000"), HasSubstr("CapEff:\t0000000000000000"),
                            HasSubstr("CapBnd:\t0000000000000000"), HasSubstr("CapAmb:\t0000000000000000"),
                            HasSubstr("NoNewPrivs:\t1")));
    EXPECT_FALSE(exists("/etc/x") || exists("/x"));
}

TEST_F(Isolation, it_sees_and_signals_only_its_own_processes) {
    const auto launch =
        shell("ls /proc | grep -c '^[0-9]'; cat go; kill -9 1; kill -9 $(cat go); echo alive; sleep 600");
    // The shim's number is put where the task reads it.
    const auto other = shell("echo up; sleep 600", "job-2");
    start(other);
    ASSERT_TRUE(log_has(other.id, "up"));
    auto first = launch;
    first.spec.env = {{"SHIM", std::to_string(look_at_lock(folder(other.id)).pid)}};
    first.spec.command.argv[2] =
        "ls /proc | grep -c '^[0-9]'; kill -9 1; kill -9 $SHIM; kill -9 -1; cat /proc/1/environ; echo alive; "
        "sleep 600";
    start(first);
    ASSERT_TRUE(log_has(first.id, "alive")) << log_of(first.id);
    EXPECT_TRUE(look_at_lock(folder(other.id)).held);
    EXPECT_TRUE(look_at_lock(folder(first.id)).held);
    EXPECT_LE(std::stoi(log_of(first.id)), 5) << "processes of others are in sight";
}

TEST_F(Isolation, its_temp_folder_is_its_own) {
    write(base_ + "/note", "outside");
    const auto launch = shell("ls /tmp; echo inside > /tmp/note; cat /tmp/note $CRATER_TEMP_PATH/note");
    const auto text = output_of(launch);
    EXPECT_EQ(text.find("note"), std::string::npos);
    EXPECT_THAT(text, HasSubstr("inside\ninside\n"));
    EXPECT_FALSE(exists("/tmp/note"));
    EXPECT_TRUE(exists(folder(launch.id) + "/tmp/note"));
}

TEST_F(Isolation, what_the_job_names_below_tmp_stays_in_sight) {
    std::filesystem::create_directory(base_ + "/project");
    write(base_ + "/project/run.sh", "#!/bin/sh\npwd; cat data.txt\n", 0755);
    write(base_ + "/project/data.txt", "numbers\n");
    auto launch = shell("");
    launch.spec.command.argv = {base_ + "/project/run.sh"};
    launch.spec.working_dir = base_ + "/project";
    EXPECT_EQ(output_of(launch), base_ + "/project\nnumbers\n");
}

TEST_F(Isolation, a_project_elsewhere_is_readable_as_it_is) {
    EXPECT_THAT(
        output_of("cat /etc/hostname > /dev/null && ls /usr/bin/env && test -w /dev/shm && echo fine"),
        HasSubstr("fine"));
}

TEST_F(Isolation, mounts_are_made_where_nothing_was) {
    std::filesystem::create_directory(base_ + "/set");
    write(base_ + "/set/a", "one");
    auto launch = shell(
        "cat /crater-test-data/a /usr/share/crater-test/deep/a; ls /usr/share/zoneinfo >/dev/null && echo "
        "still; "
        "touch /crater-test-data/b || echo kept; touch $CRATER_OUTPUT_PATH/result && echo "
        "$CRATER_OUTPUT_PATH");
    launch.spec.mounts = {{base_ + "/set", "/crater-test-data", true},
                          {base_ + "/set", "/usr/share/crater-test/deep", true}};
    launch.spec.output = "/crater-test-output/model";
    std::filesystem::permissions(base_ + "/set", std::filesystem::perms(0777));
    const auto text = output_of(launch);
    EXPECT_THAT(text,
                AllOf(HasSubstr("oneone"), HasSubstr("kept"), HasSubstr("/crater-test-output/model\n")));
    EXPECT_FALSE(exists("/crater-test-data") || exists("/usr/share/crater-test") ||
                 exists("/crater-test-output"));
    EXPECT_TRUE(exists(output_path(launch, options_) + "/result"));
    EXPECT_FALSE(exists(base_ + "/set/b"));
}

TEST_F(Isolation, a_mount_gives_no_rights_that_the_user_lacks) {
    std::filesystem::create_directories(base_ + "/closed/inner");
    write(base_ + "/closed/inner/secret", "secret");
    std::filesystem::permissions(base_ + "/closed", std::filesystem::perms(0700));
    auto launch = shell("cat /mnt/secret");
    launch.spec.mounts = {{base_ + "/closed/inner", "/mnt", true}};
    const auto end = run(launch);
    EXPECT_EQ(end.reason, Reason::start_failed);
    EXPECT_THAT(end.detail, HasSubstr("Permission denied"));
}

TEST_F(Isolation, craters_own_folder_cannot_be_mounted) {
    auto launch = shell("true");
    launch.spec.mounts = {{options_.data + "/logs", "/mnt", true}};
    EXPECT_THAT(run(launch).detail, HasSubstr("mounts[0]"));
}

TEST_F(Isolation, a_missing_mount_source_is_named) {
    auto launch = shell("true");
    launch.spec.mounts = {{"/no/such/source", "/mnt", true}};
    EXPECT_THAT(run(launch).detail, HasSubstr("/no/such/source"));
}

TEST_F(Isolation, the_data_folder_may_be_where_the_task_could_not_go) {
    std::filesystem::create_directory(base_ + "/home");
    std::filesystem::permissions(base_ + "/home", std::filesystem::perms(0700));
    options_.data = base_ + "/home/state/crater";
    open();
    EXPECT_EQ(
        output_of("touch $CRATER_CHECKPOINT_PATH/1 $CRATER_OUTPUT_PATH/1 $CRATER_TEMP_PATH/1 $HOME/1 && pwd"),
        folder({"job-1", 0, 1}) + "/work\n");
}

TEST_F(Isolation, checkpoints_outlive_attempts) {
    auto launch = shell("echo 42 > $CRATER_CHECKPOINT_PATH/step-42; exit 1");
    run(launch);
    launch.id.attempt = 2;
    launch.spec.command.argv[2] = "cat $CRATER_RESUME_FROM";
    EXPECT_EQ(output_of(launch), "42\n");
}

TEST_F(Isolation, root_only_where_the_node_allows_it) {
    auto launch = shell("id -u");
    launch.run_as_root = true;
    EXPECT_EQ(run(launch).reason, Reason::rejected);
    options_.allow_root_tasks = true;
    open();
    launch.id.attempt = 2;
    EXPECT_EQ(output_of(launch), "0\n");
}

// --- without root: everything works, nothing is claimed to be held
// ---------------------------------------------------

class Unprivileged : public RuntimeTest {
  protected:
    void SetUp() override {
        RuntimeTest::SetUp();
        std::filesystem::permissions(base_, std::filesystem::perms(0777));
    }
};

TEST_F(Unprivileged, runs_as_advisory) {
    EXPECT_TRUE(in_child(true, [&] {
        open();
        auto launch = shell(
            "id -u; (setsid sh -c 'exec 9>lock; flock 9; touch up; sleep 600' &) ; while [ ! -e up ]; do "
            "sleep 0.01; done");
        launch.allocation.cpu = MilliCpu(1000);
        const auto end = run(launch);
        const bool gone = std::system(("flock -n " + folder(launch.id) + "/work/lock true").c_str()) == 0;
        return end.reason == Reason::exit_zero && end.advisory && gone &&
               runtime_->enforcement().cpu == "advisory" &&
               log_of(launch.id) == std::to_string(::geteuid()) + "\n";
    }));
}

TEST_F(Unprivileged, refuses_what_it_cannot_hold_and_says_what) {
    options_.allow_unenforced = false;
    EXPECT_TRUE(in_child(true, [&] {
        open();
        auto launch = shell("true");
        launch.allocation.memory = Bytes(1 << 30);
        const auto end = run(launch);
        return end.reason == Reason::unenforceable && end.state == State::failed &&
               end.detail.find("memory (") != std::string::npos;
    }));
}

TEST_F(Unprivileged, stops_and_adopts) {
    EXPECT_TRUE(in_child(true, [&] {
        open();
        const auto launch = shell("trap '' TERM; (setsid sleep 600 &); echo up; sleep 600; sleep 600");
        start(launch);
        if (!log_has(launch.id, "up")) return false;
        open();
        const auto found = adopted(launch.id);
        if (!found || found->last.state != State::running) return false;
        runtime_->stop(launch.id, Millis(0), State::cancelled, Reason::user_cancelled, "");
        return end_of(launch.id).state == State::cancelled;
    }));
}

}  // namespace
}  // namespace crater::run::testing
