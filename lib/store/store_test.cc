// What both stores promise.
#include "crater/store/store.h"

#include <gtest/gtest.h>

#include "test_folder.h"
#include "test_loop.h"

namespace crater::store {
namespace {

enum class Kind { memory, sqlite };

class StoreContract : public testing::TestWithParam<Kind> {
  protected:
    void SetUp() override { open(); }

    void open() {
        store_.reset();
        if (GetParam() == Kind::memory) {
            store_ = open_memory(disk_, loop_);
        } else {
            auto opened = open_sqlite({.path = folder_.file("store.db")}, loop_);
            ASSERT_TRUE(opened) << opened.error().text();
            store_ = std::move(*opened);
        }
    }

    Result<Revision> commit(Batch batch) {
        std::optional<Result<Revision>> answer;
        store_->commit(std::move(batch), [&](Result<Revision> r) { answer = std::move(r); });
        loop_.run_until([&] { return answer.has_value(); });
        return *answer;
    }
    void put(std::string key, std::string value) {
        const auto done = commit({.writes = {{std::move(key), std::move(value)}}});
        ASSERT_TRUE(done) << done.error().text();
    }
    void append(std::string kind, std::string subject, std::int64_t at, std::string body = "{}") {
        ASSERT_TRUE(
            commit({.history = {{std::move(kind), std::move(subject), Instant{at}, std::move(body)}}}));
    }
    std::vector<std::uint64_t> sequences(const HistoryQuery& query) {
        std::vector<std::uint64_t> out;
        const auto rows = store_->history(query);
        EXPECT_TRUE(rows) << rows.error().text();
        for (const auto& row : *rows) out.push_back(row.sequence);
        return out;
    }
    std::vector<std::string> keys(std::string_view prefix) {
        std::vector<std::string> out;
        const auto entries = store_->load(prefix);
        for (const auto& entry : *entries) out.push_back(entry.key);
        return out;
    }

    TestFolder folder_;
    MemoryDisk disk_;
    TestLoop loop_;
    std::unique_ptr<Store> store_;
};

using List = std::vector<std::string>;
using Numbers = std::vector<std::uint64_t>;

TEST_P(StoreContract, begins_empty) {
    EXPECT_EQ(store_->revision(), 0u);
    EXPECT_TRUE(store_->load("")->empty());
    EXPECT_FALSE(store_->get("job/a")->has_value());
    EXPECT_TRUE(store_->history({})->empty());
}

TEST_P(StoreContract, hands_out_what_is_below_a_prefix_in_order_and_ends_with_the_first_error) {
    for (const char* key : {"job/b", "node/x", "job/a", "joc"}) put(key, std::string("v\0", 2) + key);
    List seen;
    ASSERT_TRUE(store_->for_each("job/", [&](std::string_view key, std::string_view value) -> Result<void> {
        EXPECT_EQ(value, std::string("v\0", 2) + std::string(key));
        seen.emplace_back(key);
        return {};
    }));
    EXPECT_EQ(seen, (List{"job/a", "job/b"}));
    int calls = 0;
    const auto ended = store_->for_each("", [&](std::string_view, std::string_view) -> Result<void> {
        ++calls;
        return fail(Code::invalid, "enough");
    });
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().message, "enough");
    EXPECT_EQ(calls, 1);
}

TEST_P(StoreContract, keeps_what_it_acknowledged_across_a_reopen) {
    put("job/a", "one");
    put("job/b", std::string("z\0\xff\n", 4));
    put("job/a", "two");
    append("decision", "job-1", 5, "{\"x\":1}");
    open();
    EXPECT_EQ(store_->revision(), 4u);
    EXPECT_EQ(*store_->get("job/a"), "two");
    EXPECT_EQ(*store_->get("job/b"), std::string("z\0\xff\n", 4));
    const auto rows = store_->history({});
    ASSERT_EQ(rows->size(), 1u);
    EXPECT_EQ(rows->front().kind, "decision");
    EXPECT_EQ(rows->front().subject, "job-1");
    EXPECT_EQ(rows->front().at, Instant{5});
    EXPECT_EQ(rows->front().body, "{\"x\":1}");
    EXPECT_EQ(rows->front().sequence, 1u);
}

TEST_P(StoreContract, commits_in_the_order_of_the_calls) {
    std::vector<Revision> order;
    for (int i = 0; i < 200; ++i)
        store_->commit({.writes = {{"last", std::to_string(i)}}},
                       [&](Result<Revision> r) { order.push_back(*r); });
    loop_.run_until([&] { return order.size() == 200; });
    for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], i + 1);
    EXPECT_EQ(*store_->get("last"), "199");
    EXPECT_EQ(store_->revision(), 200u);
}

