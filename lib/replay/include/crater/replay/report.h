// The figures of runs as one page to look at: no server, no network, nothing else to load.
#pragma once

#include <string>

namespace crater::replay {

// `json`: what `crater simulate --output json` prints.
std::string report_page(const std::string& json);

}  // namespace crater::replay
