#include "crater/sim/coverage.h"

#include <fmt/format.h>

namespace crater::sim {

std::uint64_t Coverage::count(Fault fault, State state) const {
    const auto it = counts_.find({fault, state});
    return it == counts_.end() ? 0 : it->second;
}

void Coverage::add(const Coverage& other) {
    for (const auto& [pair, count] : other.counts_) counts_[pair] += count;
}

std::vector<Coverage::Pair> Coverage::all() {
    std::vector<Pair> out;
    for (const FaultRow& fault : fault_table())
        for (const StateRow& state : state_table()) out.emplace_back(fault.fault, state.state);
    return out;
}

std::vector<Coverage::Pair> Coverage::missing() const {
    std::vector<Pair> out = all();
    std::erase_if(out, [this](const Pair& pair) { return counts_.contains(pair); });
    return out;
}

std::string Coverage::table() const {
    std::string out = fmt::format("{:24}", "");
    for (const StateRow& state : state_table()) out += fmt::format(" {:>10}", state.name);
    for (const FaultRow& fault : fault_table()) {
        out += fmt::format("\n{:24}", fault.name);
        for (const StateRow& state : state_table())
            out += fmt::format(" {:>10}", count(fault.fault, state.state));
    }
    return out + "\n";
}

}  // namespace crater::sim
