// Amounts and lists as people read them: "16 GiB", "1.5 cores", "2 cards".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "crater/base/quantity.h"

namespace crater::engine {

std::string mib_words(std::int64_t mib);
// "36 GiB", "38.1 GiB": to be read, not to be compared
std::string gib_words(std::int64_t mib);
std::string used_words(std::int64_t used, std::int64_t of_mib);  // "38.1 of 40 GiB"
std::string bytes_words(std::int64_t bytes);
std::string core_words(std::int64_t millicores);
std::string card_words(std::int64_t milligpu);
std::string rate_words(std::int64_t bytes_per_second);
std::string count_words(std::int64_t count, std::string_view one, std::string_view many);
std::string time_words(Millis span);  // "3 min", "2 h 5 min"

}  // namespace crater::engine
