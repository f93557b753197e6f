// The kind of work from what the user starts: words of the command decide, then words of the image.
#include <array>

#include "crater/engine/engine.h"

namespace crater::engine {
namespace {

struct Sign {
    std::string_view word;  // a trailing * matches any ending
    JobType type;
};
// Order matters: the first sign found in the table decides, not the first word of the command.
constexpr Sign signs[] = {
    {"torchrun", JobType::training},
    {"deepspeed", JobType::training},
    {"accelerate", JobType::training},
    {"horovodrun", JobType::training},
    {"finetun*", JobType::training},
    {"pretrain*", JobType::training},
    {"vllm", JobType::inference},
    {"sglang", JobType::inference},
    {"tritonserver", JobType::inference},
    {"tgi", JobType::inference},
    {"torchserve", JobType::inference},
    {"uvicorn", JobType::inference},
    {"gunicorn", JobType::inference},
    {"hypercorn", JobType::inference},
    {"ollama", JobType::inference},
    {"trtllm", JobType::inference},
    {"serve", JobType::inference},
    {"serving", JobType::inference},
    {"infer*", JobType::inference},
    {"train*", JobType::training},
    {"sft", JobType::training},
    {"rlhf", JobType::training},
    {"lora", JobType::training},
    {"llamafactory", JobType::training},
    {"jupyter*", JobType::interactive},
    {"notebook", JobType::interactive},
    {"tensorboard", JobType::interactive},
};

bool matches(std::string_view word, std::string_view sign) {
    if (sign.ends_with('*')) return word.starts_with(sign.substr(0, sign.size() - 1));
    return word == sign;
}

void add_words(std::string_view text, std::vector<std::string>& out) {
    std::string word;
    for (char c : text) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
            word += c;
        else if (!word.empty())
            out.push_back(std::move(word)), word.clear();
    }
    if (!word.empty()) out.push_back(std::move(word));
}

JobType sign_in(const std::vector<std::string>& words) {
    for (const auto& sign : signs)
        for (const auto& word : words)
            if (matches(word, sign.word)) return sign.type;
    return JobType::unset;
}

}  // namespace

JobType infer_type(const JobSpec& spec) {
    if (spec.type != JobType::unset) return spec.type;
    std::vector<std::string> words;
    for (const auto& part : spec.command.argv) add_words(part, words);
    if (const auto type = sign_in(words); type != JobType::unset) return type;
    words.clear();
    add_words(spec.image, words);
    if (const auto type = sign_in(words); type != JobType::unset) return type;
    return JobType::batch;
}

}  // namespace crater::engine
