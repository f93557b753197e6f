#include "price/prices.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace crater::engine::price {
namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

Demand a_kind(int cards, int milli, std::int64_t cpu_milli, std::int64_t memory_gib = 1) {
    Demand out{.cards = cards, .milli = milli};
    out.amounts = {cpu_milli, memory_gib * gib, 0, 0, 0};
    return out;
}

struct Machine {
    std::vector<std::int16_t> cards = {1000, 1000, 1000, 1000};
    Amounts amounts = {64000, 256 * gib, 1000 * gib, 10000, 10 * gib};
    Free free() const { return {0, cards, amounts}; }
};

std::vector<Nodes> view(const std::vector<Machine>& machines) {
    std::vector<Nodes> out;
    for (const Machine& machine : machines) out.push_back({machine.free(), 1});
    return out;
}

// A small cluster in which arrivals are placed one after the other, and may leave again.
struct World {
    std::vector<Demand> kinds{a_kind(1, 810, 3000),  a_kind(1, 470, 6000),  a_kind(1, 190, 2000),
                              a_kind(1, 1000, 9000), a_kind(2, 1000, 8000), a_kind(0, 0, 4000)};
    std::vector<Machine> machines = std::vector<Machine>(60), empty = machines;
    std::uint32_t state = 1;
    std::vector<std::int32_t> levels;

    int draw(int n) {
        state = state * 1664525 + 1013904223;
        return static_cast<int>((state >> 8) % static_cast<std::uint32_t>(n));
    }
    static bool fits(const Machine& machine, const Demand& kind) {
        const auto enough = [&](int left) { return left >= kind.milli; };
        return machine.amounts[cpu] >= kind.amounts[cpu] &&
               std::count_if(machine.cards.begin(), machine.cards.end(), enough) >= kind.cards;
    }
    static void take(Machine& machine, const Demand& kind, int card) {
        for (std::size_t i = 0; i < machine.amounts.size(); ++i) machine.amounts[i] -= kind.amounts[i];
        if (card >= 0) machine.cards[static_cast<std::size_t>(card)] -= static_cast<std::int16_t>(kind.milli);
        for (int i = 0; card < 0 && i < kind.cards; ++i) {
            *std::find(machine.cards.begin(), machine.cards.end(), whole_card) = 0;
        }
    }
    void arrive(Prices& prices, bool leaves = false) {
        const Demand& kind = kinds[static_cast<std::size_t>(draw(static_cast<int>(kinds.size())))];
        const int id = prices.intern(kind);
        prices.arrived(id);
        if (prices.due()) prices.reprice(view(machines), view(empty));
        Rating best{-1};
        Machine* where = nullptr;
        for (Machine& machine : machines) {
            if (!fits(machine, kind)) continue;
            const Rating choice = prices.choose(machine.free(), id);
            if (choice.level > best.level) best = choice, where = &machine;
        }
        levels.push_back(best.level);
        if (leaves) {
            prices.departed(id);
        } else if (where != nullptr) {
            take(*where, kind, best.card);
        }
    }
    void arrive(Prices& prices, int count, bool leaves = false) {
        for (int i = 0; i < count; ++i) arrive(prices, leaves);
    }
};

TEST(Prices, begin_with_the_fragmentation_gradient) {
    World world;
    Prices prices;
    world.arrive(prices, 24);
    EXPECT_FALSE(prices.priced());
    EXPECT_LE(*std::max_element(world.levels.begin(), world.levels.end()), 99);
    const auto version = prices.version();
    world.arrive(prices, 1);
    EXPECT_TRUE(prices.priced());
    EXPECT_NE(prices.version(), version);
}

TEST(Prices, stay_with_it_when_that_is_the_rule) {
    World world;
    Prices prices(Rule::fragmentation);
    world.arrive(prices, 700);
    EXPECT_FALSE(prices.priced());
    EXPECT_EQ(prices.learned().targets.size(), 6u);
}

TEST(Prices, are_the_same_for_the_same_history) {
    World a, b;
    Prices first, second;
    a.arrive(first, 650);
    b.arrive(second, 650);
    EXPECT_EQ(a.levels, b.levels);
    EXPECT_EQ(first.learned(), second.learned());
}

