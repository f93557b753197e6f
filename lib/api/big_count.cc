#include <fmt/format.h>

#include <cmath>

#include "crater/base/ids.h"
#include "schedule_document.h"

namespace crater::api {

Result<void> from_text(std::string_view text, BigCount& out) {
    std::string_view number = text;
    double scale = 1;
    if (!number.empty()) {
        switch (number.back()) {
            case 'k':
            case 'K': scale = 1e3; break;
            case 'm':
            case 'M': scale = 1e6; break;
            case 'b':
            case 'B':
            case 'g':
            case 'G': scale = 1e9; break;
            case 't':
            case 'T': scale = 1e12; break;
            default: break;
        }
        if (scale != 1) number.remove_suffix(1);
    }
    const auto value = parse_number(number);
    if (!value || *value < 0 || *value * scale > 1e18)
        return fail(
            Code::invalid,
            shown(text) + " is not a count; a number from 0 to 1e18, K, M, B or T may follow it, as \"8B\"");
    out.value = std::round(*value * scale);
    return {};
}

std::string to_text(const BigCount& count) {
    return count.value > 0 ? fmt::format("{:.0f}", count.value) : std::string();
}

}  // namespace crater::api
