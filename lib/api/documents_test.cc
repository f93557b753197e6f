#include "crater/api/documents.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "crater/codec/codec.h"

namespace crater::api {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::string read_file(const fs::path& path) {
    std::stringstream out;
    out << std::ifstream(path).rdbuf();
    return out.str();
}

Templates templates() {
    return {{"llm_finetune",
             {"registry.internal/finetune:1",
              {{"python3", "-m", "finetune", "{{train_dataset}}"}},
              {{"MODEL", "{{model_config.name}}"}}}}};
}

Result<JobSpec> load(const fs::path& path) {
    if (path.parent_path().filename() == "job") return read_job_file(read_file(path));
    CRATER_TRY(request, read_schedule(read_file(path), templates()));
    return request.spec;
}

// The contract's documents, and the same in other spellings, all read; those of one name say the same.
TEST(Documents, read_in_each_spelling) {
    std::size_t files = 0;
    for (const char* kind : {"job", "schedule"}) {
        std::map<std::string, std::pair<std::string, std::string>> first;
        std::vector<fs::path> paths;
        for (const auto& entry : fs::directory_iterator(fs::path(CRATER_DOCUMENTS) / kind))
            paths.push_back(entry.path());
        std::sort(paths.begin(), paths.end());
        for (const auto& path : paths) {
            SCOPED_TRACE(path.filename().string());
            ++files;
            const auto spec = load(path);
            ASSERT_TRUE(spec) << spec.error().text();
            const std::string name = path.filename().string(),
                              json = codec::write_json(*spec, {.reveal = true});
            const auto [row, is_new] = first.emplace(name.substr(0, name.find('.')), std::pair(name, json));
            if (!is_new) {
                EXPECT_EQ(json, row->second.second) << "says something else than " << row->second.first;
            }
        }
    }
    EXPECT_GE(files, 9u);
}

TEST(Documents, job_file_means_what_it_says) {
    const auto spec = load(fs::path(CRATER_DOCUMENTS) / "job/resnet50.yaml");
    ASSERT_TRUE(spec) << spec.error().text();
    EXPECT_EQ(spec->type, JobType::training);
    EXPECT_EQ(spec->priority.value, 500);
    EXPECT_EQ(spec->resources.gpu.count, MilliGpu(1000));
    EXPECT_EQ(spec->resources.gpu.memory, Mebibytes(16384));
    EXPECT_EQ(spec->resources.memory.size, Bytes(32ll << 30));
    EXPECT_EQ(spec->resources.memory.bandwidth, BytesPerSecond(20'000'000'000));
    EXPECT_EQ(spec->resources.disk.iops, Iops(20'000));
    EXPECT_EQ(spec->resources.disk.latency_us_max, Micros(200));
    EXPECT_EQ(spec->command.argv, (std::vector<std::string>{"python3", "train.py"}));
    EXPECT_EQ(spec->max_queue_time, std::chrono::minutes(30));
    EXPECT_EQ(spec->time_limit, std::chrono::hours(4));
    EXPECT_EQ(spec->preemptible, true);
    EXPECT_EQ(spec->restart.policy, RestartPolicy::on_failure);
}

TEST(Documents, a_text_as_command_is_for_the_shell) {
    const auto spec = load(fs::path(CRATER_DOCUMENTS) / "job/shell.yaml");
    ASSERT_TRUE(spec) << spec.error().text();
    EXPECT_EQ(spec->command.argv,
              (std::vector<std::string>{"/bin/sh", "-c", "python3 clean.py && echo done"}));
    EXPECT_EQ(spec->resources.gpu.count, MilliGpu(500));
    EXPECT_EQ(spec->name, "数据清洗");
    EXPECT_FALSE(spec->preemptible);
}

TEST(Documents, working_dir_is_relative_to_the_file_and_nothing_else) {
    const auto text = "command: [make]\nworking_dir: ./src/../build/\n";
    const auto spec = read_job_file(text, "/home/ada/project");
    ASSERT_TRUE(spec) << spec.error().text();
    EXPECT_EQ(spec->working_dir, "/home/ada/project/build");
    EXPECT_EQ(read_job_file("command: [make]\nworking_dir: .\n", "/")->working_dir, "/");
    EXPECT_EQ(read_job_file("command: [make]\nworking_dir: /abs\n", "/home")->working_dir, "/abs");
    const auto without = read_job_file(text);
    ASSERT_FALSE(without);
    EXPECT_EQ(without.error().field, "working_dir");
}

TEST(Documents, examples_read) {
    std::size_t files = 0;
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(CRATER_DOCUMENTS) / "../../examples")) {
        const std::string name = entry.path().filename().string();
        const bool job = name == "job.yaml",
                   schedule = name.starts_with("alldata") && name.ends_with(".json");
        if (!job && !schedule) continue;
        ++files;
        const std::string text = read_file(entry.path());
        if (job) {
            const auto spec = read_job_file(text, "/opt/crater/examples");
            EXPECT_TRUE(spec) << entry.path() << ": " << spec.error().text();
        } else {
            const auto request = read_schedule(text, {});
            EXPECT_TRUE(request) << entry.path() << ": " << request.error().text();
        }
    }
    EXPECT_GE(files, 6u);
}

TEST(Documents, what_is_written_reads_the_same) {
    for (const char* name :
         {"job/resnet50.yaml", "job/shell.yaml", "schedule/llama3.json", "schedule/portrait.json"}) {
        const auto spec = load(fs::path(CRATER_DOCUMENTS) / name);
        ASSERT_TRUE(spec) << spec.error().text();
        const std::string json = codec::write_json(*spec, {.reveal = true});
        const auto again = read_job_file(json);
        ASSERT_TRUE(again) << again.error().text();
        EXPECT_EQ(codec::write_json(*again, {.reveal = true}), json);
    }
}

TEST(Documents, yaml_is_as_strict_as_json) {
    EXPECT_FALSE(read_job_file("command: [true]\nqueue: a\nqueue: b\n"));
    EXPECT_FALSE(read_job_file("command: [sleep, '1']\nresources: { memory: { size: .nan } }\n"));
    EXPECT_FALSE(read_job_file("command: [sleep, '1']\nmin_gpu_utilization_percent: .inf\n"));
    EXPECT_FALSE(read_job_file("- command\n"));
    EXPECT_FALSE(read_job_file(""));
    const auto number = read_job_file("command: [sleep, 1]\n");
    ASSERT_FALSE(number);
    EXPECT_EQ(number.error().field, "command[1]");
}

TEST(Documents, secrets_are_masked_in_copies) {
    JobSpec spec;
    spec.env = {{"HF_TOKEN", "a"}, {"aws_secret_access_key", "b"}, {"DbPassword", "c"}, {"EPOCHS", "3"}};
    const JobSpec copy = masked(spec);
    EXPECT_EQ(copy.env.at("HF_TOKEN"), "***");
    EXPECT_EQ(copy.env.at("aws_secret_access_key"), "***");
    EXPECT_EQ(copy.env.at("DbPassword"), "***");
    EXPECT_EQ(copy.env.at("EPOCHS"), "3");
    EXPECT_EQ(spec.env.at("HF_TOKEN"), "a");
}

TEST(Documents, sense_is_checked_without_a_document_too) {
    JobSpec spec;
    spec.command.argv = {"true"};
    EXPECT_TRUE(validate(spec));
    spec.resources.memory.size = Bytes(-1);
    EXPECT_EQ(validate(spec).error().field, "resources.memory.size");
    spec.resources.memory.size = {};
    spec.min_gpu_utilization_percent = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(validate(spec).error().field, "min_gpu_utilization_percent");
    spec.min_gpu_utilization_percent = 0;
    spec.priority.value = 5000;
    EXPECT_EQ(validate(spec).error().field, "priority");
    spec.priority.value = -1;
    spec.duration = Millis(-1);
    EXPECT_EQ(validate(spec).error().field, "duration");
}

}  // namespace
}  // namespace crater::api
