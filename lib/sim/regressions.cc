#include "crater/sim/regressions.h"

#include <algorithm>
#include <charconv>
#include <sstream>

namespace crater::sim {
namespace {

Result<Regression> read_line(const std::string& line) {
    std::istringstream words(line);
    std::string first;
    Regression out;
    words >> first;
    std::getline(words >> std::ws, out.what);
    if (first.ends_with(".yaml")) {
        out.file = first;
    } else {
        std::uint64_t seed = 0;
        const auto end = first.data() + first.size();
        if (const auto read = std::from_chars(first.data(), end, seed);
            read.ec != std::errc() || read.ptr != end)
            return fail(Code::invalid, first + " is neither a seed nor a file that ends in .yaml");
        out.seed = seed;
    }
    if (out.what.empty()) return fail(Code::invalid, "what was wrong is not said");
    return out;
}

}  // namespace

Result<std::vector<Regression>> read_regressions(std::string_view text) {
    std::vector<Regression> out;
    std::istringstream lines{std::string(text)};
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
        line.resize(std::min(line.size(), line.find('#')));
        if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
        auto read = read_line(line);
        if (!read) return fail(Code::invalid, read.error().text(), "line " + std::to_string(number));
        out.push_back(std::move(*read));
    }
    return out;
}

}  // namespace crater::sim
