// Victims for a gang, or for all tasks of a job that wait. What a node holds depends on who leaves that node
// and on nobody else, so that rooms are kept by node and set of leavers, and a set is judged by adding up.
// The best set is found exactly where few could leave; where many could, by the best mix of what single nodes
// offer.
#include "preempt/gang_victims.h"

#include <algorithm>
#include <tuple>

namespace crater::engine {
namespace {

constexpr std::size_t exact_most = 20;  // candidates of which all sets are considered
constexpr int exact_steps = 200'000;    // at most
constexpr std::size_t local_most = 6;   // of one node, likewise
// jobs on several nodes that are tried as the one that leaves first
constexpr std::size_t wide_tried = 16;

}  // namespace

void GangVictims::add_site(int node, int area, std::int64_t room) {
    sites_.push_back({node, area, {}, 0, room, {}});
    total_ += room;
    if (area >= 0) {
        if (sums_.size() <= static_cast<std::size_t>(area)) sums_.resize(static_cast<std::size_t>(area) + 1);
        sums_[static_cast<std::size_t>(area)] += room;
    }
}

void GangVictims::add_victim(const Victim& victim, const std::vector<int>& sites) {
    const int v = static_cast<int>(victims_.size());
    victims_.push_back(victim);
    victims_.back().sites.clear();
    for (const int s : sites) {
        Site& site = sites_[static_cast<std::size_t>(s)];
        if (site.local.size() == 64) continue;  // more than that share no node: the rest stays
        victims_.back().sites.emplace_back(s, static_cast<int>(site.local.size()));
        site.local.push_back(v);
    }
    gone_.push_back(false);
}

std::int64_t GangVictims::room_of(int s, std::uint64_t mask) {
    Site& site = sites_[static_cast<std::size_t>(s)];
    if (mask == 0) return site.room_full;
    const auto [it, fresh] = site.rooms.emplace(mask, 0);
    if (fresh) {
        std::vector<int> jobs;
        for (std::size_t i = 0; i < site.local.size(); ++i)
            if (mask >> i & 1) jobs.push_back(victims_[static_cast<std::size_t>(site.local[i])].job);
        it->second = measure_(site.node, jobs);
    }
    return it->second;
}

void GangVictims::turn(int v) {
    gone_[static_cast<std::size_t>(v)] = !gone_[static_cast<std::size_t>(v)];
    for (const auto& [s, bit] : victims_[static_cast<std::size_t>(v)].sites) {
        Site& site = sites_[static_cast<std::size_t>(s)];
        const auto before = room_of(s, site.mask);
        site.mask ^= 1ULL << bit;
        const auto change = room_of(s, site.mask) - before;
        total_ += change;
        if (site.area >= 0) sums_[static_cast<std::size_t>(site.area)] += change;
    }
}

bool GangVictims::enough() const {
    if (area_ == any_area) return total_ >= wanted_;
    return area_ >= 0 && static_cast<std::size_t>(area_) < sums_.size() &&
           sums_[static_cast<std::size_t>(area_)] >= wanted_;
}

bool GangVictims::better(const Figures& a, const Figures& b) {
    return std::tie(a.priority, a.cost, a.count, b.started) <
           std::tie(b.priority, b.cost, b.count, a.started);
}

GangVictims::Figures GangVictims::figures(const std::vector<int>& set) const {
    Figures out{0, 0, static_cast<std::int64_t>(set.size()), {INT64_MAX}};
    for (const int v : set) {
        const Victim& victim = victims_[static_cast<std::size_t>(v)];
        out.priority = std::max(out.priority, victim.priority);
        out.cost += victim.cost;
        out.started = std::min(out.started, victim.started);
    }
    return out;
}

void GangVictims::clear() {
    for (std::size_t v = 0; v < gone_.size(); ++v)
        if (gone_[v]) turn(static_cast<int>(v));
}

// Leaves out of a set that is enough who is not needed, the dearest first, and offers the rest.
void GangVictims::offer_trimmed(std::vector<int> set) {
    clear();
    for (const int v : set) turn(v);
    if (!enough()) return clear();
    std::sort(set.begin(), set.end(), [&](int a, int b) { return dearer(a, b); });
    std::vector<int> kept;
    for (const int v : set) {
        turn(v);
        if (enough()) continue;
        turn(v);
        kept.push_back(v);
    }
    clear();
    const Figures its = figures(kept);
    if (best_ && !better(its, best_figures_)) return;
    best_ = std::move(kept);
    best_figures_ = its;
}

bool GangVictims::dearer(int a, int b) const {
    const Victim &x = victims_[static_cast<std::size_t>(a)], &y = victims_[static_cast<std::size_t>(b)];
    return std::tie(x.priority, x.cost, a) > std::tie(y.priority, y.cost, b);
}

std::optional<std::vector<int>> GangVictims::search(std::int64_t wanted, bool by_area, int only_area) {
    wanted_ = wanted;
    const auto areas = by_area ? static_cast<int>(sums_.size()) : 1;
    for (int a = 0; a < areas; ++a) {
        if (by_area && only_area >= 0 && a != only_area) continue;
        area_ = by_area ? a : any_area;
        search_here();
    }
    if (!best_) return std::nullopt;
    std::vector<int> jobs;
    for (const int v : *best_) jobs.push_back(victims_[static_cast<std::size_t>(v)].job);
    return jobs;
}

void GangVictims::search_here() {
    // Who leaves no room behind, with all others of its nodes gone, cannot matter.
    std::vector<int> pool;
    for (std::size_t v = 0; v < victims_.size(); ++v)
        for (const auto& [s, bit] : victims_[v].sites) {
            const Site& site = sites_[static_cast<std::size_t>(s)];
            if (area_ != any_area && site.area != area_) continue;
            const auto all = site.local.size() == 64 ? ~0ULL : (1ULL << site.local.size()) - 1;
            if (room_of(s, all) == site.room_full) continue;
            pool.push_back(static_cast<int>(v));
            break;
        }
    std::sort(pool.begin(), pool.end(), [&](int a, int b) { return dearer(b, a); });
    // Nobody above the lowest priority up to which all together are enough needs to be asked.
    std::size_t size = 0;
    bool found = false;
    for (; size < pool.size() && !found; ++size) {
        turn(pool[size]);
        const auto priority = [&](std::size_t i) {
            return victims_[static_cast<std::size_t>(pool[i])].priority;
        };
        if (size + 1 == pool.size() || priority(size + 1) != priority(size)) found = enough();
    }
    clear();
    if (!found) return;
    pool.resize(size);
    top_ = victims_[static_cast<std::size_t>(pool.back())].priority;
    if (best_ && best_figures_.priority < top_) return;

    offer_trimmed(pool);
    if (pool.size() > exact_most) offer_mixes(pool);
    // Cheapest first until it is enough.
    std::vector<int> by_cost = pool, some;
    std::sort(by_cost.begin(), by_cost.end(), [&](int a, int b) {
        const Victim &x = victims_[static_cast<std::size_t>(a)], &y = victims_[static_cast<std::size_t>(b)];
        return std::tie(x.cost, a) < std::tie(y.cost, b);
    });
    for (const int v : by_cost) {
        turn(v);
        some.push_back(v);
        if (enough()) break;
    }
    offer_trimmed(some);
    if (pool.size() > exact_most) return;
    steps_ = exact_steps;
    some.clear();
    follow(by_cost, 0, some, {0, 0, 0, {INT64_MAX}});
    clear();
    // Not all were followed: then the best may hold one that is not needed.
    if (steps_ < 0) offer_trimmed(std::vector<int>(*best_));
}

// All sets, depth first: one that is enough is not extended, nor one followed that cannot become enough or
// that is no better than the best.
void GangVictims::follow(const std::vector<int>& pool, std::size_t from, std::vector<int>& chosen,
                         Figures so_far) {
    if (--steps_ < 0) return;
    if (enough()) {
        if (best_ && !better(so_far, best_figures_)) return;
        best_ = chosen;
        best_figures_ = so_far;
        return;
    }
    // With all that are left it has to be enough, else nothing below is.
    for (std::size_t i = from; i < pool.size(); ++i) turn(pool[i]);
    const bool possible = enough();
    for (std::size_t i = from; i < pool.size(); ++i) turn(pool[i]);
    if (!possible) return;
    for (std::size_t i = from; i < pool.size(); ++i) {
        const Victim& victim = victims_[static_cast<std::size_t>(pool[i])];
        const Figures next{std::max(so_far.priority, victim.priority), so_far.cost + victim.cost,
                           so_far.count + 1, std::min(so_far.started, victim.started)};
        // The pool goes by cost: what follows is no cheaper.
        if (best_ && std::tuple(top_, next.cost, next.count) >
                         std::tuple(best_figures_.priority, best_figures_.cost, best_figures_.count))
            break;
        turn(pool[i]);
        chosen.push_back(pool[i]);
        follow(pool, i + 1, chosen, next);
        chosen.pop_back();
        turn(pool[i]);
        // From here on without it: that has to be possible.
        for (std::size_t k = i + 1; k < pool.size(); ++k) turn(pool[k]);
        const bool without = enough();
        for (std::size_t k = i + 1; k < pool.size(); ++k) turn(pool[k]);
        if (!without) return;
    }
}

// What a node can offer: for each number of tasks more the cheapest of its jobs that leave as much room.
std::vector<GangVictims::Offer> GangVictims::offers_of(int s, const std::vector<bool>& in_pool) {
    Site& site = sites_[static_cast<std::size_t>(s)];
    std::vector<std::pair<std::int64_t, int>> local;  // cost, bit
    for (std::size_t i = 0; i < site.local.size(); ++i) {
        const auto v = static_cast<std::size_t>(site.local[i]);
        if (in_pool[v] && victims_[v].sites.size() == 1)
            local.emplace_back(victims_[v].cost, static_cast<int>(i));
    }
    std::sort(local.begin(), local.end());
    const auto now = room_of(s, site.mask);
    std::vector<Offer> out;
    const auto offer = [&](std::uint64_t more) {
        const auto gain = room_of(s, site.mask | more) - now;
        if (gain <= 0) return;
        Offer one{gain, 0, 0, more};
        for (const auto& [cost, bit] : local)
            if (more >> bit & 1) one.cost += cost, ++one.count;
        out.push_back(one);
    };
    if (local.size() <= local_most) {
        for (std::uint64_t bits = 1; bits < 1ULL << local.size(); ++bits) {
            std::uint64_t more = 0;
            for (std::size_t i = 0; i < local.size(); ++i)
                if (bits >> i & 1) more |= 1ULL << local[i].second;
            offer(more);
        }
    } else {
        // The cheapest so many; then without those of them that are not needed for it.
        std::uint64_t most = 0;
        for (std::size_t i = 0; i < local.size(); ++i) {
            most |= 1ULL << local[i].second;
            std::uint64_t kept = most;
            const auto room = room_of(s, site.mask | most);
            for (auto k = i + 1; k-- > 0;) {
                const auto less = kept & ~(1ULL << local[k].second);
                if (room_of(s, site.mask | less) >= room) kept = less;
            }
            offer(kept);
        }
    }
    // Only what gains more than all that is cheaper.
    std::sort(out.begin(), out.end(), [](const Offer& a, const Offer& b) {
        return std::tuple(a.cost, a.count, -a.gain, a.mask) < std::tuple(b.cost, b.count, -b.gain, b.mask);
    });
    std::int64_t most = 0;
    std::erase_if(out, [&](const Offer& one) {
        if (one.gain <= most) return true;
        most = one.gain;
        return false;
    });
    return out;
}

// The cheapest mix of offers of single nodes that is enough, beside who is gone already.
std::optional<std::vector<int>> GangVictims::cheapest_mix(const std::vector<bool>& in_pool) {
    const auto have = area_ == any_area ? total_ : sums_[static_cast<std::size_t>(area_)];
    const auto need = static_cast<std::size_t>(std::max<std::int64_t>(0, wanted_ - have));
    struct Best {
        std::int64_t cost = -1, count = 0;
    };
    std::vector<Best> best(need + 1);  // to gain so much at least
    best[0].cost = 0;
    std::vector<std::pair<int, std::vector<Offer>>> tables;
    std::vector<std::vector<std::int16_t>> taken;  // by table, by gain: which offer; -1 none
    for (std::size_t s = 0; s < sites_.size(); ++s) {
        if (sites_[s].local.empty() || (area_ != any_area && sites_[s].area != area_)) continue;
        auto offers = offers_of(static_cast<int>(s), in_pool);
        if (offers.empty()) continue;
        auto& from = taken.emplace_back(need + 1, std::int16_t{-1});
        for (auto gain = need; gain > 0; --gain)
            for (std::size_t o = 0; o < offers.size(); ++o) {
                const auto rest = gain - std::min(gain, static_cast<std::size_t>(offers[o].gain));
                if (best[rest].cost < 0) continue;
                const Best sum{best[rest].cost + offers[o].cost, best[rest].count + offers[o].count};
                if (best[gain].cost >= 0 &&
                    std::tie(sum.cost, sum.count) >= std::tie(best[gain].cost, best[gain].count))
                    continue;
                best[gain] = sum;
                from[gain] = static_cast<std::int16_t>(o);
            }
        tables.emplace_back(static_cast<int>(s), std::move(offers));
    }
    if (best[need].cost < 0) return std::nullopt;
    std::vector<int> set;
    auto gain = need;
    for (auto t = tables.size(); t-- > 0 && gain > 0;) {
        const auto o = taken[t][gain];
        if (o < 0) continue;
        const Offer& one = tables[t].second[static_cast<std::size_t>(o)];
        const Site& site = sites_[static_cast<std::size_t>(tables[t].first)];
        for (std::size_t i = 0; i < site.local.size(); ++i)
            if (one.mask >> i & 1) set.push_back(site.local[i]);
        gain -= std::min(gain, static_cast<std::size_t>(one.gain));
    }
    return set;
}

void GangVictims::offer_mixes(const std::vector<int>& pool) {
    std::vector<bool> in_pool(victims_.size(), false);
    std::vector<int> wide;
    for (const int v : pool) {
        in_pool[static_cast<std::size_t>(v)] = true;
        if (victims_[static_cast<std::size_t>(v)].sites.size() > 1) wide.push_back(v);
    }
    const auto offer = [&](std::vector<int> first) {
        auto set = cheapest_mix(in_pool);
        clear();
        if (!set) return;
        set->insert(set->end(), first.begin(), first.end());
        offer_trimmed(*std::move(set));
    };
    offer({});
    std::vector<int> leave;
    for (std::size_t i = 0; i < std::min(wide.size(), wide_tried); ++i) {
        turn(wide[i]);
        offer({wide[i]});
        // And with all wide ones that are cheaper.
        leave.push_back(wide[i]);
        if (leave.size() == 1) continue;
        for (const int v : leave) turn(v);
        offer(leave);
    }
}

}  // namespace crater::engine
