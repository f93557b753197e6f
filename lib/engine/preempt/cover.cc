#include "preempt/cover.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace crater::engine {
namespace {

// What the best set known that holds so many cards comes to; -1: there is none.
struct Sum {
    std::int64_t cost = -1, count = 0;
    Instant started{INT64_MAX};
    bool operator<(const Sum& o) const {
        return std::tie(cost, count, o.started) < std::tie(o.cost, o.count, started);
    }
};

// Nobody above the lowest priority up to which all together hold enough needs to be asked.
bool keep_lowest(std::vector<Leaver>& leavers, std::int64_t wanted) {
    std::map<int, std::int64_t> cards;
    for (const Leaver& one : leavers) cards[one.priority] += one.cards;
    std::int64_t sum = 0;
    for (const auto& [priority, held] : cards) {
        if ((sum += held) < wanted) continue;
        std::erase_if(leavers, [top = priority](const Leaver& one) { return one.priority > top; });
        return true;
    }
    return false;
}

// Of those that hold equally many the best are taken first: no more of them can matter than would be enough
// alone.
void keep_best(std::vector<Leaver>& leavers, std::int64_t wanted) {
    std::stable_sort(leavers.begin(), leavers.end(), [](const Leaver& a, const Leaver& b) {
        return std::tie(a.cards, a.cost, b.started) < std::tie(b.cards, b.cost, a.started);
    });
    std::int64_t alike = 0, before = 0;
    std::erase_if(leavers, [&](const Leaver& one) {
        if (one.cards != before) before = one.cards, alike = 0;
        return one.cards == 0 || alike++ * one.cards >= wanted;
    });
}

}  // namespace

std::optional<std::vector<int>> cheapest_cover(std::vector<Leaver> leavers, std::int64_t wanted) {
    for (Leaver& one : leavers) one.cards = std::clamp<std::int64_t>(one.cards, 0, wanted);
    if (!keep_lowest(leavers, wanted)) return std::nullopt;
    keep_best(leavers, wanted);
    const auto all = static_cast<std::size_t>(wanted);
    std::vector<Sum> best(all + 1);  // by how many cards, at least
    best[0].cost = 0;
    std::vector<std::vector<bool>> taken;  // by leaver, by cards
    for (const Leaver& one : leavers) {
        auto& here = taken.emplace_back(all + 1, false);
        for (auto cards = all; cards > 0; --cards) {
            const Sum& rest = best[cards - std::min(cards, static_cast<std::size_t>(one.cards))];
            if (rest.cost < 0) continue;
            const Sum with{rest.cost + one.cost, rest.count + 1, std::min(rest.started, one.started)};
            if (best[cards].cost >= 0 && !(with < best[cards])) continue;
            best[cards] = with;
            here[cards] = true;
        }
    }
    std::vector<int> out;
    auto cards = all;
    for (auto i = leavers.size(); i-- > 0 && cards > 0;) {
        if (!taken[i][cards]) continue;
        out.push_back(leavers[i].job);
        cards -= std::min(cards, static_cast<std::size_t>(leavers[i].cards));
    }
    return out;
}

}  // namespace crater::engine
