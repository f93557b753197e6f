#include <charconv>

#include "crater/base/ids.h"
#include "crater/model/tenant.h"

namespace crater {
namespace {

constexpr double weight_max = 100;

}  // namespace

Result<void> from_text(std::string_view text, PluginUse& out) {
    const auto equals = text.find('=');
    PluginUse use{.name = std::string(text.substr(0, equals))};
    CRATER_TRY_VOID(check_id(use.name, "name"));
    if (equals != std::string_view::npos) {
        CRATER_TRY(weight, parse_number(text.substr(equals + 1)));
        if (!(weight >= 0 && weight <= weight_max))
            return fail(Code::invalid, "the weight in " + shown(text) + " is not between 0 and 100");
        use.weight = weight;
    }
    out = std::move(use);
    return {};
}

std::string to_text(const PluginUse& use) {
    if (use.weight == 1) return use.name;
    // The shortest text that reads back as the same number: what is stored hashes like what was set.
    char weight[400];
    const auto end = std::to_chars(weight, weight + sizeof weight, use.weight, std::chars_format::fixed).ptr;
    return use.name + "=" + std::string(weight, end);
}

}  // namespace crater
