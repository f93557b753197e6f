// What was wrong once and is played again before anything else. A text file, a line each:
//
//     4711                   cancelled twice while its node was lost       a seed, as it is drawn now
//     cancel_of_lost.yaml    the same, made small                          a scenario beside the file
//
// A scenario keeps its meaning when the drawing of seeds changes; empty lines and what follows a # say
// nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crater/base/error.h"

namespace crater::sim {

struct Regression {
    std::optional<std::uint64_t> seed;
    std::string file;  // or this
    std::string what;
};
// Errors name the line.
Result<std::vector<Regression>> read_regressions(std::string_view text);

}  // namespace crater::sim
