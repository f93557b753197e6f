#include <algorithm>
#include <array>

#include "crater/model/resources.h"

namespace crater {
namespace {

// "NVIDIA A100-PCIE-40GB" -> nvidia a100 pcie 40gb
std::vector<std::string> words_of(std::string_view name) {
    std::vector<std::string> words(1);
    for (char c : name) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        const bool part = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.';
        if (part)
            words.back() += c;
        else if (!words.back().empty())
            words.emplace_back();
    }
    if (words.back().empty()) words.pop_back();
    return words;
}

// Words before the family that people leave out at will.
bool is_brand(const std::string& word) {
    static constexpr std::array<std::string_view, 11> brands = {"nvidia", "tesla",     "geforce", "quadro",
                                                                "amd",    "instinct",  "radeon",  "huawei",
                                                                "hygon",  "cambricon", "intel"};
    return std::find(brands.begin(), brands.end(), word) != brands.end();
}
bool is_line(const std::string& word) {
    return word == "rtx" || word == "gtx" || word == "ascend" || word == "mlu";
}

std::size_t family_at(const std::vector<std::string>& words) {
    std::size_t at = 0;
    while (at < words.size() && is_brand(words[at])) ++at;
    return at;
}

bool answers_to(const std::vector<std::string>& have, const std::vector<std::string>& want) {
    const auto has = [&](const std::string& word) {
        return std::find(have.begin(), have.end(), word) != have.end();
    };

    std::size_t h = family_at(have);
    const std::size_t w = family_at(want);
    if (w == want.size()) return std::all_of(want.begin(), want.end(), has);  // "nvidia" alone
    if (h == have.size()) return false;
    if (have[h] != want[w] && is_line(have[h]) && !is_line(want[w])) ++h;  // "4090" for "rtx-4090"
    if (h == have.size() || have[h] != want[w]) return false;
    return std::all_of(want.begin() + static_cast<std::ptrdiff_t>(w), want.end(), has);
}

}  // namespace

bool model_matches(std::string_view card, std::string_view wanted) {
    const auto have = words_of(card);
    bool any = true;  // until a name is given
    for (std::size_t from = 0; from <= wanted.size();) {
        const auto bar = std::min(wanted.find('|', from), wanted.size());
        const auto want = words_of(wanted.substr(from, bar - from));
        if (!want.empty()) {
            if (answers_to(have, want)) return true;
            any = false;
        }
        from = bar + 1;
    }
    return any;
}

}  // namespace crater
