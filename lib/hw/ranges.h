// "gpu-{01..04}" -> gpu-01, gpu-02, gpu-03, gpu-04; several ranges in one name multiply.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "crater/base/error.h"

namespace crater::hw {

// The first bound's leading zeros give the width. `field` names the text in errors.
Result<std::vector<std::string>> expand_ranges(std::string_view text, std::size_t names_max,
                                               std::string_view field);

}  // namespace crater::hw
