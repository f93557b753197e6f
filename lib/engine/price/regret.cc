#include "price/regret.h"

#include <bit>

#include "price/cards.h"

namespace crater::engine::price {
namespace {

constexpr std::int32_t far = std::numeric_limits<std::int32_t>::max();
constexpr int regret_bits = 14, idle_bits = 7, tight_bits = 10;
constexpr int no_rest = 0;  // a row of zeroes

// Where a task could go on the node: a card in state `was` turns to `becomes` and `rest`.
struct Way {
    std::int16_t was, becomes, rest;
    std::int16_t left;  // milli on the card afterwards
    int card;
    std::int32_t value;  // of the node afterwards
};

// A node as rows of the tables. Left uninitialised on purpose: only what is counted is read.
struct Scan {
    std::int16_t rows[cards_most + 1];
    Way ways[cards_most];
    int row_count, way_count, idle, first_idle;
};

// A node with more idle cards than any had when the tables were made counts as that one.
void read_cards(Scan& out, const Book& book, std::span<const std::int16_t> cards, std::uint64_t allowed) {
    out.row_count = out.way_count = out.idle = 0;
    out.first_idle = -1;
    for (int card = 0; card < static_cast<int>(cards.size()); ++card) {
        const int left = cards[static_cast<std::size_t>(card)];
        if (left >= whole_card) {
            ++out.idle;
            if (out.first_idle < 0 && (allowed >> card & 1) != 0) out.first_idle = card;
        } else if (left > 0) {
            out.rows[out.row_count++] = static_cast<std::int16_t>(part_row(left));
        }
    }
    out.idle = std::min(out.idle, book.classes->idle_max);
    if (out.idle > 0) out.rows[out.row_count++] = static_cast<std::int16_t>(idle_row + out.idle);
}

void add_way(Scan& out, int was, int becomes, int rest, int card, int left) {
    out.ways[out.way_count++] = {static_cast<std::int16_t>(was),
                                 static_cast<std::int16_t>(becomes),
                                 static_cast<std::int16_t>(rest),
                                 static_cast<std::int16_t>(left),
                                 card,
                                 far};
}

// Cards in the same state are one way.
void part_ways(Scan& out, std::span<const std::int16_t> cards, int milli, std::uint64_t allowed) {
    std::uint64_t seen[2] = {0, 0};
    for (int card = 0; card < static_cast<int>(cards.size()); ++card) {
        const int left = cards[static_cast<std::size_t>(card)];
        if (left < milli || left >= whole_card || (allowed >> card & 1) == 0) continue;
        const int row = part_row(left);
        const std::uint64_t bit = std::uint64_t{1} << (row & 63);
        if ((seen[row >> 6] & bit) != 0) continue;
        seen[row >> 6] |= bit;
        add_way(out, row, part_row(left - milli), no_rest, card, left - milli);
    }
    if (out.first_idle >= 0) {
        const int rest = whole_card - milli;
        add_way(out, idle_row + out.idle, idle_row + out.idle - 1, part_row(rest), out.first_idle, rest);
    }
}

void find_ways(Scan& out, const Free& free, const Kind& kind, std::uint64_t allowed) {
    if (kind.cards == 0) {
        add_way(out, no_rest, no_rest, no_rest, -1, free.cards.empty() ? 0 : 1);
    } else if (kind.whole_cards()) {
        const int left = std::max(0, out.idle - kind.cards);
        add_way(out, idle_row + out.idle, idle_row + left, no_rest, -1, 0);
    } else {
        part_ways(out, free.cards, kind.milli, allowed);
    }
}

CRATER_VECTOR_CLONES
std::int32_t weigh_node(const Tables& tables, const Row* value, const Scan& scan, float amount) {
    Row sum{};
    for (int i = 0; i < scan.row_count; ++i) add(sum, value[scan.rows[i]]);
    add_worth(sum, tables.rates(), amount);
    return least(sum);
}

inline void keep_least(Eight& low, const Eight& value) { low = value < low ? value : low; }

// The least over all tables: before in the result, after each way in the scan.
CRATER_VECTOR_CLONES
std::int32_t weigh(const Tables& tables, const Row* value, Scan& scan, float before, float after) {
    Eight low_before, low[cards_most];
    low_before = Eight{} + far;
    for (int i = 0; i < scan.way_count; ++i) low[i] = Eight{} + far;
    for (int block = 0; block < lanes; block += 8) {
        Eight sum{};
        EightRates rates;
        load(rates, tables.rates().lane + block);
        for (int i = 0; i < scan.row_count; ++i) add(sum, value[scan.rows[i]].lane + block);
        keep_least(low_before, sum + __builtin_convertvector(rates * before, Eight));
        sum += __builtin_convertvector(rates * after, Eight);
        for (int i = 0; i < scan.way_count; ++i) {
            const Way& way = scan.ways[i];
            Eight then = sum, was;
            load(was, value[way.was].lane + block);
            add(then, value[way.becomes].lane + block);
            add(then, value[way.rest].lane + block);
            keep_least(low[i], then - was);
        }
    }
    for (int i = 0; i < scan.way_count; ++i) scan.ways[i].value = std::min(scan.ways[i].value, least(low[i]));
    return least(low_before);
}

std::int32_t weigh_all(const Book& book, const Free& free, const Kind& kind, Scan& scan) {
    const int cls = free.type < 0 ? 0 : book.classes->of(free.type);
    std::int32_t before = far;
    for (const Tables& tables : book.tables) {
        const auto companion = static_cast<std::size_t>(tables.companion());
        const std::int64_t amount = free.amounts[companion];
        const double scale = book.scale[companion];
        before = std::min(before, weigh(tables, tables.value(cls), scan, scaled(amount, scale),
                                        scaled(amount - kind.amounts[companion], scale)));
    }
    return before;
}

// Higher is better: least regret, then fewest idle cards if they are to be kept together, then the tightest
// card.
std::int32_t level_of(std::int32_t regret, int idle_after, int left, const Order& order) {
    constexpr int worst = (1 << regret_bits) - 1;
    const int loss = std::min(std::max(regret, 0) / (order.bucket * unit), worst);
    const int together = order.keep_idle_together ? cards_most - idle_after : 0;
    return (worst - loss) << (idle_bits + tight_bits) | together << tight_bits | (whole_card - left);
}

std::int32_t reserved(const Book& book, const Free& free, const Kind& kind) {
    return kind.cards > 0 && free.type >= 0 ? (*book.reserve)[static_cast<std::size_t>(free.type)] : 0;
}

// Parts of several cards go to the tightest ones; there is nothing to choose.
Choice several_parts(const Book& book, const Free& free, const Kind& kind, std::int32_t price,
                     const Order& order) {
    const CardStates after = after_taking(free.cards, kind);
    Free then{free.type, after.left(), free.amounts};
    for (std::size_t i = 0; i < then.amounts.size(); ++i) then.amounts[i] -= kind.amounts[i];
    Scan scan;
    read_cards(scan, book, then.cards, 0);
    const std::int32_t lost = node_value(book, free) - node_value(book, then) + reserved(book, free, kind);
    return {level_of(lost - price, scan.idle, 0, order)};
}

}  // namespace

std::int32_t node_value(const Book& book, const Free& free) {
    Scan scan;
    read_cards(scan, book, free.cards, 0);
    const int cls = free.type < 0 ? 0 : book.classes->of(free.type);
    std::int32_t out = far;
    for (const Tables& tables : book.tables) {
        const auto companion = static_cast<std::size_t>(tables.companion());
        out = std::min(out, weigh_node(tables, tables.value(cls), scan,
                                       scaled(free.amounts[companion], book.scale[companion])));
    }
    return out;
}

Choice least_regret(const Book& book, const Free& free, const Kind& kind, std::int32_t price,
                    std::uint64_t allowed, const Order& order) {
    if (kind.cards > 1 && !kind.whole_cards()) return several_parts(book, free, kind, price, order);
    Scan scan;
    read_cards(scan, book, free.cards, allowed);
    find_ways(scan, free, kind, allowed);
    const std::int32_t before = weigh_all(book, free, kind, scan) + reserved(book, free, kind);
    Choice best{-1};
    for (int i = 0; i < scan.way_count; ++i) {
        const Way& way = scan.ways[i];
        const bool from_idle = way.was > idle_row;
        const int taken = !from_idle ? 0 : kind.whole_cards() ? kind.cards : 1;
        const std::int32_t level = level_of(before - way.value - price, scan.idle - taken, way.left, order);
        if (level > best.level) best = {level, way.card};
    }
    return best;
}

}  // namespace crater::engine::price