TEST_P(StoreContract, answers_only_from_the_loop) {
    bool answered = false;
    store_->commit({.writes = {{"a", "1"}}}, [&](Result<Revision>) { answered = true; });
    EXPECT_FALSE(answered);
    loop_.run_until([&] { return answered; });
}

TEST_P(StoreContract, deletes_and_applies_the_writes_of_a_batch_in_order) {
    put("a", "1");
    ASSERT_TRUE(
        commit({.writes = {{"a", std::nullopt}, {"b", "1"}, {"b", "2"}, {"c", "1"}, {"c", std::nullopt}}}));
    EXPECT_EQ(keys(""), (List{"b"}));
    EXPECT_EQ(*store_->get("b"), "2");
}

TEST_P(StoreContract, keeps_an_empty_value_apart_from_none) {
    put("a", "");
    open();
    ASSERT_TRUE(store_->get("a")->has_value());
    EXPECT_EQ(**store_->get("a"), "");
}

TEST_P(StoreContract, loads_a_prefix_in_the_order_of_keys) {
    for (const char* key : {"job/b", "job/a", "job", "job0", "node/a", "job/\xff", "\xff\xff/x"})
        put(key, "v");
    EXPECT_EQ(keys("job/"), (List{"job/a", "job/b", "job/\xff"}));
    EXPECT_EQ(keys("job"), (List{"job", "job/a", "job/b", "job/\xff", "job0"}));
    EXPECT_EQ(keys("\xff"), (List{"\xff\xff/x"}));
    EXPECT_EQ(keys("").size(), 7u);
    EXPECT_TRUE(keys("zzz").empty());
}

TEST_P(StoreContract, pages_through_history_in_both_directions) {
    for (int i = 0; i < 10; ++i) append(i % 2 == 0 ? "decision" : "audit", i < 5 ? "x" : "y", i);
    EXPECT_EQ(sequences({.limit = 3}), (Numbers{1, 2, 3}));
    EXPECT_EQ(sequences({.after = 3, .limit = 3}), (Numbers{4, 5, 6}));
    EXPECT_EQ(sequences({.newest_first = true, .limit = 3}), (Numbers{10, 9, 8}));
    EXPECT_EQ(sequences({.before = 8, .newest_first = true, .limit = 2}), (Numbers{7, 6}));
    EXPECT_EQ(sequences({.kind = "decision"}), (Numbers{1, 3, 5, 7, 9}));
    EXPECT_EQ(sequences({.subject = "y"}), (Numbers{6, 7, 8, 9, 10}));
    EXPECT_EQ(sequences({.kind = "audit", .subject = "y", .newest_first = true}), (Numbers{10, 8, 6}));
    EXPECT_EQ(sequences({.kind = "audit", .subject = "y", .after = 6, .before = 10}), (Numbers{8}));
    EXPECT_TRUE(sequences({.kind = "usage"}).empty());
    EXPECT_TRUE(sequences({.limit = 0}).empty());
}

TEST_P(StoreContract, forgets_old_history_of_one_kind_and_never_reuses_a_sequence) {
    for (int i = 0; i < 1200; ++i) append(i % 3 == 0 ? "audit" : "decision", "x", i);
    EXPECT_EQ(*store_->forget_history("decision", Instant{1199}), 799u);
    EXPECT_EQ(sequences({.kind = "decision", .limit = 5}), (Numbers{1200}));
    EXPECT_EQ(sequences({.kind = "audit", .limit = 2}), (Numbers{1, 4}));
    EXPECT_EQ(*store_->forget_history("decision", Instant{5000}), 1u);
    EXPECT_EQ(*store_->forget_history("decision", Instant{5000}), 0u);
    open();
    append("decision", "x", 1);
    EXPECT_EQ(sequences({.kind = "decision"}), (Numbers{1201}));
}

TEST_P(StoreContract, an_empty_batch_counts_too) {
    EXPECT_EQ(*commit({}), 1u);
    EXPECT_EQ(*commit({}), 2u);
}

