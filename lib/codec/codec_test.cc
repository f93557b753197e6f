#include "crater/codec/codec.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sample_test.h"

namespace crater::codec {
namespace {

using sample::Gpu;
using sample::Held;
using sample::Job;
using sample::Mount;
using sample::Resources;

Job read_job(std::string_view text) {
    auto job = read_json<Job>(text);
    EXPECT_TRUE(job) << text << " " << job.error().text();
    return job ? *job : Job{};
}
Resources resources(const std::string& text) { return read_job("{\"resources\":" + text + "}").resources; }
Error refused(std::string_view text) {
    auto job = read_json<Job>(text);
    EXPECT_FALSE(job) << text;
    return job ? Error{} : job.error();
}

TEST(RoundTrip, any_struct_comes_back_the_same_from_json) {
    sample::Maker maker(1);
    for (int i = 0; i < 3000; ++i) {
        const Job job = maker.job();
        const std::string text = write_json(job, {.reveal = true});
        const auto back = read_json<Job>(text);
        ASSERT_TRUE(back) << back.error().text() << "\n" << text;
        ASSERT_EQ(write_json(*back, {.reveal = true}), text);
        ASSERT_TRUE(*back == job) << text;
        ASSERT_TRUE(read<Job>(to_json(job, {.reveal = true})).value() == job);
    }
}

TEST(RoundTrip, any_struct_comes_back_the_same_from_yaml) {
    sample::Maker maker(2);
    for (int i = 0; i < 300; ++i) {
        const Job job = maker.job();
        const std::string text = yaml_of_json(write_json(job, {.reveal = true})).value();
        const auto back = read_yaml<Job>(text);
        ASSERT_TRUE(back) << back.error().text() << "\n" << text;
        ASSERT_TRUE(*back == job) << text;
    }
}

TEST(Write, keeps_the_order_and_leaves_out_what_is_empty) {
    EXPECT_EQ(write_json(Gpu{}), R"({"count":0,"memory":"0","exclusive":false})");
    EXPECT_EQ(write_json(Gpu{MilliGpu(500), Mebibytes(16384), MilliGpu(125), "a\"100", true}),
              R"({"count":0.5,"memory":"16Gi","compute":0.125,"model":"a\"100","exclusive":true})");
    EXPECT_EQ(write_json(Mount{}), R"({"source":"","target":"","read_only":false})");
    EXPECT_EQ(
        write_json(std::vector<Mount>{{"a", "b", true}, {}}),
        R"([{"source":"a","target":"b","read_only":true},{"source":"","target":"","read_only":false}])");
    EXPECT_EQ(write_json(std::map<std::string, Bytes>{{"b", Bytes(1)}, {"a", Bytes(1 << 30)}}),
              R"({"a":"1Gi","b":"1"})");
}

TEST(Write, uses_the_unit_of_the_name) {
    Resources r;
    r.cores = MilliCpu(8000);
    r.memory = Bytes(32LL << 30);
    r.bandwidth = BytesPerSecond(142'300'000'000);
    r.latency = Micros(87);
    r.disk = {Bytes(100LL << 30),
              Iops(20000),
              Micros(200),
              BytesPerSecond(1'500'500'000),
              BytesPerSecond(500'000'000),
              0.92,
              sample::Profile::training};
    EXPECT_EQ(
        write_json(r),
        R"({"gpu":{"count":0,"memory":"0","exclusive":false},"cores":8,"memory":"32Gi","bandwidth":"142.3GB/s","latency":87,)"
        R"("disk":{"size":"100Gi","iops":20000,"latency_us_max":200,"read_mbps_min":1500.5,"bandwidth_min":"500MB/s","stability":0.92,"io_profile":"training"}})");
    EXPECT_EQ(
        write_json(Held{Bytes(1), Mebibytes(2), BytesPerSecond(3), Millis(4), Millis(1500),
                        Bytes(1'500'000'000), Bytes((3 << 20) + 1), Instant{5}}),
        R"({"memory_bytes":1,"gpu_memory_mib":2,"bandwidth_bytes":3,"wait_ms":4,"poll_interval_seconds":1.5,"size_gb":1.5,"size_mib":4,"started_ms":5})");
    Job job;
    job.submitted = Instant{1716199200123};
    EXPECT_NE(write_json(job).find(
                  R"("grace_period":"30s","max_queue_time":"0s","submitted":"2024-05-20T10:00:00.123Z")"),
              std::string::npos);
}

TEST(Write, masks_secrets_unless_revealed) {
    Job job;
    job.token = "hunter2";
    EXPECT_NE(write_json(job).find(R"("token":"***")"), std::string::npos);
    EXPECT_EQ(write_json(job).find("hunter2"), std::string::npos);
    EXPECT_EQ(to_json(job)["token"], "***");
    EXPECT_NE(write_json(job, {.reveal = true}).find("hunter2"), std::string::npos);
    EXPECT_EQ(write_json(Job{}).find("token"), std::string::npos);
}

TEST(Write, never_makes_invalid_json) {
    Job job;
    job.name = "bad \xff utf-8";
    job.percent = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(read_json<Job>(write_json(job)));
}

TEST(Read, takes_keys_in_every_case) {
    for (const char* key : {"grace_period", "gracePeriod", "grace-period", "GracePeriod"})
        EXPECT_EQ(read_job(std::string("{\"") + key + "\":\"5s\"}").grace_period, Millis(5000)) << key;
    EXPECT_EQ(read_job(R"({"maxQueueTimeSeconds":90})").max_queue_time, Millis(90'000));
    // Names of a map are the user's own.
    EXPECT_EQ(read_job(R"({"env":{"fooBar":"1","foo_bar":"2"}})").env.size(), 2U);
}

TEST(Read, takes_memory_in_every_unit) {
    const std::vector<std::pair<std::string, std::int64_t>> cases{{R"("memory":"16Gi")", 16LL << 30},
                                                                  {R"("memory":1048576)", 1 << 20},
                                                                  {R"("memory":"512MB")", 512'000'000},
                                                                  {R"("memory_mb":512)", 512'000'000},
                                                                  {R"("memory_gb":256)", 256'000'000'000},
                                                                  {R"("memory_mib":512)", 512LL << 20},
                                                                  {R"("memory_gib":1.5)", 3LL << 29},
                                                                  {R"("memory_bytes":7)", 7},
                                                                  {R"("memoryMiB":1)", 1 << 20},
                                                                  {R"("memory-gb":0.001)", 1'000'000},
                                                                  {R"("memory_tb":1)", 1'000'000'000'000},
                                                                  {R"("memory":1e3)", 1000},
                                                                  {R"("memory":0.5)", 1}};
    for (const auto& [text, value] : cases)
        EXPECT_EQ(resources("{" + text + "}").memory.value, value) << text;
    EXPECT_EQ(read_job(R"({"quota_gb":1})").quota, Bytes(1'000'000'000));
}

TEST(Read, counts_gpu_memory_in_mib_for_every_decimal_unit) {
    const std::vector<std::pair<std::string, std::int64_t>> cases{
        {R"("memory":"16Gi")", 16384}, {R"("memory":16384)", 16384},  {R"("memory_mb":16384)", 16384},
        {R"("memory_gb":80)", 81920},  {R"("memory_mib":1)", 1},      {R"("memory_gib":0.5)", 512},
        {R"("memory_bytes":1)", 1},    {R"("memory":"16GB")", 16384}, {R"("memory":0.5)", 1},
        {R"("memoryGb":1)", 1024}};
    for (const auto& [text, value] : cases)
        EXPECT_EQ(resources("{\"gpu\":{" + text + "}}").gpu.memory.value, value) << text;
}

TEST(Read, takes_time_in_every_unit) {
    const std::vector<std::pair<std::string, std::int64_t>> cases{
        {R"("grace_period":"1h30m")", 5'400'000},
        {R"("grace_period":90)", 90'000},
        {R"("grace_period":0.5)", 500},
        {R"("grace_period_ms":250)", 250},
        {R"("grace_period_seconds":30)", 30'000},
        {R"("grace_period_minutes":15)", 900'000},
        {R"("grace_period_hours":1)", 3'600'000},
        {R"("grace_period_days":1)", 86'400'000},
        {R"("gracePeriodMs":1)", 1},
        {R"("grace_period":"01:00:00")", 3'600'000}};
    for (const auto& [text, value] : cases)
        EXPECT_EQ(read_job("{" + text + "}").grace_period.count(), value) << text;
}

TEST(Read, takes_bandwidth_latency_cores_and_operations) {
    EXPECT_EQ(resources(R"({"bandwidth_gbps":142.3})").bandwidth.value, 142'300'000'000);
    EXPECT_EQ(resources(R"({"bandwidth_mbps":500})").bandwidth.value, 500'000'000);
    EXPECT_EQ(resources(R"({"bandwidth":140})").bandwidth.value, 140'000'000'000);
    EXPECT_EQ(resources(R"({"bandwidth":"500MB/s"})").bandwidth.value, 500'000'000);
    EXPECT_EQ(resources(R"({"disk":{"bandwidth_min_mbps":1}})").disk.bandwidth_min.value, 1'000'000);
    EXPECT_EQ(resources(R"({"disk":{"bandwidth_mbps_min":1}})").disk.bandwidth_min.value, 1'000'000);
    EXPECT_EQ(resources(R"({"disk":{"read_mbps_min":1.5}})").disk.read_mbps_min.value, 1'500'000);
    EXPECT_EQ(resources(R"({"disk":{"seq_mbps":2}})").disk.read_mbps_min.value, 2'000'000);
    EXPECT_EQ(resources(R"({"latency":150})").latency.value, 150);
    EXPECT_EQ(resources(R"({"latency_us":87.2})").latency.value, 88);
    EXPECT_EQ(resources(R"({"latency_ms":1.5})").latency.value, 1500);
    EXPECT_EQ(resources(R"({"latency":"2ms"})").latency.value, 2000);
    EXPECT_EQ(resources(R"({"latency":"150us"})").latency.value, 150);
    EXPECT_EQ(resources(R"({"latency":"1s"})").latency.value, 1'000'000);
    EXPECT_EQ(resources(R"({"ssd":{"ssd_latency_us":150}})").disk.latency_us_max.value, 150);
    EXPECT_EQ(resources(R"({"disk":{"latencyUsMax":150}})").disk.latency_us_max.value, 150);
    EXPECT_EQ(resources(R"({"cores":8})").cores.value, 8000);
    EXPECT_EQ(resources(R"({"cores":0.5})").cores.value, 500);
    EXPECT_EQ(resources(R"({"cores":"500m"})").cores.value, 500);
    EXPECT_EQ(resources(R"({"cores":0.30000000000000004})").cores.value, 300);
    EXPECT_EQ(resources(R"({"gpu":{"cores":0.25}})").gpu.compute, MilliGpu(250));
    EXPECT_EQ(resources(R"({"disk":{"iops_min":800000}})").disk.iops.value, 800000);
    EXPECT_EQ(resources(R"({"disk":{"iops":2e4}})").disk.iops.value, 20000);
}

TEST(Read, takes_types_of_their_own) {
    EXPECT_EQ(read_job(R"({"priority":"high"})").priority.value, 700);
    EXPECT_EQ(read_job(R"({"priority":5})").priority.value, 5);
    EXPECT_EQ(read_job(R"({"command":"echo x"})").command.words,
              (std::vector<std::string>{"/bin/sh", "-c", "echo x"}));
    EXPECT_EQ(read_job(R"({"command":["python3","train.py"]})").command.words,
              (std::vector<std::string>{"python3", "train.py"}));
}

TEST(Read, takes_one_value_for_a_list_of_one) {
    EXPECT_EQ(read_job(R"({"avx_support":"avx512"})").features, std::vector<std::string>{"avx512"});
    EXPECT_EQ(read_job(R"({"cpus":3})").cpus, std::vector<std::int64_t>{3});
    EXPECT_EQ(read_job(R"({"waits":["1s",2]})").waits, (std::vector<Millis>{Millis(1000), Millis(2000)}));
}

TEST(Read, takes_enum_names_with_dash_or_underscore) {
    EXPECT_EQ(resources(R"({"disk":{"io_profile":"model-loading"}})").disk.io_profile,
              sample::Profile::model_loading);
    EXPECT_EQ(resources(R"({"disk":{"io_profile":"model_loading"}})").disk.io_profile,
              sample::Profile::model_loading);
}

TEST(Read, takes_null_for_absent) {
    EXPECT_TRUE(
        read_job(
            R"({"name":null,"tasks":null,"resources":null,"preemptible":null,"env":null,"grace_period":null})") ==
        Job{});
    EXPECT_EQ(resources(R"({"memory":null,"memory_gib":1})").memory.value, 1 << 30);
    EXPECT_EQ(refused(R"({"mounts":[{"source":null,"target":"x"}]})").field, "mounts[0].source");
}

TEST(Read, whole_numbers_may_be_written_as_decimals) {
    EXPECT_EQ(read_job(R"({"tasks":4.0})").tasks, 4);
    EXPECT_EQ(read_job(R"({"big":18446744073709551615})").big, UINT64_MAX);
    EXPECT_EQ(read_job(R"({"tiny":-128})").tiny, -128);
}

TEST(ReadInto, keeps_what_the_tree_does_not_name) {
    Job job;
    job.name = "x";
    job.resources.cores = MilliCpu(1000);
    job.spare.emplace().size = Bytes(5);
    job.features = {"a"};
    ASSERT_TRUE(read_into(
        job, parse_json(R"({"resources":{"memory":7},"spare":{"iops":1},"features":["b"]})").value()));
    EXPECT_EQ(job.name, "x");
    EXPECT_EQ(job.resources.cores.value, 1000);
    EXPECT_EQ(job.resources.memory.value, 7);
    EXPECT_EQ(job.spare->size.value, 5);
    EXPECT_EQ(job.features, std::vector<std::string>{"b"});
}

TEST(Read, unknown_keys_are_taken_only_from_newer_peers) {
    EXPECT_FALSE(read_json<Gpu>(R"({"count":1,"future":2})"));
    EXPECT_EQ(read_json<Gpu>(R"({"count":1,"future":2})", {.allow_unknown = true})->count.value, 1000);
}

TEST(Read, path_is_put_before_the_field) {
    const auto gpu = read<Gpu>(parse_json(R"({"count":true})").value(), "job.resources.gpu");
    ASSERT_FALSE(gpu);
    EXPECT_EQ(gpu.error().field, "job.resources.gpu.count");
}

TEST(Read, refuses_with_the_exact_field_and_a_hint) {
    struct Case {
        const char* text;
        const char* field;
        const char* in_text;  // part of message or hint
    };
    const Case cases[] = {
        {R"({"resources":{"gpu":{"memry":1}}})", "resources.gpu.memry", "did you mean \"memory\"?"},
        {R"({"resources":{"gpu":{"memoryGB ":1}}})", "resources.gpu.memoryGB ", "memory_gb"},
        {R"({"resources":{"gpu":{"gpu":1}}})", "resources.gpu.gpu",
         "allowed: count, memory, compute, model, exclusive"},
        {R"({"nmae":"x"})", "nmae", "name"},
        {R"({"graceperiod":1})", "graceperiod", "grace_period"},
        {R"({"Name":"x","NAME":"y"})", "name", "same key"},
        {R"({"gracePeriod":1,"grace_period":2})", "grace_period", "same key"},
        {R"({"grace_period":1,"grace_period_ms":2})", "grace_period_ms", "same field"},
        {R"({"resources":{"memory":1,"memoryGb":2}})", "resources.memory_gb", "same field"},
        {R"({"resources":{"gpu":{"model":"a","type":"b"}}})", "resources.gpu.type", "same field"},
        {R"({"resources":{"disk":{},"ssd":{}}})", "resources.ssd", "same field"},
        {R"({"name":7})", "name", "put it in quotes: \"7\""},
        {R"({"name":true})", "name", "allowed: a text"},
        {R"({"name":["x"]})", "name", "found a list"},
        {R"({"tasks":"4"})", "tasks", "found \"4\"; allowed: a whole number"},
        {R"({"tasks":1.5})", "tasks", "found 1.5; allowed: a whole number"},
        {R"({"tasks":0})", "tasks", "found 0; allowed: 1 to 4096"},
        {R"({"tasks":-1})", "tasks", "allowed: 1 to 4096"},
        {R"({"tasks":4097})", "tasks", "allowed: 1 to 4096"},
        {R"({"tasks":1e300})", "tasks", "whole number"},
        {R"({"tiny":128})", "tiny", "allowed: -128 to 127"},
        {R"({"port":-1})", "port", "allowed: 0 to 4294967295"},
        {R"({"port":4294967296})", "port", "allowed: 0 to"},
        {R"({"big":-1})", "big", "allowed: 0 to 18446744073709551615"},
        {R"({"cpus":[9223372036854775808]})", "cpus[0]", "allowed"},
        {R"({"percent":101})", "percent", "allowed: 0 to 100"},
        {R"({"percent":-0.5})", "percent", "allowed: 0 to 100"},
        {R"({"percent":"50"})", "percent", "allowed: a number"},
        {R"({"preemptible":"true"})", "preemptible", "true or false"},
        {R"({"preemptible":1})", "preemptible", "true or false"},
        {R"({"resources":[]})", "resources", "found a list; allowed: an object with the keys gpu, cores"},
        {R"({"resources":{"gpu":1}})", "resources.gpu", "object"},
        {R"({"resources":{"memory":-1}})", "resources.memory", "found -1; allowed: 0 or more"},
        {R"({"resources":{"memory":"-1Gi"}})", "resources.memory", "not an amount of memory"},
        {R"({"resources":{"memory":"16Gx"}})", "resources.memory", "\"16Gx\" is not an amount of memory"},
        {R"({"resources":{"memory":true}})", "resources.memory", "found true; allowed: an amount of memory"},
        {R"({"resources":{"memory":1e40}})", "resources.memory", "not an amount"},
        {R"({"resources":{"memory_gb":"16"}})", "resources.memory_gb", "allowed: a number of GB"},
        {R"({"resources":{"memory_gb":-16}})", "resources.memory_gb", "found -16; allowed: 0 GB or more"},
        {R"({"resources":{"memory_tb":99999999999}})", "resources.memory_tb", "more than"},
        {R"({"resources":{"cores":-0.5}})", "resources.cores", "0 or more"},
        {R"({"resources":{"cores":0.00001}})", "resources.cores", "thousandth"},
        {R"({"resources":{"cores":"8 cores"}})", "resources.cores", "not an amount of cores"},
        {R"({"resources":{"gpu":{"count":"two"}}})", "resources.gpu.count", "\"two\""},
        {R"({"resources":{"bandwidth":"140Gbps"}})", "resources.bandwidth", "bandwidth"},
        {R"({"resources":{"bandwidth_gbps":null,"bandwidth":[]}})", "resources.bandwidth", "found a list"},
        {R"({"resources":{"latency":"5 parsecs"}})", "resources.latency", "latency"},
        {R"({"resources":{"disk":{"iops":0.5}}})", "resources.disk.iops", "whole number"},
        {R"({"resources":{"disk":{"iops":"20k"}}})", "resources.disk.iops", "operations per second"},
        {R"({"resources":{"disk":{"latency_us_max":"150us"}}})", "resources.disk.latency_us_max",
         "number of µs"},
        {R"({"resources":{"disk":{"stability":1.1}}})", "resources.disk.stability", "0 to 1"},
        {R"({"resources":{"disk":{"io_profile":"trainig"}}})", "resources.disk.io_profile",
         "did you mean \"training\"?"},
        {R"({"resources":{"disk":{"io_profile":"x"}}})", "resources.disk.io_profile",
         "found \"x\"; allowed: training, model-loading"},
        {R"({"resources":{"disk":{"io_profile":1}}})", "resources.disk.io_profile",
         "allowed: training, model-loading"},
        {R"({"spare":{"size":"1Zi"}})", "spare.size", "1Zi"},
        {R"({"grace_period":"30 parsecs"})", "grace_period", "not a span of time"},
        {R"({"grace_period":-1})", "grace_period", "0 or more"},
        {R"({"grace_period":"1m1h"})", "grace_period", "span of time"},
        {R"({"grace_period_ms":"5s"})", "grace_period_ms", "number of ms"},
        {R"({"waits":["1s","x"]})", "waits[1]", "span of time"},
        {R"({"waits":[null]})", "waits[0]", "null"},
        {R"({"submitted":"yesterday"})", "submitted", "RFC 3339"},
        {R"({"submitted":1716199200})", "submitted", "point in time"},
        {R"({"held":{"started_ms":"2024-05-20T10:00:00Z"}})", "held.started_ms", "ms since 1970"},
        {R"({"mounts":[{"source":"a","target":"b"},{"source":"a"}]})", "mounts[1].target",
         "is required: To."},
        {R"({"mounts":[{"source":"a","target":"b","readonly":true}]})", "mounts[0].readonly",
         "did you mean \"read_only\"?"},
        {R"({"mounts":{"source":"a","target":"b"}})", "mounts", "put it into a list"},
        {R"({"mounts":["a"]})", "mounts[0]", "object"},
        {R"({"named":{"x":{"source":"a"}}})", "named.x.target", "required"},
        {R"({"caps":{"memory_mb":-1}})", "caps.memory_mb", "0 or more"},
        {R"({"env":{"EPOCHS":10}})", "env.EPOCHS", "put it in quotes: \"10\""},
        {R"({"env":["A=1"]})", "env", "object of names and values"},
        {R"({"labels":"x"})", "labels", "object"},
        {R"({"features":[1]})", "features[0]", "text"},
        {R"({"features":{"x":1}})", "features", "list"},
        {R"({"cpus":["a"]})", "cpus[0]", "whole number"},
        {R"({"priority":1001})", "priority", "0 to 1000"},
        {R"({"priority":"urgent"})", "priority", "urgent"},
        {R"({"priority":true})", "priority", "a text or a number"},
        {R"({"command":[]})", "command", "empty"},
        {R"({"command":["a",1]})", "command[1]", "quotes"},
        {R"({"command":{"a":1}})", "command", "list of texts, or a text"},
        {R"([])", "", "object"},
        {R"("x")", "", "object"},
        {R"(null)", "", "object"},
    };
    for (const auto& c : cases) {
        const Error error = refused(c.text);
        EXPECT_EQ(error.code, Code::invalid) << c.text;
        EXPECT_EQ(error.field, c.field) << c.text << " " << error.text();
        EXPECT_NE(error.text().find(c.in_text), std::string::npos) << c.text << " gives " << error.text();
    }
}

TEST(Read, exact_names_win_over_unit_spellings) {
    // A field of its own named like a unit spelling of another.
    const auto both = read_json<sample::Held>(R"({"size_gb":1,"size_mib":1})");
    ASSERT_TRUE(both) << both.error().text();
    EXPECT_EQ(both->size_gb.value, 1'000'000'000);
    EXPECT_EQ(both->size_mib.value, 1 << 20);
}

TEST(Read, survives_any_tree) {
    SeededRng rng(4);
    constexpr std::string_view pieces[] = {"{",
                                           "}",
                                           "[",
                                           "]",
                                           ":",
                                           ",",
                                           "\"name\"",
                                           "\"resources\"",
                                           "\"gpu\"",
                                           "\"memory\"",
                                           "\"memory_gb\"",
                                           "\"disk\"",
                                           "\"mounts\"",
                                           "\"command\"",
                                           "1",
                                           "-1",
                                           "1e300",
                                           "0.5",
                                           "null",
                                           "true",
                                           "\"16Gi\"",
                                           "\"x\""};
    int read_count = 0;
    for (int i = 0; i < 50'000; ++i) {
        std::string text = "{";
        for (auto n = rng.below(14); n > 0; --n) text += pieces[rng.below(std::size(pieces))];
        text += "}";
        if (read_json<Job>(text)) ++read_count;
    }
    EXPECT_GT(read_count, 0);
}

TEST(Schema, tells_types_units_and_what_is_required) {
    const Json job = schema<Job>();
    EXPECT_EQ(job["type"], "object");
    EXPECT_EQ(job["additionalProperties"], false);
    const Json& properties = job["properties"];
    EXPECT_EQ(properties["tasks"],
              (Json{{"type", "integer"}, {"minimum", 1}, {"maximum", 4096}, {"description", "Tasks."}}));
    EXPECT_EQ(properties["mounts"]["items"]["required"], (Json{"source", "target"}));
    EXPECT_EQ(properties["resources"]["properties"]["memory"]["examples"][0], "40Gi");
    EXPECT_EQ(properties["resources"]["properties"]["disk"]["properties"]["io_profile"]["enum"],
              (Json{"training", "model-loading"}));
    EXPECT_EQ(properties["resources"]["properties"]["disk"]["x-aliases"], Json::array({"ssd"}));
    EXPECT_EQ(properties["held"]["properties"]["memory_bytes"]["type"], "integer");
    EXPECT_EQ(properties["held"]["properties"]["size_gb"]["type"], "number");
    EXPECT_EQ(properties["env"]["additionalProperties"]["type"], "string");
    EXPECT_EQ(properties["submitted"]["format"], "date-time");
    EXPECT_EQ(properties["command"]["type"], (Json{"array", "string"}));
    EXPECT_EQ(properties["token"]["writeOnly"], true);
    EXPECT_EQ(schema<std::vector<Mount>>()["items"]["type"], "object");
}

TEST(Markdown, has_a_row_for_every_key_with_type_and_default) {
    const std::string table = markdown<Job>();
    EXPECT_NE(table.find("| `tasks` | whole number | `1` | Tasks. 1 to 4096. |\n"), std::string::npos)
        << table;
    EXPECT_NE(table.find("| `grace_period` | time, as `30s`; a bare number is seconds | `30s` | Grace. |\n"),
              std::string::npos)
        << table;
    EXPECT_NE(table.find("| `resources.gpu.model` | text |  | Model. Also `type`, `kind`. |\n"),
              std::string::npos)
        << table;
    EXPECT_NE(table.find("| `mounts[].source` | text | required | From. |\n"), std::string::npos) << table;
    EXPECT_NE(
        table.find(
            "| `resources.disk.latency_us_max` | number of µs | `0` | Latency. Also `ssd_latency_us`. |\n"),
        std::string::npos)
        << table;
    EXPECT_NE(table.find("| `named.NAME.target` | text | required | To. |\n"), std::string::npos) << table;
}

}  // namespace
}  // namespace crater::codec
