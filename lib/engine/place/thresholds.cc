#include "place/thresholds.h"

#include <algorithm>

namespace crater::engine {

SeatSet SeatSet::all() {
    SeatSet out;
    out.words.fill(~std::uint64_t{0});
    return out;
}

void Thresholds::build(std::span<const std::int64_t> needs) {
    needs_.clear();
    for (const auto need : needs)
        if (need > 0) needs_.push_back(need);
    std::sort(needs_.begin(), needs_.end());
    needs_.erase(std::unique(needs_.begin(), needs_.end()), needs_.end());

    // A seat nobody has taken needs nothing: it is in every set.
    met_.assign(needs_.size() + 1, SeatSet::all());
    at_.assign(needs.size(), 0);
    nodes_.assign(needs_.size() + 1, 0);
    for (std::size_t seat = 0; seat < needs.size(); ++seat) {
        if (needs[seat] <= 0) continue;
        at_[seat] = index(needs[seat]);
        for (std::size_t i = 0; i < at_[seat]; ++i) met_[i].remove(seat);
    }
}

std::uint16_t Thresholds::index(std::int64_t amount) const {
    // Branch-free: the sizes are small and the amounts have no pattern.
    const std::int64_t* first = needs_.data();
    std::size_t length = needs_.size();
    while (length > 0) {
        const std::size_t half = (length + 1) / 2;
        first += first[half - 1] <= amount ? half : 0;
        length -= half;
    }
    return static_cast<std::uint16_t>(first - needs_.data());
}

int Thresholds::nodes_short(std::size_t seat) const {
    int out = 0;
    for (std::size_t i = 0; i < at_[seat]; ++i) out += nodes_[i];
    return out;
}

}  // namespace crater::engine
