// Named Cgroup.* so that they can be run alone inside a machine with another cgroup version.
#include "cgroup.h"

#include <gmock/gmock.h>

#include "kit_test.h"

namespace crater::run::testing {
namespace {

using ::testing::HasSubstr;

class Cgroup : public RuntimeTest {
  protected:
    void SetUp() override {
        RuntimeTest::SetUp();
        if (!is_root()) GTEST_SKIP() << "needs root";
        groups_ = std::make_unique<Cgroups>(options_.cgroup_parent);
        groups_->self_test();
        if (groups_->report().version == "none") GTEST_SKIP() << "no control groups are mounted";
        options_.allow_unenforced = false;
        open();
    }
    void needs(Controller c) {
        if (!groups_->holds(c)) GTEST_SKIP() << groups_->why_not(c);
    }
    // The folder of the only task's group in the hierarchy that has `file`.
    std::string group_of(const TaskId& id, const std::string& file) {
        std::string found;
        for (const auto& name : groups_->names())
            if (name.ends_with("." + id.text()))
                for (const auto& folder : groups_->make_plain(name))
                    if (exists(folder + "/" + file)) found = folder;
        return found;
    }
    std::string value(const TaskId& id, const std::string& v1, const std::string& v2) {
        for (const auto& file : {v1, v2})
            if (const auto folder = group_of(id, file); !folder.empty()) {
                std::string text = read_text(folder + "/" + file).value_or("?");
                while (!text.empty() && text.back() == '\n') text.pop_back();
                return text;
            }
        return "(no group)";
    }
    void start_idle(const Launch& launch) {
        start(launch);
        ASSERT_TRUE(log_has(launch.id, "up")) << last(launch.id)->detail;
    }
    Launch idle(const std::string& job = "job-1") { return shell("echo up; sleep 600", job); }

