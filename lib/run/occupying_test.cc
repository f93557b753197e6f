#include <gtest/gtest.h>

#include "kit_test.h"

namespace crater::run::testing {
namespace {

class Occupying : public ::testing::Test {
  protected:
    void SetUp() override {
        runtime_->listen([this](const TaskEvent& e) { events_.push_back(e); });
        launch_.id = {"job-1", 0, 1};
        launch_.spec.duration = Millis(1);
    }
    std::unique_ptr<Clock> clock_ = system_clock();
    TestLoop loop_{*clock_};
    std::unique_ptr<Runtime> runtime_ = occupying_runtime(loop_, *clock_);
    std::vector<TaskEvent> events_;
    Launch launch_;
};

TEST_F(Occupying, a_task_holds_for_its_duration_and_succeeds) {
    runtime_->start(launch_);
    runtime_->start(launch_);
    ASSERT_TRUE(loop_.until([&] { return !events_.empty() && events_.back().state == State::finished; }));
    EXPECT_EQ(events_.front().state, State::running);
    EXPECT_EQ(events_.back().exit_code, 0);
    EXPECT_EQ(runtime_->adopt().size(), 1U);
    runtime_->settle(launch_.id);
    EXPECT_TRUE(runtime_->adopt().empty());
    runtime_->forget(launch_.id);
    EXPECT_FALSE(runtime_->log(launch_.id, 0, 1));
}

TEST_F(Occupying, a_stop_gives_the_outcome_asked_for) {
    launch_.spec.duration = std::chrono::hours(1);
    runtime_->start(launch_);
    EXPECT_EQ(runtime_->usage().size(), 1U);
    runtime_->stop(launch_.id, Millis(0), State::preempted, Reason::preempted_for, "for job-2");
    ASSERT_TRUE(loop_.until([&] { return events_.size() == 2; }));
    EXPECT_EQ(events_.back().state, State::preempted);
}

TEST_F(Occupying, a_time_limit_below_the_duration_fails_it) {
    launch_.spec.duration = std::chrono::hours(1);
    launch_.spec.time_limit = Millis(1);
    runtime_->start(launch_);
    ASSERT_TRUE(loop_.until([&] { return events_.size() == 2; }));
    EXPECT_EQ(events_.back().reason, Reason::time_limit);
}

}  // namespace
}  // namespace crater::run::testing
