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
    most_ = needs_.empty() ? INT64_MIN : needs_.back();
    for (shift_ = 0; !needs_.empty() && most_ >> shift_ >= static_cast<std::int64_t>(steps);) ++shift_;
    for (std::size_t step = 0; step < steps; ++step)
        first_[step] = static_cast<std::uint16_t>(
            std::upper_bound(needs_.begin(), needs_.end(), static_cast<std::int64_t>(step) << shift_) -
            needs_.begin());

    // A seat nobody has taken needs nothing: it is in every set.
    met_.assign(needs_.size() + 1, SeatSet::all());
    at_.assign(needs.size(), 0);
    nodes_.assign(needs_.size() + 1, 0);
    blocks_.assign(needs_.size() / block + 1, 0);
    for (std::size_t seat = 0; seat < needs.size(); ++seat) {
        if (needs[seat] <= 0) continue;
        at_[seat] = static_cast<std::uint16_t>(std::upper_bound(needs_.begin(), needs_.end(), needs[seat]) -
                                               needs_.begin());
        for (std::size_t i = 0; i < at_[seat]; ++i) met_[i].remove(seat);
    }
}

int Thresholds::nodes_short(std::size_t seat) const {
    const std::size_t end = at_[seat], whole = end / block;
    int out = 0;
    for (std::size_t b = 0; b < whole; ++b) out += blocks_[b];
    for (std::size_t i = whole * block; i < end; ++i) out += nodes_[i];
    return out;
}

}  // namespace crater::engine
