// Whatever is sent, the answer is a job or an error that says something: documents with random damage never
// end the process.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "crater/api/documents.h"
#include "crater/base/clock.h"
#include "crater/codec/codec.h"

namespace crater::api {
namespace {

std::vector<std::string> seeds() {
    std::vector<std::string> out;
    for (const char* kind : {"job", "schedule"})
        for (const auto& entry :
             std::filesystem::directory_iterator(std::string(CRATER_DOCUMENTS "/") + kind)) {
            std::stringstream text;
            text << std::ifstream(entry.path()).rdbuf();
            out.push_back(text.str());
        }
    std::sort(out.begin(), out.end());
    return out;
}

std::string damaged(std::string text, Rng& rng) {
    static constexpr std::string_view bits[] = {
        "-",   "\"",      "{",    "}", "[",   "]", ",",  ":",    "null", "1e308", "9223372036854775807",
        "0.1", "\\u0000", "\xff", ".", "NaN", " ", "\n", "true", "_gb",  "Gi"};
    for (std::uint64_t n = 1 + rng.below(4); n > 0 && !text.empty(); --n) {
        const std::size_t at = rng.below(text.size()),
                          length = std::min<std::size_t>(rng.below(12), text.size() - at);
        switch (rng.below(4)) {
            case 0: text.erase(at, length); break;
            case 1: text.insert(at, bits[rng.below(std::size(bits))]); break;
            case 2: text.replace(at, length, bits[rng.below(std::size(bits))]); break;
            default: text.insert(at, text.substr(rng.below(text.size()), rng.below(40))); break;
        }
    }
    return text;
}

template <class T>
void expect_answer(const Result<T>& answer, const std::string& text) {
    if (answer) return;
    EXPECT_FALSE(answer.error().message.empty()) << text;
    EXPECT_TRUE(answer.error().code == Code::invalid || answer.error().code == Code::too_large)
        << answer.error().text();
}

TEST(Damaged, documents_are_answered) {
    SeededRng rng(20240520);
    const auto documents = seeds();
    const Templates templates{{"llm_finetune", {"", {{"/bin/sh", "-c", "train {{train_dataset}}"}}, {}}}};
    for (int i = 0; i < 4000; ++i) {
        const std::string text = damaged(documents[rng.below(documents.size())], rng);
        expect_answer(read_job_file(text, "/base"), text);
        expect_answer(read_schedule(text, templates), text);
        if (const auto tree = codec::parse_json(text)) expect_answer(read_job(*tree), text);
    }
}

TEST(Damaged, a_key_of_any_length_is_named_in_short) {
    for (const char filling : {'.', 'k', '[', '9'}) {
        std::string text = R"({"task_id":"t","command":["true"],"a[)";
        text.append(500'000, filling).append(R"(":{"a":1}})");
        const auto answer = read_schedule(text, {});
        ASSERT_FALSE(answer);
        EXPECT_LT(answer.error().text().size(), 2000u);
    }
}

}  // namespace
}  // namespace crater::api