// Also between two repricings, and with kinds that were seen only after the last one.
TEST(Prices, go_on_from_what_was_stored_as_if_nothing_had_happened) {
    for (const int stop : {25, 49, 100, 299, 350, 450, 620}) {
        World world;
        Prices prices;
        world.arrive(prices, stop, true);
        world.kinds.push_back(a_kind(1, 330, 5000));
        world.arrive(prices, 20);
        Prices restored(Rule::price, prices.learned());
        World copy = world;
        world.arrive(prices, 400);
        copy.arrive(restored, 400);
        EXPECT_EQ(world.levels, copy.levels);
        EXPECT_EQ(prices.learned(), restored.learned());
    }
}

TEST(Prices, keep_the_ids_of_kinds) {
    Prices prices;
    const int a = prices.intern(a_kind(1, 500, 1000)), b = prices.intern(a_kind(1, 500, 1001));
    EXPECT_NE(a, b);
    EXPECT_EQ(prices.intern(a_kind(1, 500, 1000)), a);
    EXPECT_EQ(prices.kind(b).amounts[cpu], 1001);
}

TEST(Prices, learn_the_turnover) {
    World world;
    Prices prices;
    world.arrive(prices, 600);
    EXPECT_EQ(prices.learned().turnover, 0);
    world.arrive(prices, 6000, true);
    EXPECT_GT(prices.learned().turnover, 0.9);
    world.arrive(prices, 6000);
    EXPECT_LT(prices.learned().turnover, 0.1);
}

TEST(Prices, put_few_goods_in_the_books_however_many_kinds_there_are) {
    World world;
    Prices prices;
    for (int i = 0; i < 3000; ++i) prices.arrived(prices.intern(a_kind(1, 10 + i % 900, 1000 + i)));
    for (int i = 0; i < 100; ++i) prices.arrived(prices.intern(world.kinds[0]));
    prices.reprice(view(world.machines), view(world.empty));
    EXPECT_LE(prices.learned().goods.size(), 256u);
    EXPECT_EQ(prices.learned().goods[0].milli, 810);
    for (const double price : prices.learned().price) EXPECT_GT(price, 0);
}

TEST(Prices, look_at_cores_alone_while_nothing_else_is_scarce) {
    World world;
    Prices prices;
    world.arrive(prices, 600);
    EXPECT_EQ(prices.learned().scarce, std::vector<int>{cpu});
}

// One companion is asked for about as much as cards are. A lean task goes where little of it is left, so that
// a fat one still finds both together.
void expect_lean_goes_to_the_poor_node(Companion companion, std::int64_t fat, std::int64_t lean) {
    World world;
    Demand fat_kind = a_kind(1, 1000, 1000), lean_kind = a_kind(1, 1000, 1000);
    fat_kind.amounts[static_cast<std::size_t>(companion)] = fat;
    lean_kind.amounts[static_cast<std::size_t>(companion)] = lean;
    Prices prices;
    const int a = prices.intern(fat_kind), b = prices.intern(lean_kind);
    for (int i = 0; i < 300; ++i) prices.arrived(i % 2 == 0 ? a : b);
    prices.reprice(view(world.machines), view(world.empty));
    EXPECT_EQ(prices.learned().scarce, (std::vector<int>{cpu, companion}));
    Machine poor, rich;
    poor.cards = rich.cards = {0, 0, 1000, 1000};
    poor.amounts[static_cast<std::size_t>(companion)] = 3 * lean;
    EXPECT_GT(prices.choose(poor.free(), b).level, prices.choose(rich.free(), b).level);
    poor.amounts[static_cast<std::size_t>(companion)] = fat;
    rich.amounts[static_cast<std::size_t>(companion)] = 2 * fat;
    EXPECT_GT(prices.value(rich.free()), prices.value(poor.free()));
}

TEST(Prices, see_scarce_memory) { expect_lean_goes_to_the_poor_node(memory, 130 * gib, 10 * gib); }
TEST(Prices, see_scarce_disk) { expect_lean_goes_to_the_poor_node(disk, 500 * gib, 40 * gib); }
TEST(Prices, see_scarce_operations) { expect_lean_goes_to_the_poor_node(iops, 5000, 400); }
TEST(Prices, see_scarce_bandwidth) { expect_lean_goes_to_the_poor_node(bandwidth, 5 * gib, gib / 2); }

