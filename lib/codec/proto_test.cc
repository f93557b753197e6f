#include "crater/codec/proto.h"

#include <gtest/gtest.h>

#include "sample_test.h"
#include "sample_test.pb.h"

namespace crater::codec {
namespace {

namespace pb = sample::pb;
using sample::Job;

TEST(Proto, any_struct_comes_back_the_same) {
    sample::Maker maker(5);
    pb::Job message;
    for (int i = 0; i < 500; ++i) {
        Job job = maker.job();
        to_proto(job, message);  // over what the last one left
        std::string bytes;
        ASSERT_TRUE(message.SerializeToString(&bytes));
        pb::Job other;
        ASSERT_TRUE(other.ParseFromString(bytes));
        Job back;
        const auto read = from_proto(other, back);
        ASSERT_TRUE(read) << read.error().text();
        ASSERT_TRUE(back == job) << message.DebugString();
    }
}

TEST(Proto, amounts_travel_in_their_own_unit) {
    sample::Disk disk;
    disk.read_mbps_min = BytesPerSecond(1'500'000);
    pb::Disk message;
    to_proto(disk, message);
    EXPECT_EQ(message.read_mbps_min(), 1'500'000);
}

TEST(Proto, what_the_message_lacks_keeps_its_default) {
    Job job;
    job.resources.cores = MilliCpu(5);
    job.spare.emplace();
    ASSERT_TRUE(from_proto(pb::Job(), job));
    EXPECT_EQ(job.resources.cores.value, 5);  // the message has no `resources`
    EXPECT_FALSE(job.spare.has_value());
    EXPECT_EQ(job.tasks, 0);  // a number cannot be absent
    EXPECT_EQ(job.priority.value, -1);
}

TEST(Proto, refuses_what_does_not_fit_with_its_path) {
    pb::Job message;
    Job job;
    message.set_tiny(128);
    EXPECT_EQ(from_proto(message, job).error().text(), "tiny: found 128; allowed: -128 to 127");
    message.set_tiny(0);
    message.mutable_resources()->mutable_disk()->set_io_profile("future");
    EXPECT_EQ(from_proto(message, job).error().field, "resources.disk.io_profile");
    message.clear_resources();
    message.add_mounts();
    (*message.mutable_caps())["a"] = 1;
    message.set_priority("urgent");
    EXPECT_EQ(from_proto(message, job).error().field, "priority");
}

TEST(Proto, says_what_a_message_cannot_hold) {
    EXPECT_EQ(missing_in_proto<Job>(*pb::Job::descriptor()), std::vector<std::string>());
    const std::vector<std::string> want{
        "disk.size: needs int64 in BadDisk", "disk.iops: is repeated in BadDisk",
        "disk.latency_us_max: is not there in BadDisk", "disk.stability: needs double in BadDisk",
        "disk.io_profile: needs the value model-loading in BadDisk"};
    EXPECT_EQ(missing_in_proto<sample::Resources>(*pb::BadResources::descriptor()), want);
    EXPECT_EQ(missing_in_proto<sample::Gpu>(*pb::BadGpu::descriptor()),
              std::vector<std::string>{"compute: needs presence (optional) in BadGpu"});
}

TEST(Proto, a_field_without_a_place_aborts) {
    pb::BadGpu message;
    EXPECT_DEATH(to_proto(sample::Gpu{}, message), "BadGpu.compute needs presence");
}

}  // namespace
}  // namespace crater::codec
