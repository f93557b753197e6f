// How hooks change the order of candidates.
#include "crater/engine/hooks.h"

#include <gtest/gtest.h>

namespace crater::engine {
namespace {

struct FakeHook final : PlacementHook {
    std::string named;
    HookAnswer answer;
    FakeHook(std::string n, HookAnswer a) : named(std::move(n)), answer(std::move(a)) {}
    std::string_view name() const override { return named; }
    HookAnswer ask(const JobView&, std::span<const NodeView>) override { return answer; }
};
struct FakeSource final : HookSource {
    std::vector<FakeHook*> hooks;
    PlacementHook* find(std::string_view name) override {
        for (FakeHook* hook : hooks)
            if (hook->named == name) return hook;
        return nullptr;
    }
};

struct Candidates {
    NodeInventory inventories[3];
    std::vector<NodeView> nodes;
    // With the scores that the policy gives them, best first.
    explicit Candidates(double a, double b, double c) {
        const double scores[] = {a, b, c};
        for (int i = 0; i < 3; ++i) {
            inventories[i].name = std::string("n") + std::to_string(i);
            nodes.push_back(view_of(inventories[i], {}, {}, scores[i]));
        }
    }
    Hooked ask(std::vector<HookUse> hooks) const { return ask_hooks(hooks, {}, nodes); }
};

std::vector<std::size_t> order(const Hooked& hooked) {
    std::vector<std::size_t> out;
    for (const auto& candidate : hooked.ranked) out.push_back(candidate.position);
    return out;
}

TEST(Hooks, a_score_counts_by_its_weight_against_the_policy) {
    const Candidates c(0.9, 0.8, 0.1);
    FakeHook hook("p", {.given = true, .keep = {}, .score = {0, 0.2, 1}});
    EXPECT_EQ(order(c.ask({{&hook, 0}})), (std::vector<std::size_t>{0, 1, 2}));
    const Hooked equal = c.ask({{&hook, 1}});
    EXPECT_EQ(order(equal), (std::vector<std::size_t>{2, 1, 0}));
    EXPECT_DOUBLE_EQ(equal.ranked[0].score, (0.1 + 1) / 2);
    EXPECT_EQ(equal.ranked[0].terms.at(0).name, "plugin p");
}

TEST(Hooks, equals_stay_in_the_order_of_the_policy) {
    const Candidates c(0.5, 0.5, 0.5);
    FakeHook hook("p", {.given = true, .keep = {}, .score = {0.3, 0.3, 0.3}});
    EXPECT_EQ(order(c.ask({{&hook, 5}})), (std::vector<std::size_t>{0, 1, 2}));
}

TEST(Hooks, who_is_turned_away_is_named_with_the_plugin) {
    const Candidates c(0.9, 0.8, 0.1);
    FakeHook hook("p", {.given = true, .keep = {0, 1, 0}, .score = {}});
    const Hooked hooked = c.ask({{&hook, 1}});
    EXPECT_EQ(order(hooked), (std::vector<std::size_t>{1}));
    EXPECT_DOUBLE_EQ(hooked.ranked[0].score, 0.8);  // it does not score: the policy's own word counts alone
    ASSERT_EQ(hooked.rejections.size(), 1u);
    EXPECT_EQ(hooked.rejections[0].filter, "plugin p");
    EXPECT_EQ(hooked.rejections[0].nodes, 2);
    EXPECT_EQ(hooked.rejections[0].first_node, "n0");
    EXPECT_EQ(hooked.rejections[0].detail, "the plugin p turned it away");
}

TEST(Hooks, without_an_answer_nothing_changes) {
    const Candidates c(0.9, 0.8, 0.1);
    FakeHook silent("silent", {}), other("other", {.given = true, .keep = {}, .score = {0, 0, 1}});
    const Hooked hooked = c.ask({{&silent, 9}, {&other, 1}});
    EXPECT_EQ(order(hooked), (std::vector<std::size_t>{2, 0, 1}));
    EXPECT_EQ(order(c.ask({{&silent, 9}})), (std::vector<std::size_t>{0, 1, 2}));
    EXPECT_DOUBLE_EQ(c.ask({}).ranked[0].score, 0.9);
}

TEST(Hooks, a_queue_uses_those_it_names_that_work) {
    FakeHook a("a", {}), b("b", {});
    FakeSource source;
    source.hooks = {&b, &a};
    const QueueSpec queue{.name = "q", .plugins = {{"a", 0.5}, {"broken", 1}, {"b", 2}}};
    const auto hooks = hooks_of(queue, &source);
    ASSERT_EQ(hooks.size(), 2u);
    EXPECT_EQ(hooks[0].hook, &a);
    EXPECT_EQ(hooks[0].weight, 0.5);
    EXPECT_EQ(hooks[1].hook, &b);
    EXPECT_TRUE(hooks_of(queue, nullptr).empty());
}

TEST(Hooks, nvlink_is_as_fast_as_the_data_sheet_says) {
    EXPECT_EQ(nvlink_bandwidth("h100-sxm5-80gb").value, 900'000'000'000);
    EXPECT_EQ(nvlink_bandwidth("h100-pcie-80gb").value, 600'000'000'000);
    EXPECT_EQ(nvlink_bandwidth("a100-sxm4-80gb").value, 600'000'000'000);
    EXPECT_EQ(nvlink_bandwidth("l4").value, 0);
}

}  // namespace
}  // namespace crater::engine
