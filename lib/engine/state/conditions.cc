// What operators say of nodes: taints, and when they are under maintenance.
#include <algorithm>
#include <bit>

#include "state/cluster.h"

namespace crater::engine {
namespace {

int shift_of(std::int64_t minutes) {
    return std::max(0, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(minutes))) - 3);
}

std::int64_t open_for(const std::vector<Maintenance>& windows, Instant now) {
    std::int64_t least = INT64_MAX;
    for (const auto& window : windows) {
        if (window.end <= now) continue;
        if (window.start <= now) return Node::closed;
        least = std::min(least, minutes_down(window.start - now));
    }
    return least;
}

}  // namespace

std::int64_t minutes_up(Millis span) {
    const std::int64_t minutes = (std::max<std::int64_t>(0, span.count()) + 59'999) / 60'000;
    const int shift = shift_of(minutes);
    return (minutes + (std::int64_t{1} << shift) - 1) >> shift << shift;
}

std::int64_t minutes_down(Millis span) {
    const std::int64_t minutes = std::max<std::int64_t>(0, span.count()) / 60'000;
    const int shift = shift_of(minutes);
    return minutes >> shift << shift;
}

void Cluster::set_taints(int n, std::vector<Taint> taints) {
    Node& node = at(n);
    if (node.taints == taints) return;
    node.taints = std::move(taints);
    ++node.hardware_version;
    touch(n);
}

void Cluster::set_windows(int n, std::vector<Maintenance> windows, Instant now) {
    Node& node = at(n);
    if (node.windows == windows) return;
    std::sort(windows.begin(), windows.end(),
              [](const Maintenance& a, const Maintenance& b) { return a.start < b.start; });
    node.windows = std::move(windows);
    node.open_for = open_for(node.windows, now);
    std::erase(maintained_, n);
    if (!node.windows.empty())
        maintained_.insert(std::lower_bound(maintained_.begin(), maintained_.end(), n), n);
    touch(n);
}

std::vector<int> Cluster::advance(Instant now) {
    std::vector<int> opened;
    for (const int n : maintained_) {
        Node& node = at(n);
        const auto before = node.open_for;
        node.open_for = open_for(node.windows, now);
        if (node.open_for == before) continue;
        touch(n);
        if (node.open_for > before) opened.push_back(n);
    }
    return opened;
}

std::optional<Instant> Cluster::next_opening(Instant now) const {
    std::optional<Instant> next;
    for (const int n : maintained_)
        for (const auto& window : node(n).windows)
            if (window.end > now && (!next || window.end < *next)) next = window.end;
    return next;
}

}  // namespace crater::engine
