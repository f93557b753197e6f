#include <charconv>

#include "crater/model/job.h"

namespace crater {
namespace {

struct NamedPriority {
    std::string_view name;
    int value;
};
constexpr NamedPriority named_priorities[] = {
    {"low", 100}, {"medium", 500}, {"high", 700}, {"critical", 900}};

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}

}  // namespace

Result<void> from_text(std::string_view text, Priority& out) {
    if (text.empty()) return out = {}, Result<void>{};
    const std::string word = lower(text);
    for (const auto& named : named_priorities)
        if (word == named.name) return out.value = named.value, Result<void>{};
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < 0 || value > 1000)
        return fail(Code::invalid, "'" + std::string(text) + "' is not a priority", {},
                    "low, medium, high, critical, or a whole number from 0 to 1000");
    out.value = value;
    return {};
}

std::string to_text(const Priority& priority) {
    if (priority.value < 0) return {};
    for (const auto& named : named_priorities)
        if (priority.value == named.value) return std::string(named.name);
    return std::to_string(priority.value);
}

}  // namespace crater
