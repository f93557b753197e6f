#include "ranges.h"

#include "crater/base/ids.h"
#include "tree.h"

namespace crater::hw {

Result<std::vector<std::string>> expand_ranges(std::string_view text, std::size_t names_max,
                                               std::string_view field) {
    const auto wrong = [&] {
        return fail(Code::invalid, shown(text) + " holds a malformed range; allowed: {1..8}, {01..64}",
                    std::string(field));
    };
    const auto open = text.find('{');
    if (open == std::string_view::npos) return std::vector<std::string>{std::string(text)};
    const auto close = text.find('}', open), dots = text.find("..", open);
    if (close == std::string_view::npos || dots == std::string_view::npos || dots > close) return wrong();
    const auto low = text.substr(open + 1, dots - open - 1), high = text.substr(dots + 2, close - dots - 2);
    const auto first = whole_number(low), last = whole_number(high);
    if (!first || !last || *first < 0 || *last < *first) return wrong();

    CRATER_TRY(tails, expand_ranges(text.substr(close + 1), names_max, field));
    const auto count = static_cast<std::size_t>(*last - *first) + 1;
    if (count > names_max / tails.size())
        return fail(Code::too_large, shown(text) + " names more than " + std::to_string(names_max) + " nodes",
                    std::string(field));
    std::vector<std::string> names;
    for (auto number = *first; number <= *last; ++number) {
        std::string digits = std::to_string(number);
        if (low.starts_with('0') && digits.size() < low.size())
            digits.insert(0, low.size() - digits.size(), '0');
        for (const auto& tail : tails) names.push_back(std::string(text.substr(0, open)) + digits + tail);
    }
    return names;
}

}  // namespace crater::hw