TEST(Prices, put_tasks_without_cards_where_there_are_none) {
    World world;
    Machine plain;
    plain.cards.clear();
    world.machines.push_back(plain);
    world.empty = world.machines;
    Prices prices;
    world.arrive(prices, 300);
    Free bare{.type = -1, .cards = {}, .amounts = plain.amounts};
    Machine used;
    used.amounts[cpu] = 32000;
    const int id = prices.intern(world.kinds[5]);
    EXPECT_GT(prices.choose(bare, id).level, prices.choose(used.free(), id).level);
}

// Hardware may come between two repricings.
TEST(Prices, work_for_nodes_that_came_after_the_last_repricing) {
    World world;
    Prices prices;
    world.arrive(prices, 100);
    Machine large;
    large.cards.assign(64, whole_card);
    Free other{.type = 7, .cards = large.cards, .amounts = large.amounts};
    for (const Demand& kind : world.kinds) EXPECT_GE(prices.choose(other, prices.intern(kind)).level, 0);
}

TEST(Prices, work_where_one_node_has_all_there_is_of_something) {
    World world;
    world.machines.resize(3000);
    for (Machine& machine : world.machines) machine.amounts[disk] = 0;
    world.machines[0].amounts[disk] = 1000 * gib;
    world.empty = world.machines;
    Demand kind = a_kind(1, 500, 1000);
    kind.amounts[disk] = gib;
    Prices prices;
    const int id = prices.intern(kind);
    prices.arrived(id, 300);
    prices.reprice(view(world.machines), view(world.empty));
    EXPECT_GE(prices.choose(world.machines[0].free(), id).level, 0);
    EXPECT_GT(prices.value(world.machines[0].free()), 0);
}

TEST(Prices, work_without_any_cards) {
    Prices prices;
    const Machine machine;
    Free bare{.type = -1, .cards = {}, .amounts = machine.amounts};
    const std::vector<Nodes> nodes{{bare, 100}};
    const int id = prices.intern(a_kind(0, 0, 1000, 2));
    prices.arrived(id, 300);
    ASSERT_TRUE(prices.due());
    prices.reprice(nodes, nodes);
    EXPECT_GE(prices.choose(bare, id).level, 0);
}

TEST(Prices, work_with_large_nodes_and_parts_of_several_cards) {
    World world;
    for (Machine& machine : world.machines) machine.cards.assign(64, whole_card);
    world.empty = world.machines;
    world.kinds = {a_kind(64, 1000, 1000), a_kind(3, 330, 1000), a_kind(1, 40, 10)};
    Prices prices;
    for (int i = 0; i < 300; ++i) prices.arrived(prices.intern(world.kinds[static_cast<std::size_t>(i % 3)]));
    prices.reprice(view(world.machines), view(world.empty));
    for (const Demand& kind : world.kinds)
        EXPECT_GE(prices.choose(world.machines[0].free(), prices.intern(kind)).level, 0);
    EXPECT_EQ(prices.choose(world.machines[0].free(), prices.intern(world.kinds[1])).card, -1);
}

// Whatever is free, whichever cards are allowed, and whatever else is scarce; and mostly it is the level
// itself.
TEST(Prices, bound_every_level_from_above) {
    int equal = 0, all = 0;
    for (const int seed : {1, 2, 3}) {
        World world;
        world.state = static_cast<std::uint32_t>(seed);
        if (seed == 2)
            for (Demand& kind : world.kinds) kind.amounts[memory] = 60 * gib;
        Prices prices;
        world.arrive(prices, 150 + 200 * seed, seed == 3);
        if (seed == 2) {
            ASSERT_GT(prices.tables(), 1u);
        }
        for (Machine& machine : world.machines) {
            for (std::int16_t& left : machine.cards)
                left = static_cast<std::int16_t>(world.draw(5) ? world.draw(101) * 10 : 1000);
            Row sums[companions];
            const Worth worth = prices.appraise(machine.free(), sums);
            const Glance glance = prices.glance(machine.free(), worth);
            for (const Demand& kind : world.kinds) {
                if (!World::fits(machine, kind)) continue;
                const int id = prices.intern(kind);
                const auto bound = prices.level_bound(glance, id);
                const auto level = prices.choose(machine.free(), worth, id, ~std::uint64_t{0}).level;
                EXPECT_GE(bound, level);
                equal += bound == level, ++all;
                const auto allowed = static_cast<std::uint64_t>(world.draw(16));
                EXPECT_GE(bound, prices.choose(machine.free(), worth, id, allowed).level);
            }
        }
    }
    EXPECT_GT(equal * 2, all);
}

}  // namespace
}  // namespace crater::engine::price
