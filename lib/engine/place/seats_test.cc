// The index against a look at every node: whatever happened before, the node it names is the best by level
// and then by name.
#include "place/seats.h"

#include <set>

#include "crater/base/clock.h"
#include "state/placement_fact.h"
#include "testing.h"

namespace crater::engine {
namespace {

using namespace testing;

struct Yard {
    Yard(std::uint64_t seed, bool one_type, bool mixed, double overcommit)
        : rng(seed), cluster(Settings{.memory_overcommit_ratio = overcommit}) {
        shapes.gone = [this](int shape) { seats.leave(shape), pricing.leave(shape); };
        pricing.use(Policy::price);
        pricing.use(Policy::fragmentation);
        for (int n = 0; n < 12; ++n) {
            const bool small = !one_type && n % 3 == 0;
            NodeInventory node = make_node("n" + std::to_string(n),
                                           n % 5 == 4 ? 0
                                           : small    ? 2
                                                      : 4,
                                           n % 2 + 1, small ? 16384 : 40960, small ? "t4" : "a100-pcie-40gb");
            put_data(node);
            if (mixed && n == 5) node.gpus[1].model = "t4";
            cluster.set_node(std::make_shared<const NodeInventory>(node));
        }
    }

    void put_data(NodeInventory& node) {
        node.cache = {};
        for (const char* id : {"a", "b"})
            if (rng.below(2)) node.cache.datasets.push_back({id, {}});
    }

    // Any request: parts, whole cards, several, none; of any policy.
    Shape any_shape(Policy policy) {
        JobMaker job("j");
        job.cpu(static_cast<std::int64_t>(rng.below(12)) * 700);
        job.memory(static_cast<std::int64_t>(rng.below(80)) * gib);
        switch (rng.below(5)) {
            case 0: break;
            case 1: job.gpus(static_cast<std::int64_t>(1 + rng.below(9)) * 100); break;
            case 2: job.gpus(1000).gpu_memory(static_cast<std::int64_t>(1 + rng.below(20)) * 1024); break;
            case 3: job.gpus(static_cast<std::int64_t>(1 + rng.below(4)) * 1000); break;
            case 4:
                job.gpus(1000).gpu_memory(8192);
                job.spec.resources.gpu.compute = MilliGpu(static_cast<std::int64_t>(1 + rng.below(10)) * 100);
        }
        if (rng.below(6) == 0) job.spec.numa_binding_policy = NumaPolicy::strict;
        if (rng.below(6) == 0)
            job.spec.resources.disk.size = Bytes(static_cast<std::int64_t>(rng.below(3000)) * gib);
        if (rng.below(5) == 0) {
            job.spec.datasets = {"b", rng.below(2) ? "a" : "b"};
            job.spec.data_locality = static_cast<DataLocality>(rng.below(2));
        }
        job.spec.prefer_low_utilization = rng.below(10) == 0;
        PlacementWeights weights;
        if (rng.below(3) == 0)
            weights.fit = static_cast<double>(rng.below(9)), weights.load = 0.5,
            weights.w_cpu = static_cast<double>(rng.below(2));
        return make_shape(
            job.spec, policy, cluster,
            {.overcommit = cluster.overcommits() ? 1000 + 100 * static_cast<std::int64_t>(rng.below(3)) : 0,
             .weights = &weights});
    }

    // All nodes it fits on, best first.
    std::vector<Spot> looked_for(int shape) const {
        std::vector<Spot> out;
        for (const int n : cluster.by_name()) {
            const Verdict verdict = judge.verdict(shape, Look(shapes.at(shape), cluster, n));
            if (verdict.fits()) out.push_back({n, verdict.level});
        }
        std::stable_sort(out.begin(), out.end(),
                         [](const Spot& a, const Spot& b) { return a.level > b.level; });
        return out;
    }

