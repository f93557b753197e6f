// The segments of a route's path.
#pragma once

#include <string>
#include <string_view>

namespace crater::wire {

inline bool is_rest(std::string_view segment) { return segment.starts_with('{') && segment.ends_with("*}"); }
inline bool is_parameter(std::string_view segment) {
    return segment.starts_with('{') && segment.ends_with('}');
}
inline std::string parameter_name(std::string_view segment) {
    return std::string(segment.substr(1, segment.size() - (is_rest(segment) ? 3 : 2)));
}

}  // namespace crater::wire
