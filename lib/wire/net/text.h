// Text of URLs and headers. No Boost.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crater/base/error.h"
#include "crater/wire/http.h"

namespace crater::wire {

std::string lower(std::string_view text);
// "%2F" -> "/", and "+" -> " " when asked. None when a % is not followed by two hex digits.
std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_space = false);
// Fills path, raw_path and query from the target of a request line.
Result<void> read_target(std::string_view target, HttpRequest& out);
// The segments of "/a/b/": "a", "b", "".
std::vector<std::string_view> path_segments(std::string_view path);
// Appends "name: value\r\n"; control characters in the value become spaces.
void append_header(std::string& out, std::string_view name, std::string_view value);
// A name that may stand in a head.
bool is_token(std::string_view text);

}  // namespace crater::wire
