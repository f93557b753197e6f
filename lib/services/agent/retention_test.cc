#include "retention.h"

#include <gtest/gtest.h>

#include <map>

namespace crater::agent {
namespace {

// Time under the test's hand, with a loop on it.
class HandClock final : public Clock, public Loop {
  public:
    Instant now() const override { return now_; }
    std::int64_t ticks_us() const override { return now_.ms * 1000; }
    void post(Task task) override { after(Millis(0), std::move(task)); }
    TimerId after(Millis delay, Task task) override {
        const TimerId id = ++last_;
        events_[{now_.ms + delay.count(), id}] = std::move(task);
        return id;
    }
    void cancel(TimerId id) override {
        std::erase_if(events_, [&](const auto& event) { return event.first.second == id; });
    }
    void run(Millis span) {
        const Instant end = now_ + span;
        while (!events_.empty() && events_.begin()->first.first <= end.ms) {
            auto event = events_.extract(events_.begin());
            now_.ms = std::max(now_.ms, event.key().first);
            event.mapped()();
        }
        now_ = end;
    }

  private:
    Instant now_{1'700'000'000'000};
    TimerId last_ = 0;
    std::map<std::pair<std::int64_t, TimerId>, Task> events_;
};

// Each attempt takes 10 of the disk's 100 bytes.
class FakeRuntime final : public run::Runtime {
  public:
    std::vector<run::Kept> attempts;
    std::vector<run::JobFolder> folders;
    std::int64_t free = 100;

    void listen(Listener) override {}
    std::vector<run::Adopted> adopt() override { return {}; }
    void start(run::Launch) override {}
    void stop(const run::TaskId&, Millis, State, Reason, std::string) override {}
    void forget(const run::TaskId& id) override {
        free += 10 *
                static_cast<std::int64_t>(std::erase_if(attempts, [&](const auto& a) { return a.id == id; }));
    }
    std::vector<run::Kept> kept() override { return attempts; }
    std::vector<run::JobFolder> job_folders() override { return folders; }
    void drop(const run::JobFolder& folder) override {
        std::erase_if(folders, [&](const auto& f) { return f.job == folder.job && f.kind == folder.kind; });
    }
    run::Space space() override { return {Bytes(free), Bytes(100)}; }
    std::vector<run::TaskUsage> usage() override { return {}; }
    Result<std::pair<std::string, std::int64_t>> log(const run::TaskId&, std::int64_t, std::size_t) override {
        return fail(Code::not_found, "none");
    }
    Enforcement enforcement() const override { return {}; }
};

constexpr Millis day{86'400'000};
using Kind = run::JobFolder::Kind;

TEST(Retention, each_kind_goes_at_its_own_age) {
    HandClock time;
    FakeRuntime runtime;
    const Instant start = time.now();
    for (int i = 0; i < 5; ++i) runtime.attempts.push_back({{"job-" + std::to_string(i), 0, 1}, start});
    runtime.folders = {{Kind::checkpoints, "job-0", start}, {Kind::output, "job-0", start}};
    Retention retention({}, time, time, runtime);
    retention.start();
    time.run(day * 7);
    EXPECT_EQ(runtime.attempts.size(), 5u);
    time.run(Millis(2 * 3'600'000));
    EXPECT_TRUE(runtime.attempts.empty());
    EXPECT_EQ(runtime.folders.size(), 2u);
    time.run(day * 23);
    ASSERT_EQ(runtime.folders.size(), 1u);
    EXPECT_EQ(runtime.folders[0].kind, Kind::output);
    time.run(day * 60);
    EXPECT_TRUE(runtime.folders.empty());
}

TEST(Retention, zero_keeps_for_ever) {
    HandClock time;
    FakeRuntime runtime;
    runtime.attempts = {{{"job", 0, 1}, time.now()}};
    runtime.folders = {{Kind::checkpoints, "job", time.now()}, {Kind::output, "job", time.now()}};
    Retention retention({.logs = Millis(0), .checkpoints = Millis(0), .output = Millis(0)}, time, time,
                        runtime);
    retention.start();
    time.run(day * 400);
    EXPECT_EQ(runtime.attempts.size(), 1u);
    EXPECT_EQ(runtime.folders.size(), 2u);
}

TEST(Retention, a_short_disk_takes_the_oldest_attempts_and_no_more_than_needed) {
    HandClock time;
    FakeRuntime runtime;
    for (int i = 5; i-- > 0;)
        runtime.attempts.push_back({{"job-" + std::to_string(i), 0, 1}, time.now() + Millis(i)});
    runtime.folders = {{Kind::checkpoints, "job-9", time.now()}};
    runtime.free = 4;
    Retention retention({.disk_free_min_percent = 20}, time, time, runtime);
    retention.start();
    time.run(Millis(61'000));
    EXPECT_EQ(runtime.free, 24);
    ASSERT_EQ(runtime.attempts.size(), 3u);
    for (const auto& kept : runtime.attempts) EXPECT_GE(kept.id.job, "job-2") << "the oldest go first";
    EXPECT_EQ(runtime.folders.size(), 1u) << "a job that waits may need its checkpoints";
    time.run(day);
    EXPECT_EQ(runtime.attempts.size(), 3u);
}

TEST(Retention, a_changed_configuration_holds_from_the_next_look) {
    HandClock time;
    FakeRuntime runtime;
    runtime.attempts = {{{"job", 0, 1}, time.now()}};
    Retention retention({}, time, time, runtime);
    retention.start();
    time.run(day);
    EXPECT_EQ(runtime.attempts.size(), 1u);
    retention.reload({.logs = Millis(3'600'000)});
    time.run(Millis(60'000));
    EXPECT_TRUE(runtime.attempts.empty());
}

}  // namespace
}  // namespace crater::agent
