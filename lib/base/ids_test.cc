#include "crater/base/ids.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace crater {
namespace {

TEST(CheckId, follows_the_vocabulary) {
    for (const char* text : {"a", "train-llama3-8b-20240520-001", "llama-7b:3", "A.b_c:d-e", "-x", "_"})
        EXPECT_TRUE(check_id(text, "task_id")) << text;
    EXPECT_TRUE(check_id(std::string(128, 'x'), "f"));
    for (const std::string text : {"", ".hidden", "a/b", "a b", "ä", "a\n"})
        EXPECT_FALSE(check_id(text, "task_id")) << text;
    EXPECT_FALSE(check_id(std::string(129, 'x'), "f"));
    EXPECT_EQ(check_id("a b", "task_id").error().field, "task_id");
}

TEST(CheckName, is_printable_utf8_counted_in_characters) {
    EXPECT_TRUE(check_name("研究 / vision", "name"));
    std::string long_name;
    for (int i = 0; i < 128; ++i) long_name += "研";
    EXPECT_TRUE(check_name(long_name, "name"));
    EXPECT_FALSE(check_name(long_name + "x", "name"));
    for (const std::string& text :
         {std::string(), std::string("a\tb"), std::string("a\0b", 3), std::string("\x7f"),
          std::string("\xc2\x85"), std::string("\xff"), std::string("\xed\xa0\x80")})
        EXPECT_FALSE(check_name(text, "name"));
}

TEST(CheckTenant, joins_names_with_slashes) {
    for (const char* text : {"research", "research/vision", "a/b/c/d/e/f/g/h", "研究/视觉"})
        EXPECT_TRUE(check_tenant(text, "tenant")) << text;
    for (const char* text : {"", "/", "a/", "/a", "a//b", "a/b/c/d/e/f/g/h/i", "a/../b", "."})
        EXPECT_FALSE(check_tenant(text, "tenant")) << text;
}

TEST(Utf8, refuses_overlong_surrogates_and_cut_sequences) {
    EXPECT_TRUE(valid_utf8("a é 研 😀"));
    for (const char* text : {"\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80",
                             "\xe7\xa0", "\xf8\x88\x80\x80\x80"})
        EXPECT_FALSE(valid_utf8(text));
}

TEST(MakeId, is_valid_and_does_not_repeat) {
    SeededRng rng(1);
    std::set<std::string> seen;
    for (int i = 0; i < 10'000; ++i) {
        const std::string id = make_id("job", rng);
        EXPECT_EQ(id.size(), 16U);
        EXPECT_TRUE(check_id(id, ""));
        EXPECT_TRUE(seen.insert(id).second);
    }
}

TEST(MakeSecret, is_43_url_safe_characters) {
    SeededRng rng(1);
    const std::string secret = make_secret(rng);
    EXPECT_EQ(secret.size(), 43U);
    EXPECT_EQ(secret.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
              std::string::npos);
    EXPECT_NE(secret, make_secret(rng));
}

TEST(Nearest, finds_slips_and_nothing_far) {
    const std::vector<std::string> keys{"memory", "model", "count", "exclusive", "cpu"};
    EXPECT_EQ(nearest("memry", keys), "memory");
    EXPECT_EQ(nearest("mdoel", keys), "model");
    EXPECT_EQ(nearest("Count", keys), "count");
    EXPECT_EQ(nearest("gpu", keys), "cpu");
    EXPECT_EQ(nearest("bandwidth", keys), "");
    EXPECT_EQ(nearest("", keys), "");
    EXPECT_EQ(nearest(std::string(100'000, 'x'), keys), "");
    const std::array<std::string_view, 2> views{"strict", "none"};
    EXPECT_EQ(nearest("stric", views), "strict");
}

TEST(SnakeCase, reads_every_spelling) {
    const std::vector<std::pair<std::string, std::string>> cases{
        {"cpuLimitMultiplier", "cpu_limit_multiplier"},
        {"cpu-limit-multiplier", "cpu_limit_multiplier"},
        {"cpu_limit_multiplier", "cpu_limit_multiplier"},
        {"maxTasksPerGPU", "max_tasks_per_gpu"},
        {"GPUMemory", "gpu_memory"},
        {"memoryMiB", "memory_mib"},
        {"memoryMB", "memory_mb"},
        {"s3Bucket", "s3_bucket"},
        {"ncclCpuPriority", "nccl_cpu_priority"},
        {"w_gpu", "w_gpu"},
        {"p95", "p95"},
        {"GPUs", "gpus"},
        {"", ""}};
    for (const auto& [text, want] : cases) EXPECT_EQ(snake_case(text), want);
}

TEST(Hashes, are_the_published_ones) {
    EXPECT_EQ(hash64(""), 0xef46db3751d8e999);
    EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Shown, shows_nothing_unprintable_and_not_too_much) {
    EXPECT_EQ(shown("a\033[2J研\xff"), "\"a?[2J研?\"");
    EXPECT_LT(shown(std::string(10'000, 'x')).size(), 100U);
}

TEST(JsonString, escapes_and_repairs) {
    std::string out;
    append_json_string(out, std::string_view("a\"\\\n\0\x1b研\xff/", 11));
    EXPECT_EQ(out, "\"a\\\"\\\\\\n\\u0000\\u001b研\xef\xbf\xbd/\"");
}

}  // namespace
}  // namespace crater
