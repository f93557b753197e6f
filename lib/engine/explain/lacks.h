// What a node lacks for a shape, all of it: a set of filters.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "filter/filter.h"

namespace crater::engine {

// By their place in the order in which filters are asked, so that the lowest is the first that turns a node
// away.
using Lacks = std::uint64_t;
Lacks lack(std::string_view filter);
Lacks all_of(std::initializer_list<std::string_view> filters);
Lacks lacks_of(filter::Kind kind);
Lacks asked_by(const Shape& shape);
const filter::Filter& first_of(Lacks lacks);

}  // namespace crater::engine
