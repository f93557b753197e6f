#include "price/regret.h"

#include <bit>

#include "price/cards.h"

namespace crater::engine::price {
namespace {

constexpr std::int32_t far = std::numeric_limits<std::int32_t>::max();
constexpr int tight_bits = 10;
constexpr int no_rest = 0;  // a row of zeroes

// Where a task could go on the node: a card in state `was` turns to `becomes` and `rest`.
struct Way {
    std::int16_t was, becomes, rest;
    std::int16_t left;  // milli on the card afterwards
    int card;
    std::int32_t value;  // of the node afterwards
};

// Left uninitialised on purpose: only what is counted is read.
struct Ways {
    Way way[cards_most + 1];
    int count;

    void add(int was, int becomes, int rest, int card, int left) {
        way[count++] = {static_cast<std::int16_t>(was),
                        static_cast<std::int16_t>(becomes),
                        static_cast<std::int16_t>(rest),
                        static_cast<std::int16_t>(left),
                        card,
                        far};
    }
};

// The rows of the tables that a node's cards are in.
struct Rows {
    std::int16_t row[cards_most + 1];
    int count, idle;
};

// A node with more idle cards than any had when the tables were made counts as that one.
void read_cards(Rows& out, const Book& book, std::span<const std::int16_t> cards) {
    out.count = out.idle = 0;
    for (const int left : cards) {
        if (left >= whole_card)
            ++out.idle;
        else if (left > 0)
            out.row[out.count++] = static_cast<std::int16_t>(part_row(left));
    }
    out.idle = std::min(out.idle, book.classes->idle_max);
    if (out.idle > 0) out.row[out.count++] = static_cast<std::int16_t>(idle_row + out.idle);
}

// Cards in the same state are one way; all idle ones are.
void part_ways(Ways& out, std::span<const std::int16_t> cards, int milli, std::uint64_t allowed, int idle) {
    std::uint64_t seen[2] = {0, 0};
    int first_idle = -1;
    for (auto rest = allowed; rest != 0; rest &= rest - 1) {
        const int card = std::countr_zero(rest);
        if (card >= static_cast<int>(cards.size())) break;
        const int left = cards[static_cast<std::size_t>(card)];
        if (left >= whole_card && first_idle < 0) first_idle = card;
        if (left < milli || left >= whole_card) continue;
        const int row = part_row(left);
        const std::uint64_t bit = std::uint64_t{1} << (row & 63);
        if ((seen[row >> 6] & bit) != 0) continue;
        seen[row >> 6] |= bit;
        out.add(row, part_row(left - milli), no_rest, card, left - milli);
    }
    if (first_idle >= 0) {
        const int rest = whole_card - milli;
        out.add(idle_row + idle, idle_row + idle - 1, part_row(rest), first_idle, rest);
    }
}

void find_ways(Ways& out, const Free& free, const Demand& kind, std::uint64_t allowed, int idle) {
    out.count = 0;
    if (kind.cards == 0) {
        out.add(no_rest, no_rest, no_rest, -1, free.cards.empty() ? 0 : 1);
    } else if (kind.whole_cards()) {
        out.add(idle_row + idle, idle_row + std::max(0, idle - kind.cards), no_rest, -1, 0);
    } else {
        part_ways(out, free.cards, kind.milli, allowed, idle);
    }
}

inline std::int32_t weigh_node(const Tables& tables, const Row* value, const Rows& rows, float amount,
                               Row& sum) {
    sum = {};
    for (int i = 0; i < rows.count; ++i) add(sum, value[rows.row[i]]);
    Row all = sum;
    add_worth(all, tables.rates(), amount);
    return least(all);
}

// What the node is worth after each way, by one more table. Its four blocks of lanes stay in registers.
inline void weigh(const Tables& tables, const Row* value, const Row& sum, float after, Ways& ways) {
    constexpr int blocks = lanes / 8;
    Eight rest[blocks];
    for (int b = 0; b < blocks; ++b) {
        EightRates rates;
        load(rest[b], sum.lane + 8 * b);
        load(rates, tables.rates().lane + 8 * b);
        rest[b] += __builtin_convertvector(rates * after, Eight);
    }
    for (int i = 0; i < ways.count; ++i) {
        Way& way = ways.way[i];
        Eight low = Eight{} + way.value;
        for (int b = 0; b < blocks; ++b) {
            Eight then = rest[b], was;
            load(was, value[way.was].lane + 8 * b);
            add(then, value[way.becomes].lane + 8 * b);
            add(then, value[way.rest].lane + 8 * b);
            then -= was;
            low = then < low ? then : low;
        }
        way.value = least(low);
    }
}

// Higher is better: least regret, then fewest idle cards if they are to be kept together, then the tightest
// card.
std::int32_t level_of(std::int32_t regret, int idle_after, int left, bool keep_idle_together) {
    constexpr int worst = (1 << regret_bits) - 1;
    const int loss = std::min(std::max(regret, 0) / (bucket * unit), worst);
    const int together = keep_idle_together ? cards_most - idle_after : 0;
    return (worst - loss) << regret_at | together << tight_bits | (whole_card - left);
}

std::int32_t reserved(const Book& book, const Free& free, const Demand& kind) {
    return kind.cards > 0 && free.type >= 0 ? (*book.reserve)[static_cast<std::size_t>(free.type)] : 0;
}

// Parts of several cards go to the tightest ones; there is nothing to choose.
Rating several_parts(const Book& book, const Free& free, const Worth& worth, const Demand& kind,
                     std::int32_t price, bool keep_idle_together) {
    const CardStates after = after_taking(free.cards, kind);
    Free then{free.type, after.left(), free.amounts};
    for (std::size_t i = 0; i < then.amounts.size(); ++i) then.amounts[i] -= kind.amounts[i];
    Row sums[companions];
    const Worth rest = appraise(book, then, sums);
    const std::int32_t lost = worth.value - rest.value + reserved(book, free, kind);
    return {level_of(lost - price, rest.idle, 0, keep_idle_together)};
}

}  // namespace

CRATER_VECTOR_CLONES
Worth appraise(const Book& book, const Free& free, Row* sums) {
    Rows rows;
    read_cards(rows, book, free.cards);
    Worth out{far, rows.idle, free.type < 0 ? 0 : book.classes->of(free.type), sums};
    for (const Tables& tables : book.tables) {
        const auto companion = static_cast<std::size_t>(tables.companion());
        const float amount = scaled(free.amounts[companion], book.scale[companion]);
        out.value = std::min(out.value, weigh_node(tables, tables.value(out.cls), rows, amount, *sums++));
    }
    return out;
}

Glance glance(const Book& book, const Free& free, const Worth& worth) {
    Glance out{.value = worth.value, .type = static_cast<std::int8_t>(free.type)};
    out.cls = static_cast<std::int8_t>(worth.cls);
    out.idle = static_cast<std::uint8_t>(worth.idle);
    for (const std::int16_t left : free.cards) {
        const auto end = out.left.begin() + out.parts;
        if (left <= 0 || left >= whole_card || std::find(out.left.begin(), end, left) != end) continue;
        if (end == out.left.end()) return out;
        *end = left;
        ++out.parts;
    }
    for (std::size_t t = 0; t < book.tables.size(); ++t) {
        const Tables& tables = book.tables[t];
        const auto companion = static_cast<std::size_t>(tables.companion());
        const float amount = scaled(free.amounts[companion], book.scale[companion]);
        for (int k = 0; k < lanes; ++k) {
            const std::int32_t cards = worth.sums[t].lane[k];
            if (cards + worth_of(tables.rates(), k, amount) != worth.value) continue;
            out.cards = cards;
            out.amount = free.amounts[companion];
            out.table = static_cast<std::int8_t>(t);
            out.lane = static_cast<std::int8_t>(k);
            return out;
        }
    }
    return out;
}

std::int32_t level_bound(const Book& book, const Glance& node, const Demand& kind, std::int32_t price,
                         bool keep_idle_together) {
    if (node.table < 0 || (kind.cards > 1 && !kind.whole_cards())) return far;
    const Tables& tables = book.tables[static_cast<std::size_t>(node.table)];
    const auto companion = static_cast<std::size_t>(tables.companion());
    const float amount = scaled(node.amount - kind.amounts[companion], book.scale[companion]);
    const std::int32_t reserve =
        kind.cards > 0 && node.type >= 0 ? (*book.reserve)[static_cast<std::size_t>(node.type)] : 0;
    const std::int32_t lost =
        node.value + reserve - price - node.cards - worth_of(tables.rates(), node.lane, amount);
    const Row* value = tables.value(node.cls);
    const auto at = [&](int row) { return value[row].lane[node.lane]; };
    const auto level = [&](std::int32_t of_cards, int idle, int left) {
        return level_of(lost + of_cards, idle, left, keep_idle_together);
    };
    if (kind.cards == 0) return level(0, node.idle, node.type < 0 ? 0 : 1);
    if (kind.whole_cards()) {
        const int rest = idle_row + std::max(0, node.idle - kind.cards);
        return level(at(idle_row + node.idle) - at(rest), node.idle - kind.cards, 0);
    }
    std::int32_t best = -1;
    for (int i = 0; i < node.parts; ++i) {
        const int left = node.left[static_cast<std::size_t>(i)], rest = left - kind.milli;
        if (rest >= 0) best = std::max(best, level(at(part_row(left)) - at(part_row(rest)), node.idle, rest));
    }
    if (node.idle > 0) {
        const int rest = whole_card - kind.milli;
        const std::int32_t lost_idle = at(idle_row + node.idle) - at(idle_row + node.idle - 1);
        best = std::max(best, level(lost_idle - at(part_row(rest)), node.idle - 1, rest));
    }
    return best;
}

std::int32_t node_value(const Book& book, const Free& free) {
    Row sums[companions];
    return appraise(book, free, sums).value;
}

CRATER_VECTOR_CLONES
Rating least_regret(const Book& book, const Free& free, const Worth& worth, const Demand& kind,
                    std::int32_t price, std::uint64_t allowed, bool keep_idle_together) {
    if (kind.cards > 1 && !kind.whole_cards())
        return several_parts(book, free, worth, kind, price, keep_idle_together);
    Ways ways;
    find_ways(ways, free, kind, allowed, worth.idle);
    const Row* sum = worth.sums;
    for (const Tables& tables : book.tables) {
        const auto companion = static_cast<std::size_t>(tables.companion());
        const auto after = free.amounts[companion] - kind.amounts[companion];
        weigh(tables, tables.value(worth.cls), *sum++, scaled(after, book.scale[companion]), ways);
    }
    const std::int32_t before = worth.value + reserved(book, free, kind);
    Rating best{-1};
    for (int i = 0; i < ways.count; ++i) {
        const Way& way = ways.way[i];
        const int taken = way.was <= idle_row ? 0 : kind.whole_cards() ? kind.cards : 1;
        const std::int32_t level =
            level_of(before - way.value - price, worth.idle - taken, way.left, keep_idle_together);
        if (level > best.level) best = {level, way.card};
    }
    return best;
}

}  // namespace crater::engine::price