    void change_something() {
        switch (rng.below(16)) {
            case 2: {
                NodeInventory inventory = *cluster.node(node()).inventory;
                put_data(inventory);
                cluster.set_cache(cluster.find(inventory.name),
                                  std::make_shared<const NodeInventory>(inventory));
                break;
            }
            case 3: {
                NodeSample sample{.at = {1}};
                const int n = node();
                for (const auto& gpu : cluster.node(n).inventory->gpus)
                    sample.gpus.push_back(
                        {.index = gpu.index,
                         .utilization_percent = static_cast<double>(rng.below(100)),
                         .temperature_celsius = static_cast<double>(60 + rng.below(40)),
                         .memory_used = Mebibytes(static_cast<std::int64_t>(rng.below(82000)))});
                cluster.set_sample(n, sample);
                break;
            }
            case 0: cluster.set_flags(node(), rng.below(2) == 0, false); break;
            case 1: {
                NodeInventory inventory = *cluster.node(node()).inventory;
                if (!inventory.gpus.empty() && held.empty())
                    inventory.gpus[0].healthy ^= true,
                        cluster.set_node(std::make_shared<const NodeInventory>(inventory));
                break;
            }
            // A node comes, goes for a while, or comes back with other cards, of a kind that may be new.
            case 4: {
                const auto name = "n" + std::to_string(rng.below(20));
                const int n = cluster.find(name);
                const auto on_it = [&](const auto& slices) { return slices->node == n; };
                if (n >= 0 ? std::any_of(held.begin(), held.end(), on_it) : rng.below(4) > 0) break;
                if (n >= 0 && rng.below(2)) return cluster.remove_node(n);
                const auto types = cluster.type_count();
                const bool large = rng.below(2);
                cluster.set_node(std::make_shared<const NodeInventory>(
                    large ? make_node(name, 4, 1, 81920, "a100-sxm4-80gb")
                          : make_node(name, 4, 1, 23028, "a10")));
                if (types != cluster.type_count()) pricing.forget(), seats.levels_changed();
                break;
            }
            default:
                if (held.empty() || rng.below(3) > 0) return;
                const auto at = static_cast<std::size_t>(rng.below(held.size()));
                cluster.book(*held[at], -1);
                held.erase(held.begin() + static_cast<std::ptrdiff_t>(at));
        }
    }
    int node() { return static_cast<int>(rng.below(static_cast<std::uint64_t>(cluster.size()))); }

    SeededRng rng;
    Cluster cluster;
    Shapes shapes;
    Pricing pricing{cluster};
    Judge judge{cluster, shapes, pricing};
    Seats seats{judge};
    std::vector<std::unique_ptr<Slices>> held;
};

void run(std::uint64_t seed, bool one_type, bool mixed, double overcommit = 1) {
    Yard yard(seed, one_type, mixed, overcommit);
    std::vector<int> known;
    for (const Policy policy : {Policy::best_fit, Policy::price, Policy::fragmentation, Policy::spread,
                                Policy::binpack, Policy::affinity})
        for (int i = 0; i < 8; ++i) known.push_back(yard.shapes.take(yard.any_shape(policy)));
    for (int step = 0; step < 400; ++step) {
        const auto at = static_cast<std::size_t>(yard.rng.below(known.size()));
        if (yard.rng.below(40) == 0) {  // nobody has this shape any more; its seat goes to another
            const Policy policy = yard.shapes.at(known[at]).policy;
            yard.shapes.drop(known[at]);
            known[at] = yard.shapes.take(yard.any_shape(policy));
        }
        const int shape = known[at];
        yard.pricing.arrived(shape, yard.shapes.at(shape), 1);
        if (yard.pricing.reprice() != Pricing::News::none) yard.seats.levels_changed();
        int looked = 0;
        Trace trace;
        const Spot found = yard.seats.best(shape, looked, step % 2 ? &trace : nullptr);
        const auto all = yard.looked_for(shape);
        const Spot wanted = all.empty() ? Spot{} : all.front();
        ASSERT_EQ(found.node, wanted.node)
            << "seed " << seed << " step " << step << " levels " << found.level << " " << wanted.level;
        ASSERT_EQ(found.level, wanted.level) << "seed " << seed << " step " << step;
        if (step % 2) {
            ASSERT_EQ(trace.best[0].node, found.node);
            std::set<int> shown;
            for (const auto& mark : trace.best)
                if (mark.node >= 0) {
                    ASSERT_TRUE(shown.insert(mark.node).second) << "a node is shown twice";
                }
            // The index of `best_fit` looks for the next ones a while, the trees find them.
            const bool finds_all = ranking_of(yard.shapes.at(shape).policy) != Ranking::ordered;
            for (std::size_t i = 0; finds_all && i < std::min(all.size(), trace.best.size()); ++i) {
                ASSERT_EQ(trace.best[i].node, all[i].node)
                    << "seed " << seed << " step " << step << " place " << i;
                ASSERT_EQ(trace.best[i].level, all[i].level) << "seed " << seed << " step " << step;
            }
        }
        if (found) {
            Look look(yard.shapes.at(shape), yard.cluster, found.node);
            if (found.card >= 0) look.take(found.card);
            ASSERT_TRUE(look.choice()) << "the card that was chosen can be had";
            if (Slices taken; yard.seats.take(shape, found, taken)) {
                const auto job = yard.rng.below(1000);
                ASSERT_EQ(placement_fact(job, 0, look.node, taken),
                          placement_fact(job, 0, look.node, look.slices()))
                    << "seed " << seed;
                ASSERT_EQ(taken.cpu_only, look.slices().cpu_only);
            }
            // Some bookings are only tried.
            auto slices = std::make_unique<Slices>(look.slices());
            const auto mark = yard.cluster.mark();
            yard.cluster.try_book(*slices, 1);
            if (yard.rng.below(4) == 0) {
                (void)yard.seats.best(known[yard.rng.below(known.size())], looked);
                yard.cluster.undo_to(mark);
            } else {
                yard.cluster.keep(mark);
                yard.held.push_back(std::move(slices));
            }
        }
        yard.change_something();
    }
}

TEST(Seats, name_the_best_node_by_level_and_then_by_name) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) ASSERT_NO_FATAL_FAILURE(run(seed, true, false));
}
TEST(Seats, name_the_best_node_among_cards_of_several_types) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) ASSERT_NO_FATAL_FAILURE(run(seed, false, false));
}
TEST(Seats, name_the_best_node_where_memory_is_overcommitted_and_queues_differ_in_how_much) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed)
        ASSERT_NO_FATAL_FAILURE(run(seed, seed % 2 == 0, seed % 4 == 1, 1.2));
}
TEST(Seats, name_the_best_node_where_one_has_cards_of_several_types) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) ASSERT_NO_FATAL_FAILURE(run(seed, false, true));
}

