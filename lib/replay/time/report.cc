#include "crater/replay/report.h"

#include "report_page.h"

namespace crater::replay {

std::string report_page(const std::string& json) {
    // Within a script element only this could end it.
    std::string safe;
    for (const char c : json) safe += c == '<' ? std::string("\\u003c") : std::string(1, c);
    return std::string(report_before) + safe + std::string(report_after);
}

}  // namespace crater::replay
