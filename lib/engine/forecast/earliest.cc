// When at the earliest a job that is blocked fits, and on which nodes. Sums of what is free after each end
// turn most nodes down; a few are then looked at as they will be, the earliest first.
#include <algorithm>
#include <bit>

#include "engine_impl.h"

namespace crater::engine {
namespace {

constexpr int nodes_tried = 64, times_tried = 16;

Instant end_after(Instant at, Millis length) { return length == Millis::max() ? never : at + length; }

// How many tasks fit by the sums, at most; never too few.
std::int64_t at_most(const Timeline::Row& row, const Shape& shape, const CardNeed* need, std::size_t cards) {
    std::int64_t out = INT32_MAX;
    const auto limit = [&](std::int64_t free, std::int64_t each) {
        if (each > 0) out = std::min(out, std::max<std::int64_t>(0, free) / each);
    };
    limit(shape.cards > 0 ? row.cpu : row.cpu_only, shape.cpu);
    limit(row.memory, shape.memory);
    if (shape.cards == 0 || !need) return out;
    if (need->whole)
        limit(row.idle, shape.cards);
    else if (row.card_memory < need->room() || row.card_compute < need->compute)
        return 0;
    else
        limit(static_cast<std::int64_t>(cards) * 64, shape.cards);
    return out;
}

}  // namespace

const Timeline& Engine::Impl::timeline(int n, Instant now) {
    Timeline& line = reservations_.timeline(n);
    const bool in_time = line.rows.size() < 2 || line.rows[1].at > now;
    if (line.version == cluster_.version(n) && in_time &&
        (!line.open_ended || line.learned == run_times_.ends_seen() / 16))
        return line;
    line.version = cluster_.version(n);
    line.learned = run_times_.ends_seen() / 16;
    line.rows.clear();
    const Node& node = cluster_.node(n);
    find_ends(n, nullptr, now, line.ends);
    line.open_ended = !line.ends.empty() && line.ends.back().at == never;
    NodeUse all = cluster_.used().nodes[static_cast<std::size_t>(n)];
    const auto first = cluster_.used().cards.begin() + node.cards_at;
    std::vector<CardUse> cards(first, first + static_cast<std::ptrdiff_t>(node.cards.size()));
    const auto add = [&](Instant at) {
        Timeline::Row row{at, node.cpu - all.cpu, 0, node.memory - all.memory};
        row.cpu_only = std::min(row.cpu, node.cpu - node.preprocessing - all.cpu_only);
        for (std::size_t c = 0; c < cards.size(); ++c) {
            if (!(node.usable >> c & 1)) continue;
            row.idle += cards[c].tasks == 0;
            if (cards[c].exclusive > 0) continue;
            row.card_memory = std::max(
                row.card_memory,
                static_cast<std::int32_t>(cluster_.card_limit(cluster_.type(node.cards[c].type).memory) -
                                          cards[c].memory));
            row.card_compute = std::max(row.card_compute, 1000 - cards[c].compute);
        }
        if (!line.rows.empty() && line.rows.back().at == at)
            line.rows.back() = row;
        else
            line.rows.push_back(row);
    };
    add(Instant{0});
    for (const End& end : line.ends) {
        if (end.at == never) break;
        const Slices* slices = &job(end.job).tasks[static_cast<std::size_t>(end.task)].slices;
        all.cpu -= slices->cpu, all.memory -= slices->memory;
        if (slices->cpu_only) all.cpu_only -= slices->cpu;
        for (const auto& part : slices->cards) {
            CardUse& card = cards[static_cast<std::size_t>(part.card)];
            card.memory -= part.memory;
            card.compute -= static_cast<std::int32_t>(part.compute);
            --card.tasks;
            if (part.exclusive) --card.exclusive;
        }
        add(end.at);
    }
    return line;
}

std::optional<Reservation> Engine::Impl::earliest(const JobSlot& slot, Instant now) {
    const Shape& shape = shapes_.at(slot.shape);
    if (slot.waiting > 1) {
        if (!shape.topology.required) return earliest_of_gang(slot, cluster_.by_name(), now, never);
        if (slot.held > 0) return {};
        areas_.refresh(cluster_);
        std::optional<Reservation> best;
        for (const Area& area : areas_.at(shape.topology.level))
            if (auto found = earliest_of_gang(slot, area.nodes, now, best ? best->at : never))
                best = std::move(found);
        return best;
    }
    const bool others_yield = yields_to(slot);
    std::vector<std::pair<Instant, int>> tries;  // by rank
    for (int n = 0; n < cluster_.size(); ++n) {
        const Node& node = cluster_.node(n);
        if (!node.takes_work()) continue;
        const CardNeed* need =
            shape.cards > 0 && node.card_type >= 0 ? &shape.need(cluster_, node.card_type) : nullptr;
        if (shape.cards > 0 && (node.cards.empty() || (need && need->fails != CardNeed::nothing))) continue;
        const auto& here = held_on_[static_cast<std::size_t>(n)];
        if (others_yield && std::any_of(here.begin(), here.end(), [&](const Held& held) {
                return may_yield(job(held.job), slot, false);
            })) {
            tries.emplace_back(now, cluster_.rank(n));
            continue;
        }
        for (const auto& row : timeline(n, now).rows) {
            if (at_most(row, shape, need, node.cards.size()) < 1) continue;
            tries.emplace_back(std::max(now, row.at), cluster_.rank(n));
            break;
        }
    }
    std::make_heap(tries.begin(), tries.end(), std::greater<>());
    std::optional<Reservation> best;
    for (int tried = 0; !tries.empty() && tried < nodes_tried; ++tried) {
        std::pop_heap(tries.begin(), tries.end(), std::greater<>());
        const auto [at, rank] = tries.back();
        tries.pop_back();
        if (best && at >= best->at) break;
        if (auto found = earliest_on(cluster_.by_name()[static_cast<std::size_t>(rank)], slot, now,
                                     best ? best->at : never))
            best = std::move(found);
    }
    return best;
}

// For the one task that waits.
std::optional<Reservation> Engine::Impl::earliest_on(int n, const JobSlot& slot, Instant now,
                                                     Instant before) {
    const Node& node = cluster_.node(n);
    if (!node.takes_work()) return {};
    const Millis length = left_of(slot);
    const auto& ends = ends_on(n, slot, now);
    // Where a few sums say that it does not fit in time there is no need to look.
    if (!yields_to(slot)) {
        const Shape& shape = shapes_.at(slot.shape);
        const CardNeed* need =
            shape.cards > 0 && node.card_type >= 0 ? &shape.need(cluster_, node.card_type) : nullptr;
        const auto& rows = timeline(n, now).rows;
        if (std::none_of(rows.begin(), rows.end(), [&](const auto& row) {
                return row.at < before && at_most(row, shape, need, node.cards.size()) > 0;
            }))
            return {};
    }
    std::vector<Instant> times{now};
    for (const auto& end : ends) times.push_back(end.at);
    for (const auto* place : reservations_.on(n)) times.push_back(place->until);
    for (const auto& window : node.windows) times.push_back(window.end);
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    for (const Instant at : times) {
        if (at >= before) break;
        if (at < now) continue;
        Reservation out{.job = slot.position, .at = at, .until = end_after(at, length)};
        if (fill_later(n, slot, at, out.until, ends, 1, out.slices) == 1) return out;
    }
    return {};
}

// All waiting tasks of a gang on these nodes: the first time at which the sums may hold them and the nodes,
// looked at, do.
std::optional<Reservation> Engine::Impl::earliest_of_gang(const JobSlot& slot, const std::vector<int>& nodes,
                                                          Instant now, Instant before) {
    const Shape& shape = shapes_.at(slot.shape);
    const Millis length = left_of(slot);
    const auto wanted = static_cast<std::int64_t>(slot.waiting);
    struct Step {
        Instant at;
        int place;  // in `nodes`
        std::int64_t tasks;
        auto operator<=>(const Step&) const = default;
    };
    std::vector<Step> steps;
    std::vector<std::int64_t> free_now(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const Node& node = cluster_.node(nodes[i]);
        if (!node.takes_work()) continue;
        const CardNeed* need =
            shape.cards > 0 && node.card_type >= 0 ? &shape.need(cluster_, node.card_type) : nullptr;
        if (shape.cards > 0 && (node.cards.empty() || (need && need->fails != CardNeed::nothing))) continue;
        std::int64_t most = 0;
        const auto add = [&](Instant at, std::int64_t tasks) {
            tasks = std::min(tasks, shape.spread_tasks ? 1 : wanted);
            if (tasks > most) steps.push_back({std::max(now, at), static_cast<int>(i), most = tasks});
        };
        const auto& rows = timeline(nodes[i], now).rows;
        free_now[i] = std::min(wanted, at_most(rows.front(), shape, need, node.cards.size()));
        for (const auto& row : rows) add(row.at, at_most(row, shape, need, node.cards.size()));
        for (const auto& window : node.windows)
            if (most > 0) steps.push_back({std::max(now, window.end), static_cast<int>(i), most});
        for (const auto* place : reservations_.on(nodes[i]))
            if (most > 0) steps.push_back({std::max(now, place->until), static_cast<int>(i), most});
    }
    std::sort(steps.begin(), steps.end());
    std::vector<std::int64_t> room(nodes.size());
    std::int64_t sum = 0;
    int tried = 0;
    for (std::size_t s = 0; s < steps.size() && tried < times_tried; ++s) {
        const Instant at = steps[s].at;
        if (at >= before) break;
        auto& here = room[static_cast<std::size_t>(steps[s].place)];
        sum += std::max<std::int64_t>(0, steps[s].tasks - here);
        here = std::max(here, steps[s].tasks);
        if (sum < wanted || (s + 1 < steps.size() && steps[s + 1].at == at)) continue;
        ++tried;
        // Those where most becomes free until then come first, so that few are touched, and what is free now
        // is left to who may pass.
        std::vector<std::pair<std::int64_t, int>> order;
        for (std::size_t i = 0; i < room.size(); ++i)
            if (room[i] > 0) order.emplace_back(free_now[i] - room[i], static_cast<int>(i));
        std::sort(order.begin(), order.end());
        Reservation out{.job = slot.position, .at = at, .until = end_after(at, length)};
        out.slices.reserve(static_cast<std::size_t>(slot.waiting));
        for (const auto& [tasks, i] : order) {
            const int n = nodes[static_cast<std::size_t>(i)];
            fill_later(n, slot, at, out.until, ends_on(n, slot, now),
                       slot.waiting - static_cast<int>(out.slices.size()), out.slices);
            if (static_cast<int>(out.slices.size()) == slot.waiting) return out;
        }
    }
    return {};
}

}  // namespace crater::engine
