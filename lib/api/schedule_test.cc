#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "crater/api/documents.h"
#include "template_fill.h"

namespace crater::api {
namespace {

using Json = nlohmann::json;

ScheduleRequest read(const std::string& name, const Templates& templates = {}) {
    std::stringstream text;
    text << std::ifstream(CRATER_DOCUMENTS "/schedule/" + name).rdbuf();
    auto request = read_schedule(text.str(), templates);
    if (!request) {
        ADD_FAILURE() << name << ": " << request.error().text();
        return {};
    }
    return *std::move(request);
}

TEST(Schedule, training_document_becomes_a_job) {
    const auto r = read(
        "llama3.json",
        {{"llm_finetune", {"", {{"finetune", "{{train_dataset}}", "--lr=1"}}, {{"M", "{{model_name}}"}}}}});
    EXPECT_EQ(r.task_id, "train-llama3-8b-20240520-001");
    EXPECT_EQ(r.task_type, "llm_finetune");
    EXPECT_EQ(r.spec.name, r.task_id);
    EXPECT_EQ(r.spec.type, JobType::training);
    EXPECT_EQ(r.spec.resources.gpu.count, MilliGpu(2000));
    EXPECT_EQ(r.spec.resources.gpu.memory, Mebibytes(16384));
    EXPECT_EQ(r.spec.resources.gpu.model, "a100-pcie-40gb");
    EXPECT_EQ(r.spec.resources.gpu.precision, "bf16");
    EXPECT_EQ(r.spec.resources.cpu.features, std::vector<std::string>{"avx512"});
    EXPECT_EQ(r.spec.resources.memory.bandwidth, BytesPerSecond(140'000'000'000));
    EXPECT_EQ(r.spec.resources.disk.iops, Iops(800'000));
    EXPECT_EQ(r.spec.resources.disk.latency_us_max, Micros(150));
    EXPECT_EQ(r.spec.max_queue_time, std::chrono::minutes(30));
    EXPECT_EQ(r.spec.min_gpu_utilization_percent, 65);
    EXPECT_EQ(r.spec.command.argv, (std::vector<std::string>{"finetune", "s3://bucket/train/", "--lr=1"}));
    EXPECT_EQ(r.spec.env.at("M"), "meta-llama/Llama-3-8b-chat-hf");
    EXPECT_EQ(r.spec.env.at("CRATER_MODEL_NAME"), "meta-llama/Llama-3-8b-chat-hf");
    EXPECT_EQ(r.spec.env.at("CRATER_PRECISION"), "bf16");
    EXPECT_EQ(r.spec.env.at("CRATER_DATASET_PATH"), "s3://bucket/train/");
    EXPECT_EQ(r.spec.env.at("CRATER_IO_PATTERN"), "random_read");
}

TEST(Schedule, portal_form_becomes_a_job) {
    const auto r = read("train_001.json");
    EXPECT_EQ(r.spec.priority.value, 700);
    EXPECT_EQ(r.spec.resources.gpu.count, MilliGpu(4000));
    EXPECT_EQ(r.spec.resources.gpu.memory, Mebibytes(81920));  // GB of GPU memory are GiB
    EXPECT_EQ(r.spec.resources.memory.size, Bytes(256'000'000'000));
    EXPECT_EQ(r.spec.resources.disk.size, Bytes(200'000'000'000));
    EXPECT_EQ(r.spec.duration, std::chrono::hours(1));
    EXPECT_EQ(r.spec.image, "registry.internal/deeplearning/pytorch:2.1-cu12.1");
    EXPECT_TRUE(r.spec.command.argv.empty());
}

TEST(Schedule, portraits_reach_the_task_and_rounding_is_kept) {
    const auto r = read("portrait.json");
    EXPECT_EQ(r.spec.command.argv, (std::vector<std::string>{"/bin/sh", "-c", "torchrun train.py"}));
    EXPECT_EQ(r.spec.resources.gpu.memory, Mebibytes(16384));  // 15000 up to 8192s
    EXPECT_EQ(r.spec.numa_binding_policy, NumaPolicy::strict);
    EXPECT_EQ(r.spec.preemptible, true);
    EXPECT_EQ(r.spec.grace_period, std::chrono::seconds(300));
    EXPECT_EQ(r.spec.env.at("CRATER_MODEL_PARAMETERS"), "8000000000");
    EXPECT_EQ(r.spec.env.at("CRATER_DATASET_BYTES"), "120000000000");
    EXPECT_EQ(r.spec.env.at("CRATER_STAGE"), "lora");  // the document's own env wins
}

TEST(Schedule, equal_documents_are_equal_and_others_are_not) {
    const std::string a = R"({"task_id":"t","command":["true"],"priority":"low"})";
    const std::string b = R"({ "priority":"low", "command":["true"], "task_id":"t" })";
    const std::string c = R"({"task_id":"t","command":["true"],"priority":"high"})";
    EXPECT_EQ(read_schedule(a, {})->canonical, read_schedule(b, {})->canonical);
    EXPECT_NE(read_schedule(a, {})->canonical, read_schedule(c, {})->canonical);
}

TEST(Schedule, fault_tolerance_is_preemptible) {
    const auto with = [](const char* sla) {
        return read_schedule(
            R"({"task_id":"t","command":["true"],"sla":{"fault_tolerance":)" + std::string(sla) + "}}", {});
    };
    EXPECT_EQ(with("\"preemptible\"")->spec.preemptible, true);
    EXPECT_EQ(with("\"none\"")->spec.preemptible, false);
    EXPECT_EQ(with("null")->spec.preemptible, std::nullopt);
}

TEST(Schedule, unknown_task_type_with_a_command_is_inferred_later) {
    const auto r = read_schedule(R"({"task_id":"t","task_type":"mining","command":["true"]})", {});
    ASSERT_TRUE(r) << r.error().text();
    EXPECT_EQ(r->spec.type, JobType::unset);
}

Result<Template> filled(std::vector<std::string> argv, const Json& document) {
    return fill({"", {std::move(argv)}, {}}, references_of(document), "x");
}

TEST(Template, arguments_of_a_list_stay_one_argument) {
    const auto out =
        filled({"train", "{{train_dataset}}", "--model={{ model_name }}", "{{data_config.train_dataset}}"},
               {{"data_config", {{"train_dataset", "s3://a b/$(rm -rf /)'; x"}}},
                {"modelConfig", {{"name", "{{task_id}}"}}},
                {"task_id", "t"}});
    ASSERT_TRUE(out) << out.error().text();
    EXPECT_EQ(out->command.argv[1], "s3://a b/$(rm -rf /)'; x");
    EXPECT_EQ(out->command.argv[2], "--model={{task_id}}");  // a value is not searched again
    EXPECT_EQ(out->command.argv[3], out->command.argv[1]);
}

TEST(Template, words_for_a_shell_are_quoted) {
    const Json evil{{"data_config", {{"train_dataset", "it's $(reboot); `x`"}}}};
    const auto out = filled({"/bin/sh", "-c", "exec train --data={{train_dataset}} --n \"$N\""}, evil);
    ASSERT_TRUE(out) << out.error().text();
    EXPECT_EQ(out->command.argv[2], R"(exec train --data='it'\''s $(reboot); `x`' --n "$N")");
    const Json plain{{"data_config", {{"train_dataset", "s3://bucket/train/"}}}};
    EXPECT_EQ(filled({"bash", "-lc", "cat \"{{train_dataset}}\""}, plain)->command.argv[2],
              "cat \"s3://bucket/train/\"");
}

TEST(Template, refuses_what_cannot_be_quoted) {
    const Json evil{{"data_config", {{"train_dataset", "a b"}}}};
    for (const char* text :
         {"cat \"{{train_dataset}}\"", "cat '{{train_dataset}}'", "echo $(cat {{train_dataset}})",
          "echo `cat {{train_dataset}}`", "cat <<X\n{{train_dataset}}\nX", "eval cat {{train_dataset}}",
          "# don't\ncat {{train_dataset}}", "echo $'it\\'s' {{train_dataset}}", "echo \\{{train_dataset}}",
          "ssh host cat {{train_dataset}}", "echo \"${X:-\"} {{train_dataset}}"}) {
        const auto out = filled({"/bin/sh", "-c", text}, evil);
        if (out) {
            ADD_FAILURE() << text << " -> " << out->command.argv[2];
        } else {
            EXPECT_EQ(out.error().field, "train_dataset");
        }
    }
}

TEST(Template, refuses_a_field_that_the_document_lacks) {
    const auto r = read_schedule(R"({"task_id":"t","task_type":"training"})",
                                 {{"training", {"", {{"train", "{{train_dataset}}"}}, {}}}});
    ASSERT_FALSE(r);
    EXPECT_EQ(r.error().field, "train_dataset");
    EXPECT_EQ(r.error().code, Code::invalid);
}

TEST(Template, braces_that_are_no_reference_stay) {
    const auto out = filled({"python3", "-c", "print(f'{{x + 1}} {{')"}, Json::object());
    ASSERT_TRUE(out) << out.error().text();
    EXPECT_EQ(out->command.argv[2], "print(f'{{x + 1}} {{')");
}

}  // namespace
}  // namespace crater::api
