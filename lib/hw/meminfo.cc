#include "meminfo.h"

namespace crater::hw {

MemoryFacts read_memory(const Tree& tree) {
    MemoryFacts facts;
    const std::string text = tree.text("/proc/meminfo");
    for (auto line : words(text, "\n")) {  // "MemTotal:       24684084 kB"
        const auto parts = words(line);
        if (parts.size() < 2) continue;
        const Bytes value(whole_number(parts[1]).value_or(0) * 1024);
        if (parts[0] == "MemTotal:") facts.total = value;
        if (parts[0] == "MemAvailable:") facts.available = value;
        if (parts[0] == "SwapTotal:") facts.swap_total = value;
        if (parts[0] == "SwapFree:") facts.swap_free = value;
    }
    return facts;
}

}  // namespace crater::hw