    std::unique_ptr<Cgroups> groups_;
};

TEST_F(Cgroup, the_self_test_says_of_each_limit_whether_it_holds) {
    const auto& r = groups_->report();
    std::cout << r.version << ": cpu " << r.cpu << ", memory " << r.memory << ", pids " << r.pids
              << ", disk_io " << r.disk_io << ", cpuset " << r.cpuset << "\n";
    for (const auto* row : {&r.cpu, &r.memory, &r.pids, &r.disk_io, &r.cpuset}) {
        EXPECT_FALSE(row->empty());
        EXPECT_NE(*row, "not tried");
    }
    for (const auto& name : groups_->names())
        EXPECT_FALSE(name.starts_with("probe")) << "the scratch group stayed";
}

TEST_F(Cgroup, over_its_memory_a_task_ends_with_that_cause) {
    needs(Controller::memory);
    auto launch = shell("a=$(tr '\\0' a < /dev/zero); echo ${#a}");
    launch.allocation.memory = Bytes(12 << 20);
    const auto end = run(launch);
    EXPECT_EQ(end.state, State::failed);
    EXPECT_EQ(end.reason, Reason::out_of_memory);
    EXPECT_FALSE(end.advisory);
}

TEST_F(Cgroup, one_process_over_the_memory_ends_the_whole_task) {
    needs(Controller::memory);
    auto launch = shell("sh -c 'a=$(tr \"\\0\" a < /dev/zero); echo $a' & sleep 600");
    launch.allocation.memory = Bytes(12 << 20);
    EXPECT_EQ(run(launch).reason, Reason::out_of_memory);
}

TEST_F(Cgroup, the_quota_follows_the_kind_of_work) {
    needs(Controller::cpu);
    auto launch = idle();
    launch.allocation.cpu = MilliCpu(500);
    start_idle(launch);
    EXPECT_THAT(value(launch.id, "cpu.cfs_quota_us", "cpu.max"), HasSubstr("75000"));
    launch = idle("job-2");
    launch.allocation.cpu = MilliCpu(500);
    launch.spec.type = JobType::training;
    start_idle(launch);
    EXPECT_THAT(value(launch.id, "cpu.cfs_quota_us", "cpu.max"), HasSubstr("150000"));
    launch = idle("job-3");
    launch.allocation.cpu = MilliCpu(500);
    launch.allocation.gpus = {{.index = 0, .uuid = "", .compute = {}, .memory = {}},
                              {.index = 1, .uuid = "", .compute = {}, .memory = {}}};
    start_idle(launch);
    EXPECT_THAT(value(launch.id, "cpu.cfs_quota_us", "cpu.max"), HasSubstr("200000"));
}

TEST_F(Cgroup, cpus_of_its_own_bind_it_and_need_no_quota) {
    needs(Controller::cpuset);
    auto launch = shell("nproc; echo up; sleep 600");
    launch.allocation.cpu = MilliCpu(1000);
    launch.allocation.cpu_set = {0};
    start_idle(launch);
    EXPECT_EQ(value(launch.id, "cpuset.cpus", "cpuset.cpus"), "0");
    EXPECT_EQ(log_of(launch.id), "1\nup\n");
    const auto quota = value(launch.id, "cpu.cfs_quota_us", "cpu.max");
    EXPECT_TRUE(quota == "-1" || quota.starts_with("max")) << quota;
}

TEST_F(Cgroup, memory_comes_from_its_domain) {
    needs(Controller::cpuset);
    if (!exists("/sys/devices/system/node/node1")) GTEST_SKIP() << "one memory domain only";
    auto launch =
        shell("grep Mems_allowed_list /proc/self/status; cat /proc/self/numa_maps; echo up; sleep 600");
    launch.allocation.numa_node = 1;
    start_idle(launch);
    EXPECT_THAT(log_of(launch.id), HasSubstr("prefer:1"));
    launch.id.job = "job-2";
    launch.spec.numa_binding_policy = NumaPolicy::strict;
    start_idle(launch);
    EXPECT_THAT(log_of(launch.id),
                ::testing::AllOf(HasSubstr("Mems_allowed_list:\t1\n"), HasSubstr("bind:1")));
}

TEST_F(Cgroup, processes_are_bounded) {
    needs(Controller::pids);
    const auto launch = idle();
    start_idle(launch);
    EXPECT_EQ(value(launch.id, "pids.max", "pids.max"), "4096");
}

TEST_F(Cgroup, the_disk_is_throttled) {
    needs(Controller::disk_io);
    std::string disk;
    for (const auto& name : list_folder("/sys/class/block"))
        if (exists("/sys/class/block/" + name + "/device")) disk = name;
    if (disk.empty()) GTEST_SKIP() << "no disk";
    auto launch = idle();
    launch.allocation.disk = disk;
    launch.allocation.disk_iops = Iops(1234);
    launch.allocation.disk_bandwidth = BytesPerSecond(5'000'000);
    start_idle(launch);
    const std::string at = group_of(launch.id, "io.max").empty()
                               ? group_of(launch.id, "blkio.throttle.read_iops_device")
                               : group_of(launch.id, "io.max");
    std::string all;
    for (const char* file :
         {"/io.max", "/blkio.throttle.read_iops_device", "/blkio.throttle.write_bps_device"})
        all += read_text(at + file).value_or("");
    EXPECT_THAT(all, HasSubstr(disk_number(disk)));
    EXPECT_THAT(all, HasSubstr("1234"));
    EXPECT_THAT(all, HasSubstr("5000000"));
}

TEST_F(Cgroup, a_disk_that_is_not_here_is_refused) {
    auto launch = idle();
    launch.allocation.disk = "nvme77n1";
    launch.allocation.disk_iops = Iops(1000);
    const auto end = run(launch);
    EXPECT_EQ(end.reason, Reason::unenforceable);
    EXPECT_THAT(end.detail, HasSubstr("nvme77n1"));
}

TEST_F(Cgroup, groups_go_with_their_task_and_others_stay) {
    const auto foreign = groups_->make_plain("somebody-elses");
    const auto launch = shell("(setsid sleep 600 &)");
    run(launch);
    EXPECT_TRUE(loop_.until([&] { return group_of(launch.id, "cgroup.procs").empty(); }));
    open();
    runtime_->adopt();
    for (const auto& folder : foreign) EXPECT_TRUE(exists(folder));
}

TEST_F(Cgroup, limits_are_set_again_after_a_restart) {
    needs(Controller::memory);
    auto launch = idle();
    launch.allocation.memory = Bytes(256 << 20);
    start_idle(launch);
    const bool v2 = !group_of(launch.id, "memory.max").empty();
    const std::string file = v2 ? "memory.max" : "memory.limit_in_bytes";
    if (!v2 && !write_control(group_of(launch.id, file) + "/memory.memsw.limit_in_bytes", "1073741824")) {
    }
    ASSERT_TRUE(write_control(group_of(launch.id, file) + "/" + file, "1073741824"));
    open();
    ASSERT_TRUE(adopted(launch.id));
    EXPECT_EQ(value(launch.id, "memory.limit_in_bytes", "memory.max"), "268435456");
}

TEST_F(Cgroup, use_is_measured) {
    auto launch = shell("echo up; while :; do :; done");
    launch.allocation.cpu = MilliCpu(1000);
    start_idle(launch);
    ASSERT_TRUE(runs(launch.id));
    runtime_->usage();
    EXPECT_TRUE(loop_.until([&] {
        const auto all = runtime_->usage();
        return all.size() == 1 && all[0].cpu_cores > 0 && all[0].pids >= 1 && all[0].memory.value > 0;
    }));
}

TEST_F(Cgroup, the_shim_is_outside_of_the_tasks_group) {
    auto launch = shell("echo up; sleep 600");
    start_idle(launch);
    const auto members = value(launch.id, "cgroup.procs", "cgroup.procs");
    std::istringstream in(members);
    int count = 0;
    for (pid_t pid = 0; in >> pid; ++count)
        EXPECT_EQ(read_text("/proc/" + std::to_string(pid) + "/comm").value_or("").find("crater"),
                  std::string::npos);
    EXPECT_GE(count, 1);
}

}  // namespace
}  // namespace crater::run::testing
