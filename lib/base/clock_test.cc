#include "crater/base/clock.h"

#include <gtest/gtest.h>

#include <thread>

namespace crater {
namespace {

TEST(SeededRng, is_the_same_everywhere_for_a_seed) {
    SeededRng rng(0);
    EXPECT_EQ(rng.next(), 0xe220a8397b1dcdaf);
    EXPECT_EQ(rng.next(), 0x6e789e6aa1b965f4);
    for (int i = 0; i < 1000; ++i) EXPECT_LT(rng.below(7), 7U);
}

TEST(SystemRng, does_not_repeat_itself) {
    const auto rng = system_rng();
    EXPECT_NE(rng->next(), rng->next());
}

TEST(SystemClock, ticks_never_go_back) {
    const auto clock = system_clock();
    const auto before = clock->ticks_us();
    EXPECT_GE(clock->ticks_us(), before);
    EXPECT_GT(clock->now().ms, 1'600'000'000'000);
}

TEST(ThreadLoop, runs_tasks_in_order_of_posting) {
    ThreadLoop loop;
    std::vector<int> seen;
    for (int i = 0; i < 100; ++i) loop.post([&seen, i] { seen.push_back(i); });
    loop.post([&loop] { loop.stop(); });
    loop.run();
    ASSERT_EQ(seen.size(), 100U);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
}

TEST(ThreadLoop, runs_timers_by_deadline_then_creation) {
    ThreadLoop loop;
    std::string seen;
    loop.after(Millis(3), [&] {
        seen += 'c';
        loop.stop();
    });
    loop.after(Millis(1), [&] { seen += 'a'; });
    loop.after(Millis(1), [&] { seen += 'b'; });
    loop.run();
    EXPECT_EQ(seen, "abc");
}

TEST(ThreadLoop, never_runs_a_cancelled_timer) {
    ThreadLoop loop;
    std::string seen;
    TimerId second = 0;
    loop.after(Millis(0), [&] {
        seen += 'a';
        loop.cancel(second);
    });
    second = loop.after(Millis(0), [&] { seen += 'x'; });
    loop.after(Millis(1), [&] { loop.stop(); });
    loop.cancel(0);
    loop.cancel(12345);
    loop.run();
    EXPECT_EQ(seen, "a");
}

TEST(ThreadLoop, neither_timers_nor_posts_starve_the_other) {
    ThreadLoop loop;
    std::function<void()> repost = [&] { loop.post(repost); };
    std::function<void()> rearm = [&] { loop.after(Millis(0), rearm); };
    repost();
    rearm();
    int turns = 0;
    std::function<void()> count = [&] {
        if (++turns == 50) loop.stop();
        loop.after(Millis(0), count);
    };
    loop.post(count);
    loop.run();
    EXPECT_EQ(turns, 50);
}

TEST(ThreadLoop, takes_posts_from_many_threads) {
    ThreadLoop loop;
    int total = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 500; ++i)
                loop.post([&] {
                    if (++total == 2000) loop.stop();
                });
        });
    loop.run();
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(total, 2000);
}

TEST(ThreadLoop, stop_before_run_returns_at_once) {
    ThreadLoop loop;
    loop.post([] { FAIL(); });
    loop.stop();
    loop.run();
}

}  // namespace
}  // namespace crater
