// The four orders of a queue, growing old in them, and giving way for them.
#include <map>
#include <set>

#include "testing.h"

namespace crater::engine {
namespace {

using namespace testing;

class Orders : public ::testing::Test {
  protected:
    Engine engine;
    Instant now = noon;

    void set_queue(crater::Order order, std::optional<double> factor = {}) {
        QueueSpec queue;
        queue.name = "training";
        queue.order = order;
        queue.preempt_factor = factor;
        engine.apply(QueueSet{queue});
    }
    void add(const EngineJob& job) { engine.apply(JobAdded{job}); }
    static JobMaker one(const std::string& id, std::int64_t at = 0) { return a_job(id).gpus(1000).at(at); }
    static EngineJob lasting(EngineJob job, Millis p50, Millis progress = Millis{0}) {
        job.run_time = RunTime{p50, p50 * 3};
        job.progress = progress;
        return job;
    }
    static EngineJob served(EngineJob job, std::int64_t gpu_seconds) {
        job.served = gpu_seconds * 1000;
        return job;
    }
    void run(const EngineJob& job) {
        add(job);
        ASSERT_NE(node_of(engine, engine.pass(now), job.id), "") << job.id;
    }
    void later(std::int64_t seconds) { now = now + Millis{seconds * 1000}; }
    void stop(const std::string& id, std::int64_t preemptions = 1) {
        engine.apply(TaskFreed{id, 0, now});
        engine.apply(JobRequeued{id, preemptions});
    }
    std::set<std::string> victims() {
        std::set<std::string> out;
        for (const auto& p : engine.pass(now).preemptions) out.insert(p.victim);
        return out;
    }
    std::vector<std::string> waiting() { return engine.waiting("training"); }
    using Names = std::vector<std::string>;
};

TEST_F(Orders, fifo_asks_nothing_but_the_submit_time) {
    set_queue(crater::Order::fifo);
    add(served(lasting(one("c", 3), Millis{1}), 0));
    add(served(lasting(one("a", 1), Millis{1'000'000}), 50));
    add(one("b", 2));
    EXPECT_EQ(waiting(), (Names{"a", "b", "c"}));
}

TEST_F(Orders, shortest_goes_by_what_is_left_of_the_run) {
    set_queue(crater::Order::shortest);
    add(lasting(one("long", 0), Millis{7'200'000}));
    add(lasting(one("half-done", 1), Millis{7'200'000}, Millis{6'000'000}));
    add(lasting(one("short", 2), Millis{3'600'000}));
    auto said = one("said", 3);
    said.spec.duration = Millis{600'000};
    add(said);
    add(one("unknown", 0));
    EXPECT_EQ(waiting(), (Names{"said", "half-done", "short", "long", "unknown"}));
}

TEST_F(Orders, shortest_expects_of_an_outlived_run_that_it_goes_on_as_long_again) {
    set_queue(crater::Order::shortest);
    add(lasting(one("outlived", 0), Millis{60'000}, Millis{3'660'000}));
    add(lasting(one("short", 1), Millis{3'000'000}));
    EXPECT_EQ(waiting(), (Names{"short", "outlived"}));
}

TEST_F(Orders, las_counts_every_card_and_every_start) {
    set_queue(crater::Order::las);
    engine.apply(NodeSet{make_node("n1", 3)});
    run(one("one", 0));
    run(a_job("two").gpus(2000).at(1));
    later(1000);
    stop("two");
    later(500);
    stop("one");  // 1,500 GPU-seconds against 2,000
    add(one("new", 9));
    EXPECT_EQ(waiting(), (Names{"new", "one", "two"}));
    engine.pass(now);  // "two" has to wait
    later(600);
    stop("one");  // 2,100 against 2,000
    stop("new");
    EXPECT_EQ(waiting(), (Names{"new", "two", "one"}));
}

TEST_F(Orders, what_was_received_before_a_restart_is_given_back) {
    set_queue(crater::Order::las);
    add(served(one("much", 0), 500));
    add(served(one("little", 1), 499));
    EXPECT_EQ(waiting(), (Names{"little", "much"}));
}

TEST_F(Orders, a_stop_keeps_what_ran_before_the_last_checkpoint) {
    set_queue(crater::Order::shortest);
    engine.apply(NodeSet{make_node("n1", 2)});
    run(lasting(one("saved", 0), Millis{4'000'000}));
    run(lasting(one("unsaved", 0), Millis{4'000'000}));
    later(1000);
    engine.apply(Checkpointed{"saved", now});
    later(1000);
    stop("saved");
    stop("unsaved");
    add(lasting(one("between", 5), Millis{3'500'000}));
    engine.apply(NodeFlags{"n1", true, false});
    EXPECT_EQ(waiting(), (Names{"saved", "between", "unsaved"}));
}

TEST_F(Orders, fair_serves_the_tenant_that_used_least) {
    set_queue(crater::Order::fair);
    engine.apply(NodeSet{make_node("n1", 1)});
    run(one("first").tenant("greedy"));
    add(one("again", 1).tenant("greedy"));
    add(one("modest", 2).tenant("modest"));
    later(3600);
    engine.pass(now);
    EXPECT_EQ(waiting(), (Names{"modest", "again"}));
    engine.apply(JobRemoved{"first", now, true});
    EXPECT_EQ(node_of(engine, engine.pass(now), "modest"), "n1");
    later(7200);  // used more meanwhile
    engine.apply(JobRemoved{"modest", now, true});
    add(one("more", 0).tenant("modest"));
    EXPECT_EQ(node_of(engine, engine.pass(now), "again"), "n1");
}

TEST_F(Orders, fair_forgets_half_in_each_half_life) {
    Settings settings;
    settings.fair_half_life = Millis{3'600'000};
    engine.apply(SettingsSet{settings});
    set_queue(crater::Order::fair);
    engine.apply(NodeSet{make_node("n1", 1)});
    run(one("a").tenant("long-ago"));
    later(7200);
    engine.apply(JobRemoved{"a", now, true});
    later(4 * 3600);  // two hours, four times halved: less than one just used
    run(one("b").tenant("lately"));
    later(3000);
    engine.apply(JobRemoved{"b", now, true});
    engine.apply(NodeFlags{"n1", true, false});
    add(one("x", 0).tenant("lately"));
    add(one("y", 1).tenant("long-ago"));
    engine.pass(now);
    EXPECT_EQ(waiting(), (Names{"y", "x"}));
}

TEST_F(Orders, fair_does_not_give_one_tenant_everything_in_one_pass) {
    set_queue(crater::Order::fair);
    for (int i = 0; i < 6; ++i) add(one("a" + std::to_string(i), i).tenant("a"));
    for (int i = 0; i < 6; ++i) add(one("b" + std::to_string(i), 100 + i).tenant("b"));
    engine.apply(NodeSet{make_node("n1", 6)});
    std::map<char, int> started;
    for (const auto& placement : engine.pass(now).placements) ++started[placement.job[0]];
    EXPECT_EQ(started['a'], 3);
    EXPECT_EQ(started['b'], 3);
}

TEST_F(Orders, what_tenants_used_outlives_a_restart) {
    set_queue(crater::Order::fair);
    engine.apply(NodeSet{make_node("n1", 1)});
    run(one("first").tenant("greedy"));
    later(3600);
    engine.apply(JobRemoved{"first", now, true});
    const auto learned = engine.learned();

    Engine restarted;
    restarted.apply(NodeSet{make_node("n1", 0, 1)});
    restarted.apply(JobAdded{one("again", 1).tenant("greedy")});
    restarted.apply(JobAdded{one("modest", 2).tenant("modest")});
    restarted.apply(Remembered{learned});
    restarted.pass(now);
    EXPECT_EQ(restarted.waiting("training"), (Names{"modest", "again"}));
    const auto use = learned.substr(learned.find("greedy") - 20);
    EXPECT_TRUE(restarted.learned().ends_with(use)) << restarted.learned();
}

TEST_F(Orders, another_order_sorts_anew_who_waits) {
    set_queue(crater::Order::fifo);
    add(lasting(one("long", 0), Millis{7'200'000}));
    add(lasting(one("short", 1), Millis{60'000}));
    EXPECT_EQ(waiting(), (Names{"long", "short"}));
    set_queue(crater::Order::shortest);
    EXPECT_EQ(waiting(), (Names{"short", "long"}));
}

TEST_F(Orders, who_waited_too_long_goes_first) {
    for (const auto order : {crater::Order::shortest, crater::Order::las, crater::Order::fair}) {
        Engine fresh;
        QueueSpec queue;
        queue.name = "training";
        queue.order = order;
        fresh.apply(QueueSet{queue});
        fresh.apply(
            JobAdded{served(lasting(one("old", 0).tenant("greedy"), Millis{80 * 3'600'000LL}), 3600)});
        Instant at = noon + Millis{400 * 86'400'000LL};
        fresh.apply(JobAdded{lasting(one("young").at(400 * 86'400LL), Millis{60'000})});
        fresh.pass(at);
        EXPECT_EQ(fresh.waiting("training"), (Names{"old", "young"})) << static_cast<int>(order);
    }
}

TEST_F(Orders, a_job_about_to_miss_its_longest_wait_goes_first) {
    set_queue(crater::Order::fifo);
    auto hurried = one("hurried", 100);
    hurried.spec.max_queue_time = Millis{1'000'000};
    add(one("first", 0));
    add(hurried);
    now = noon + Millis{899'000};
    engine.pass(now);
    EXPECT_EQ(waiting(), (Names{"first", "hurried"}));
    later(1);
    engine.pass(now);
    EXPECT_EQ(waiting(), (Names{"hurried", "first"}));
}

// ---- Giving way for the order -----------------------------------------------------------------------------

TEST_F(Orders, a_running_job_gives_way_when_its_key_is_more_than_the_factor) {
    set_queue(crater::Order::shortest);
    engine.apply(NodeSet{make_node("n1", 1)});
    run(lasting(one("long").preemptible(), Millis{10'000'000}));
    later(1000);  // 9,000 s to go
    add(lasting(one("not-short"), Millis{3'000'000}));
    EXPECT_TRUE(victims().empty());
    add(lasting(one("short"), Millis{2'990'000}));
    EXPECT_EQ(victims(), std::set<std::string>{"long"});
}

TEST_F(Orders, las_makes_way_by_gpu_time_received) {
    set_queue(crater::Order::las);
    engine.apply(NodeSet{make_node("n1", 2)});
    run(a_job("served").gpus(2000).preemptible());
    later(600);
    add(served(one("waits", 1), 121));
    EXPECT_TRUE(victims().empty());  // 1,200 against 121 x 10
    add(served(one("less", 2), 119));
    EXPECT_EQ(victims(), std::set<std::string>{"served"});
}

TEST_F(Orders, nobody_gives_way_before_ten_minutes_nor_in_another_queue_or_order) {
    for (const auto order : {crater::Order::fifo, crater::Order::fair, crater::Order::las}) {
        Engine fresh;
        QueueSpec queue;
        queue.name = "training";
        queue.order = order;
        fresh.apply(QueueSet{queue});
        queue.name = "other";
        fresh.apply(QueueSet{queue});
        fresh.apply(NodeSet{make_node("n1", 1)});
        fresh.apply(JobAdded{one("runs").preemptible()});
        fresh.pass(noon);
        fresh.apply(JobAdded{one("elsewhere", 1).queue("other")});
        EXPECT_TRUE(fresh.pass(noon + Millis{900'000}).preemptions.empty());
        fresh.apply(JobAdded{one("waits", 1)});
        EXPECT_TRUE(fresh.pass(noon + Millis{599'000}).preemptions.empty());
        EXPECT_EQ(fresh.pass(noon + Millis{960'000}).preemptions.size(),
                  order == crater::Order::las ? 1U : 0U);
    }
}

TEST_F(Orders, says_when_somebody_will_have_run_for_long_enough) {
    set_queue(crater::Order::las);
    engine.apply(NodeSet{make_node("n1", 1)});
    run(one("runs").preemptible());
    add(one("waits", 1));
    Instant at = noon;
    int passes = 0;
    bool gave_way = false;
    while (!gave_way && ++passes < 50) {
        gave_way = !engine.pass(at).preemptions.empty();
        if (gave_way) break;
        ASSERT_TRUE(engine.wake_at());
        ASSERT_GT(*engine.wake_at(), at);
        at = *engine.wake_at();
    }
    ASSERT_TRUE(gave_way);
    EXPECT_LE(at, noon + Millis{720'000});
}

TEST_F(Orders, a_victim_of_lower_priority_is_taken_before_one_of_the_same) {
    set_queue(crater::Order::las);
    engine.apply(NodeSet{make_node("n1", 2)});
    run(one("low").preemptible().priority(400));
    run(one("same").preemptible());
    later(3600);
    add(one("waits", 1));
    EXPECT_EQ(victims(), std::set<std::string>{"low"});
}

TEST_F(Orders, a_first_start_is_waited_for_so_long_and_a_later_one_as_the_order_has_it) {
    set_queue(crater::Order::shortest);
    engine.apply(NodeSet{make_node("n1", 1)});
    run(lasting(one("runs").preemptible(), Millis{20 * 86'400'000LL}));
    add(lasting(one("long", 1).preemptible(), Millis{30 * 86'400'000LL}));
    later(5 * 86'400);
    EXPECT_TRUE(victims().empty());
    later(1);
    EXPECT_EQ(victims(), std::set<std::string>{"runs"});
    stop("runs");
    EXPECT_EQ(node_of(engine, engine.pass(now), "long"), "n1");
    // From now on it is a job like others: it gives way, and does not grow old again.
    add(lasting(one("short", 6 * 86'400), Millis{3'600'000}));
    later(601);
    EXPECT_EQ(victims(), std::set<std::string>{"long"});
    stop("long");
    EXPECT_EQ(node_of(engine, engine.pass(now), "short"), "n1");
    later(30 * 86'400);
    engine.pass(now);
    EXPECT_EQ(waiting(), (Names{"runs", "long"}));
}

TEST_F(Orders, who_was_stopped_before_runs_for_longer_each_time) {
    set_queue(crater::Order::shortest);
    engine.apply(NodeSet{make_node("n1", 1)});
    EngineJob often = lasting(one("often").preemptible(), Millis{20 * 86'400'000LL});
    often.preemptions = 4;
    run(often);
    add(lasting(one("short", 1), Millis{3'600'000}));
    later(1199);
    EXPECT_TRUE(victims().empty());
    later(61);  // who was blocked looks again after a minute
    EXPECT_EQ(victims(), std::set<std::string>{"often"});
}

// Told to stop it loses nothing, however long it ran: what counts is how many cards are stopped.
TEST_F(Orders, who_saves_when_told_to_stop_costs_the_restart_alone) {
    for (const bool saves : {false, true}) {
        Engine fresh;
        QueueSpec queue;
        queue.name = "training";
        queue.order = crater::Order::shortest;
        fresh.apply(QueueSet{queue});
        fresh.apply(NodeSet{make_node("n1", 3)});
        EngineJob small = lasting(one("small").preemptible(), Millis{40 * 3'600'000LL});
        small.saves_on_stop = saves;
        fresh.apply(JobAdded{small});
        fresh.pass(noon);
        EngineJob wide = lasting(a_job("wide").gpus(2000).preemptible(), Millis{40 * 3'600'000LL});
        wide.saves_on_stop = saves;
        fresh.apply(JobAdded{wide});
        fresh.pass(noon + Millis{10 * 3'600'000LL});
        fresh.apply(JobAdded{lasting(one("short", 1), Millis{60'000})});
        const auto plan = fresh.pass(noon + Millis{11 * 3'600'000LL});
        ASSERT_EQ(plan.preemptions.size(), 1U);
        EXPECT_EQ(plan.preemptions[0].victim, saves ? "small" : "wide");
    }
}

// ---- What a queue keeps for itself ------------------------------------------------------------------------

TEST_F(Orders, a_reserve_is_lent_only_to_who_gives_it_back) {
    QueueSpec owner;
    owner.name = "owner";
    owner.reserved_gpu = 2;
    engine.apply(QueueSet{owner});
    engine.apply(NodeSet{make_node("n1", 3)});
    add(one("for-good-1", 0).priority(900));
    add(one("for-good-2", 1).priority(900));
    auto plan = engine.pass(now);
    EXPECT_EQ(node_of(engine, plan, "for-good-1"), "n1");
    EXPECT_EQ(node_of(engine, plan, "for-good-2"), "");
    run(one("lent", 2).priority(900).preemptible());
    run(one("lent-too", 3).priority(900).preemptible());
    // The owner takes back at once what it needs, from whatever priority.
    add(one("its", 4).queue("owner").priority(100));
    const auto taken = victims();
    ASSERT_EQ(taken.size(), 1U);
    stop(*taken.begin());
    plan = engine.pass(now);
    EXPECT_EQ(node_of(engine, plan, "its"), "n1");
    EXPECT_TRUE(plan.preemptions.empty());  // nor does the stopped one come back for it
    EXPECT_TRUE(victims().empty());
    // Beyond its reserve it is a queue like others.
    add(one("second", 5).queue("owner").priority(100));
    EXPECT_EQ(victims().size(), 1U);
    add(one("third", 6).queue("owner").priority(100));
    EXPECT_TRUE(victims().empty());
}

TEST_F(Orders, a_reserve_that_is_given_up_lets_the_jobs_of_other_queues_go_on) {
    QueueSpec owner;
    owner.name = "owner";
    owner.reserved_gpu = 1;
    engine.apply(QueueSet{owner});
    engine.apply(NodeSet{make_node("n1", 1)});
    add(one("waits", 0));
    EXPECT_EQ(node_of(engine, engine.pass(now), "waits"), "");
    owner.reserved_gpu = 0;
    engine.apply(QueueSet{owner});
    EXPECT_EQ(node_of(engine, engine.pass(now), "waits"), "n1");
}

// Two gangs lost a task each to a failure, and each waits for the card that the other would need.
TEST_F(Orders, gangs_that_hold_parts_do_not_wait_for_each_other_for_ever) {
    engine.apply(NodeSet{make_node("n1", 4)});
    run(a_job("low").gpus(1000).tasks(2).priority(400));
    run(a_job("high").gpus(1000).tasks(2).at(1));
    for (const char* id : {"low", "high"}) {
        engine.apply(TaskFreed{id, 1, now});
        engine.apply(TaskRequeued{id, 1});
    }
    run(a_job("quick").gpus(2000).priority(900));  // takes what they freed
    later(30);
    EXPECT_EQ(engine.pass(now).preemptions.size(), 1U);
    engine.apply(TaskFreed{"low", 0, now});
    engine.apply(JobRequeued{"low", 1});
    EXPECT_EQ(node_of(engine, engine.pass(now), "high"), "n1");
}

}  // namespace
}  // namespace crater::engine
