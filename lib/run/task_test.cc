#include "task.h"

#include <gmock/gmock.h>

#include <fstream>

#include "cgroup.h"
#include "fs.h"
#include "kit_test.h"

namespace crater::run::testing {
namespace {

using ::testing::HasSubstr;

Launch full_launch() {
    Launch launch;
    launch.id = {"job-1", 2, 3};
    launch.tenant = "research/vision";
    launch.spec.command.argv = {"python3", "train.py", "a b", ""};
    launch.spec.env = {
        {"EPOCHS", "10"}, {"API_TOKEN", "t0p"}, {"PATH", "/opt/bin:/bin"}, {"CRATER_JOB_ID", "forged"}};
    launch.spec.grace_period = Millis(1500);
    launch.spec.time_limit = Millis(90'061'001);
    launch.spec.resources.gpu.precision = "bf16";
    launch.allocation.gpus = {
        {.index = 2, .uuid = "GPU-b", .compute = MilliGpu(500), .memory = Mebibytes(16384)},
        {.index = 3, .uuid = "GPU-c", .compute = MilliGpu(500), .memory = Mebibytes(16384)}};
    launch.allocation.cpu = MilliCpu(2500);
    launch.allocation.cpu_set = {0, 1, 2, 8};
    launch.allocation.numa_node = 1;
    launch.allocation.memory = Bytes((std::int64_t{3} << 30) + 1);
    launch.env = {{"MASTER_ADDR", "10.0.0.1"}};
    return launch;
}

TEST(LaunchFile, keeps_everything_including_secrets) {
    const Launch launch = full_launch();
    const auto back = parse_launch(format_launch(launch, "boot-1"));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->second, "boot-1");
    EXPECT_EQ(back->first.id, launch.id);
    EXPECT_EQ(back->first.spec.command, launch.spec.command);
    EXPECT_EQ(back->first.spec.env, launch.spec.env);
    EXPECT_EQ(back->first.spec.time_limit, launch.spec.time_limit);
    EXPECT_EQ(back->first.spec.grace_period, launch.spec.grace_period);
    EXPECT_EQ(back->first.allocation.memory, launch.allocation.memory);
    EXPECT_EQ(back->first.allocation.cpu, launch.allocation.cpu);
    EXPECT_EQ(back->first.allocation.gpus.size(), 2U);
    EXPECT_EQ(back->first.allocation.cpu_set, launch.allocation.cpu_set);
    EXPECT_EQ(back->first.env, launch.env);
}

TEST(TaskEnvironment, says_what_the_task_holds) {
    ProcessOptions options;
    options.data = "/nowhere/crater";
    auto env = task_environment(full_launch(), options);
    EXPECT_EQ(env["CRATER_JOB_ID"], "job-1");
    EXPECT_EQ(env["CRATER_TASK_INDEX"], "2");
    EXPECT_EQ(env["CRATER_GPU_IDS"], "2,3");
    EXPECT_EQ(env["CUDA_VISIBLE_DEVICES"], "GPU-b,GPU-c");
    EXPECT_EQ(env["NVIDIA_VISIBLE_DEVICES"], "GPU-b,GPU-c");
    EXPECT_EQ(env["CRATER_GPU_MEMORY_MB"], "16384");
    EXPECT_EQ(env["CRATER_CPU_CORES"], "2.5");
    EXPECT_EQ(env["CRATER_CPU_SET"], "0-2,8");
    EXPECT_EQ(env["CRATER_NUMA_NODE"], "1");
    EXPECT_EQ(env["CRATER_PRECISION"], "bf16");
    EXPECT_EQ(env["CRATER_CHECKPOINT_PATH"], "/nowhere/crater/checkpoints/job-1");
    EXPECT_EQ(env["CRATER_OUTPUT_PATH"], "/nowhere/crater/output/job-1");
    EXPECT_EQ(env["CRATER_TEMP_PATH"], "/nowhere/crater/tasks/job-1.2.3/tmp");
    EXPECT_EQ(env["MASTER_ADDR"], "10.0.0.1");
    EXPECT_EQ(env["EPOCHS"], "10");
    EXPECT_EQ(env["PATH"], "/opt/bin:/bin");
    EXPECT_FALSE(env.contains("CRATER_RESUME_FROM"));
}

TEST(TaskEnvironment, hides_all_cards_from_a_task_without_one) {
    Launch launch = full_launch();
    launch.allocation.gpus.clear();
    launch.spec.env["CUDA_VISIBLE_DEVICES"] = "0";
    auto env = task_environment(launch, {});
    EXPECT_EQ(env.at("CUDA_VISIBLE_DEVICES"), "");
    EXPECT_EQ(env["NVIDIA_VISIBLE_DEVICES"], "void");
    EXPECT_FALSE(env.contains("CRATER_GPU_IDS"));
}

TEST(Limits, follow_the_kind_of_work_and_never_go_below_the_request) {
    JobSpec spec;
    Allocation a;
    a.cpu = MilliCpu(1000);
    EXPECT_EQ(limits_of(spec, a).cpu_quota, MilliCpu(1500));
    spec.type = JobType::training;
    EXPECT_EQ(limits_of(spec, a).cpu_quota, MilliCpu(3000));
    a.gpus.resize(2);
    EXPECT_EQ(limits_of(spec, a).cpu_quota, MilliCpu(4000));
    a.cpu_set = {3};
    EXPECT_FALSE(limits_of(spec, a).cpu_quota);
    EXPECT_EQ(limits_of(spec, a).cpu, MilliCpu(1000));
}

TEST(Sets, of_numbers_are_short_and_read_back) {
    EXPECT_EQ(format_set({3, 1, 2, 8, 8}), "1-3,8");
    EXPECT_EQ(format_set({}), "");
    EXPECT_EQ(parse_set("0-2,8\n"), (std::vector<std::int64_t>{0, 1, 2, 8}));
    EXPECT_TRUE(parse_set("nonsense").empty());
}

TEST(Records, are_whole_or_nothing) {
    const Record record{{"a", "x=y"}, {"b", "two\nlines"}};
    const auto text = format_record(record);
    EXPECT_EQ(parse_record(text), (Record{{"a", "x=y"}, {"b", "two lines"}}));
    for (std::size_t n = 0; n + 1 < text.size(); ++n) EXPECT_FALSE(parse_record(text.substr(0, n))) << n;
    EXPECT_EQ(final_event({"j", 0, 1}, "code=0\n", "").reason, Reason::start_failed);
}

// The versions are told apart by what is mounted, wherever that is.
class Versions : public ::testing::Test {
  protected:
    std::string version(const std::string& lines) {
        std::ofstream(file_) << lines;
        return Cgroups("crater", file_).report().version;
    }
    void TearDown() override { std::filesystem::remove(file_); }
    std::string file_ =
        std::filesystem::temp_directory_path() / ("crater-mountinfo-" + std::to_string(::getpid()));
};

TEST_F(Versions, are_told_apart) {
    const std::string folder =
        std::filesystem::temp_directory_path() / ("crater-cgroup2-" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder);
    std::ofstream(folder + "/cgroup.controllers") << "cpuset cpu io memory hugetlb pids\n";
    const std::string v1 =
        "33 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
        "36 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:3 - cgroup cgroup rw,memory\n";
    const std::string v2 =
        "41 31 0:38 / " + folder + " rw,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
    EXPECT_EQ(version("22 27 0:21 / /proc rw - proc proc rw\n"), "none");
    EXPECT_EQ(version(v1), "v1");
    EXPECT_EQ(version(v2), "v2");
    EXPECT_EQ(version(v1 + v2), "hybrid");
    std::ofstream(file_) << v1 + v2;
    const Cgroups groups("crater", file_);
    EXPECT_EQ(groups.report().cpu, "not tried");
    EXPECT_FALSE(groups.holds(Controller::cpu)) << "nothing is claimed before it was tried";
    EXPECT_EQ(groups.mechanism(Controller::cpu), "advisory");
    std::filesystem::remove_all(folder);
}

TEST(TaskUser, is_never_root) {
    EXPECT_NE(task_user("root").uid, 0U);
    EXPECT_EQ(task_user("no-such-account").uid, ::geteuid() == 0 ? 65534U : ::geteuid());
}

}  // namespace
}  // namespace crater::run::testing
