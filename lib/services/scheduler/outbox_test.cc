#include <nlohmann/json.hpp>

#include "test_world.h"

namespace crater::scheduler {
namespace {

Config with_alldata() {
    Config config;
    config.alldata.api_url = "https://alldata.example.com/api/v1/";
    return config;
}

struct CallbackWorld : TestWorld {
    CallbackWorld() : TestWorld(with_alldata()) {
        crash();
        with_callbacks = true;
        start();
    }
    std::string submit_task(const std::string& id) {
        return submit(gpu_job(),
                      {.spec = {}, .actor = {}, .idempotency_key = {}, .document = id, .task_id = id});
    }
    // Statuses that AllData took of a task, and that their numbers have no gap (a repeated one is allowed).
    std::vector<std::string> statuses(const std::string& id) {
        std::vector<std::string> out;
        std::int64_t last = 0;
        for (const std::string& body : callbacks.taken) {
            const auto tree = codec::parse_json(body);
            if (tree->at("task_id") != id) continue;
            const std::int64_t sequence = tree->at("sequence").get<std::int64_t>();
            if (sequence == last) continue;
            EXPECT_EQ(sequence, last + 1);
            last = sequence;
            out.push_back(tree->at("status"));
        }
        return out;
    }
};

using Names = std::vector<std::string>;

TEST(Outbox, every_status_in_order) {
    CallbackWorld w;
    FakeAgent& a = w.add_agent("n1");
    w.submit_task("t1");
    w.run(seconds(1));
    a.finish(a.launches[0]);
    w.run(seconds(1));
    EXPECT_EQ(w.statuses("t1"), (Names{"queued", "scheduled", "running", "finished"}));
    EXPECT_EQ(w.callbacks.requests[0].url, "https://alldata.example.com/api/v1/crater/callback");
    const auto scheduled = codec::parse_json(w.callbacks.taken[1]);
    EXPECT_EQ(scheduled->at("allocated_resources").at("node"), "n1");
    EXPECT_TRUE(w.store->load("outbox/")->empty());
    w.submit(gpu_job());
    w.run(seconds(1));
    EXPECT_EQ(w.callbacks.taken.size(), 4u) << "only for AllData's tasks";
}

TEST(Outbox, failures_are_repeated_in_order_and_shown) {
    CallbackWorld w;
    FakeAgent& a = w.add_agent("n1");
    w.callbacks.fail_next = 5;
    w.submit_task("t1");
    w.submit_task("t2");
    w.run(seconds(2));
    bool shown = false;
    for (const auto& problem : w.scheduler->read().cluster().problems)
        shown |= problem.kind == "callback_failing";
    EXPECT_TRUE(shown);
    for (const auto& launch : a.launches) a.finish(launch);
    w.run(minutes(5));
    EXPECT_EQ(w.statuses("t1"), (Names{"queued", "scheduled", "running", "finished"}));
    EXPECT_EQ(w.statuses("t2"), (Names{"queued", "scheduled", "running", "finished"}));
    EXPECT_TRUE(w.scheduler->read().cluster().problems.empty());
}

TEST(Outbox, survives_crashes_and_delivers_at_least_once) {
    for (int crash_after = 1; crash_after < 60; crash_after += 4) {
        CallbackWorld w;
        FakeAgent& a = w.add_agent("n1");
        std::optional<Result<Submitted>> answer;
        w.scheduler->submit(
            {.spec = gpu_job(), .actor = {}, .idempotency_key = {}, .document = "t", .task_id = "t"},
            [&](auto r) { answer = std::move(r); });
        w.run(Millis(crash_after));
        w.restart();
        if (!w.job("t")) continue;
        w.run(seconds(1));
        w.restart();
        ASSERT_EQ(a.launches.size(), 1u);
        a.finish(a.launches[0]);
        w.run(minutes(1));
        EXPECT_EQ(w.statuses("t").back(), "finished") << crash_after;
        EXPECT_EQ(w.statuses("t").front(), "queued") << crash_after;
        EXPECT_TRUE(w.store->load("outbox/")->empty());
    }
}

TEST(Outbox, what_cannot_be_delivered_for_a_day_is_kept_apart_and_shown) {
    CallbackWorld w;
    w.add_agent("n1");
    w.callbacks.always = 500;
    w.submit_task("t1");
    w.run(Millis(25ll * 3600 * 1000));
    EXPECT_EQ(w.store->load("dead/")->size(), 3u);
    EXPECT_TRUE(w.store->load("outbox/")->empty());
    EXPECT_LT(w.callbacks.requests.size(), 1'200u) << "ever longer pauses";
    w.restart();
    w.run(seconds(2));
    bool shown = false;
    for (const auto& problem : w.scheduler->read().cluster().problems)
        shown |= problem.kind == "callback_dead";
    EXPECT_TRUE(shown);
}

}  // namespace
}  // namespace crater::scheduler