TEST(Thresholds, tell_who_is_served_and_how_many_nodes_are_short) {
    Thresholds thresholds;
    thresholds.build(std::vector<std::int64_t>{0, 5, 3, 5, 9});
    EXPECT_TRUE(thresholds.met(thresholds.index(4)).has(2));
    EXPECT_FALSE(thresholds.met(thresholds.index(4)).has(1));
    EXPECT_TRUE(thresholds.met(thresholds.index(5)).has(3));
    EXPECT_TRUE(thresholds.met(thresholds.index(0)).has(0)) << "who needs nothing is always served";
    for (const std::int64_t amount : {0, 3, 4, 8, 9, 20}) thresholds.count(thresholds.index(amount), 1);
    EXPECT_EQ(thresholds.nodes_short(0), 0);
    EXPECT_EQ(thresholds.nodes_short(2), 1);
    EXPECT_EQ(thresholds.nodes_short(1), 3);
    EXPECT_EQ(thresholds.nodes_short(4), 4);
}

TEST(Thresholds, find_the_index_of_any_amount_among_near_and_far_needs) {
    const std::vector<std::int64_t> needs{3, 1LL << 38, 5, (1LL << 38) + 1, 1 << 20, 1 << 21, 4};
    Thresholds thresholds;
    thresholds.build(needs);
    for (const auto need : needs)
        for (const auto amount : {need - 1, need, need + 1, -need, need * 1000}) {
            const auto covered = std::count_if(needs.begin(), needs.end(),
                                               [&](std::int64_t other) { return other <= amount; });
            EXPECT_EQ(thresholds.index(amount), covered) << amount;
        }
    thresholds.build(std::vector<std::int64_t>{0, 0});
    EXPECT_EQ(thresholds.index(-1), 0);
    EXPECT_EQ(thresholds.index(7), 0);
}

TEST(MaxTree, gives_the_highest_and_among_equals_the_lowest_position) {
    SeededRng rng(3);
    for (const std::size_t size : {1U, 15U, 16U, 17U, 300U, 5000U}) {
        MaxTree tree;
        tree.reset(size);
        EXPECT_TRUE(tree.empty());
        std::vector<std::int32_t> plain(size, MaxTree::none);
        for (int step = 0; step < 500; ++step) {
            const auto at = static_cast<std::size_t>(rng.below(size));
            plain[at] = static_cast<std::int32_t>(rng.below(20)) - 1;
            tree.set(at, plain[at]);
            const auto best = std::max_element(plain.begin(), plain.end());
            ASSERT_EQ(tree.top_value(), *best);
            if (*best >= 0) {
                ASSERT_EQ(tree.top(), static_cast<std::size_t>(best - plain.begin()));
            }
        }
    }
}

}  // namespace
}  // namespace crater::engine
