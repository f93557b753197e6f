#include "price/groups.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>
#include <unordered_map>

#include "price/regret.h"

namespace crater::engine::price {
namespace {

constexpr std::int64_t rounding_least = 500, rounding_most = 16 * rounding_least;  // thousandths of a core

struct Key {
    int cls, rows;
    std::array<float, companions> amounts;
    bool operator==(const Key&) const = default;
};
struct KeyHash {
    std::size_t operator()(const Key& key) const {
        std::uint64_t out = static_cast<std::uint64_t>(key.rows) << 8 ^ static_cast<std::uint64_t>(key.cls);
        for (const float amount : key.amounts) {
            std::uint32_t bits = 0;
            std::memcpy(&bits, &amount, sizeof bits);
            out = (out ^ bits) * 0x9e3779b97f4a7c15;
            out ^= out >> 32;
        }
        return out;
    }
};

}  // namespace

void Grouping::add(std::span<const Nodes> nodes, double weight) {
    std::vector<std::int16_t> rows;
    for (const auto& [free, count] : nodes) {
        rows.clear();
        int idle = 0;
        for (const int left : free.cards) {
            if (left >= whole_card) ++idle;
            if (left > 0 && left < whole_card) rows.push_back(static_cast<std::int16_t>(part_row(left)));
        }
        std::sort(rows.begin(), rows.end());
        if (idle > 0) rows.push_back(static_cast<std::int16_t>(idle_row + idle));
        const auto known = rows_.try_emplace(rows, static_cast<int>(rows_.size())).first;
        members_.push_back(
            {free.type < 0 ? 0 : classes_.of(free.type), &*known, free.amounts, weight * count});
    }
}

// False when there are more.
bool Grouping::collect(std::vector<Group>& out, std::int64_t rounding, std::size_t most) const {
    std::array<std::int64_t, companions> step{};
    for (const int i : scarce_) {
        const auto at = static_cast<std::size_t>(i);
        if (scale_[at] <= 0) continue;  // the cluster has none of it
        const double coarse = static_cast<double>(rounding) * scale_[cpu] / scale_[at];
        step[at] = std::max<std::int64_t>(1, std::llround(coarse));
    }
    std::unordered_map<Key, std::size_t, KeyHash> known;  // never walked
    known.reserve(std::min(most, members_.size()) + 1);
    out.clear();
    for (const Member& member : members_) {
        Key key{member.cls, member.rows->second, {}};
        for (std::size_t i = 0; i < step.size(); ++i)
            if (step[i] > 0) key.amounts[i] = scaled(member.amounts[i] / step[i] * step[i], scale_[i]);
        const auto [found, fresh] = known.try_emplace(key, out.size());
        if (fresh) {
            if (out.size() == most) return false;
            out.push_back({member.cls, 0, key.amounts, member.rows->first});
        }
        out[found->second].count += member.count;
    }
    return true;
}

std::vector<Group> Grouping::groups(std::size_t most) const {
    std::vector<Group> out;
    auto rounding = rounding_least;
    while (!collect(out, rounding, rounding < rounding_most ? most : std::numeric_limits<std::size_t>::max()))
        rounding *= 2;
    std::sort(out.begin(), out.end(), [](const Group& a, const Group& b) {
        return std::tie(a.cls, a.amounts, a.rows) < std::tie(b.cls, b.amounts, b.rows);
    });
    return out;
}

}  // namespace crater::engine::price