INSTANTIATE_TEST_SUITE_P(Both, StoreContract, testing::Values(Kind::memory, Kind::sqlite),
                         [](const auto& p) { return p.param == Kind::memory ? "memory" : "sqlite"; });

TEST(MemoryDisk, a_crash_loses_only_what_was_not_durable) {
    MemoryDisk disk;
    TestLoop loop;
    int answers = 0;
    {
        auto store = open_memory(disk, loop, Millis(10));
        store->commit({.writes = {{"a", "1"}}}, [&](Result<Revision>) { ++answers; });
        loop.advance(Millis(6));
        store->commit({.writes = {{"b", "1"}}}, [&](Result<Revision>) { ++answers; });
        loop.advance(Millis(6));
        EXPECT_EQ(answers, 1);
        EXPECT_FALSE(store->get("b")->has_value());
    }
    loop.advance(Millis(100));
    EXPECT_EQ(answers, 1);
    auto store = open_memory(disk, loop);
    EXPECT_TRUE(store->get("a")->has_value());
    EXPECT_FALSE(store->get("b")->has_value());
    EXPECT_EQ(store->revision(), 1u);
}

TEST(MemoryDisk, a_failed_commit_fails_every_later_one_until_it_is_opened_again) {
    MemoryDisk disk;
    TestLoop loop;
    std::vector<bool> answers;
    const auto note = [&](Result<Revision> r) { answers.push_back(r.has_value()); };
    auto store = open_memory(disk, loop);
    disk.fail_next_commits = true;
    store->commit({.writes = {{"a", "1"}}}, note);
    loop.advance(Millis(0));
    disk.fail_next_commits = false;
    store->commit({.writes = {{"b", "1"}}}, note);
    loop.advance(Millis(0));
    EXPECT_EQ(answers, (std::vector<bool>{false, false}));
    store = open_memory(disk, loop);
    EXPECT_TRUE(store->load("")->empty());
    store->commit({.writes = {{"c", "1"}}}, note);
    loop.advance(Millis(0));
    EXPECT_TRUE(answers.back());
}

TEST(MemoryDisk, a_torn_group_is_gone_whole_when_it_is_opened_again) {
    MemoryDisk disk;
    TestLoop loop;
    std::vector<bool> answers;
    const auto note = [&](Result<Revision> r) { answers.push_back(r.has_value()); };
    auto store = open_memory(disk, loop);
    store->commit({.writes = {{"a", "1"}, {"b", "1"}},
                   .history = {{.kind = "k", .subject = "s", .at = {}, .body = "1"}}},
                  note);
    loop.advance(Millis(0));
    disk.tear_next_commit = true;
    const HistoryRow row{.kind = "k", .subject = "s", .at = {}, .body = "2"};
    store->commit(
        {.writes = {{"a", "2"}, {"b", std::nullopt}, {"c", "2"}, {"a", "3"}}, .history = {row, row, row}},
        note);
    store->commit({.writes = {{"d", "1"}}}, note);
    loop.advance(Millis(0));
    EXPECT_EQ(answers, (std::vector<bool>{true, false, false}));
    store = open_memory(disk, loop);
    EXPECT_EQ(store->get("a")->value_or(""), "1");
    EXPECT_EQ(store->get("b")->value_or(""), "1");
    EXPECT_FALSE(store->get("c")->has_value());
    EXPECT_FALSE(store->get("d")->has_value());
    EXPECT_EQ(store->history({.kind = "k", .subject = "s"})->size(), 1u);
    EXPECT_EQ(store->revision(), 1u);
    store->commit({.writes = {}, .history = {row}}, note);
    loop.advance(Millis(0));
    EXPECT_EQ(store->history({})->back().sequence, 2u);
}

TEST(MemoryDisk, a_second_opening_shuts_the_first_out) {
    MemoryDisk disk;
    TestLoop loop;
    auto first = open_memory(disk, loop);
    auto second = open_memory(disk, loop);
    std::optional<Result<Revision>> answer;
    first->commit({.writes = {{"a", "1"}}}, [&](Result<Revision> r) { answer = std::move(r); });
    loop.run_until([&] { return answer.has_value(); });
    ASSERT_FALSE(*answer);
    EXPECT_EQ(answer->error().code, Code::conflict);
    EXPECT_TRUE(second->load("")->empty());
}

}  // namespace
}  // namespace crater::store
