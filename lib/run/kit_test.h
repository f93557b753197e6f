// What the tests of the process runtime share: a loop to be driven, a folder, short tasks. Real processes, no
// sleeps: `until` waits for a condition with a generous deadline.
#pragma once

#include <grp.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <deque>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "crater/run/runtime.h"
#include "fs.h"
#include "task.h"

namespace crater::run::testing {

class TestLoop final : public Loop {
  public:
    explicit TestLoop(const Clock& clock) : clock_(clock) {}
    void post(Task task) override { posted_.push_back(std::move(task)); }
    TimerId after(Millis delay, Task task) override {
        timers_.emplace(std::pair(clock_.ticks_us() + delay.count() * 1000, ++last_), std::move(task));
        return last_;
    }
    void cancel(TimerId id) override {
        for (auto it = timers_.begin(); it != timers_.end(); ++it)
            if (it->first.second == id) return void(timers_.erase(it));
    }
    // True when `done` became true within a minute.
    bool until(const std::function<bool()>& done) {
        const auto deadline = clock_.ticks_us() + 60'000'000;
        while (clock_.ticks_us() < deadline) {
            step();
            if (done()) return true;
            ::poll(nullptr, 0, 2);
        }
        return false;
    }
    void step() {
        while (!posted_.empty()) {
            const Task task = std::move(posted_.front());
            posted_.pop_front();
            task();
        }
        if (timers_.empty() || timers_.begin()->first.first > clock_.ticks_us()) return;
        const Task task = std::move(timers_.begin()->second);
        timers_.erase(timers_.begin());
        task();
    }

  private:
    const Clock& clock_;
    std::deque<Task> posted_;
    std::map<std::pair<std::int64_t, TimerId>, Task> timers_;
    TimerId last_ = 0;
};

inline bool is_root() { return ::geteuid() == 0; }

inline std::string shim_path() {
    if (const char* given = std::getenv("CRATER_SHIM")) return given;
    const auto self = std::filesystem::read_symlink("/proc/self/exe");
    return self.parent_path().parent_path() / "bin" / "crater-shim";
}

class RuntimeTest : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = "/tmp/crater-run-XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        base_ = pattern;
        std::filesystem::permissions(base_, std::filesystem::perms(0755));
        options_.data = base_ + "/data";
        options_.shim = shim_path();
        options_.task_user = "no-such-account";  // tasks run as nobody
        options_.allow_unenforced = true;
        options_.cgroup_parent = "crater-test-" + std::to_string(::getpid());
        options_.poll = Millis(5);
    }
    void TearDown() override {
        if (runtime_) {
            for (const auto& id : started_)
                runtime_->stop(id, Millis(0), State::cancelled, Reason::user_cancelled, "");
            const bool ended = loop_.until([&] {
                return std::all_of(started_.begin(), started_.end(),
                                   [&](const auto& id) { return final(id); });
            });
            EXPECT_TRUE(ended) << "a task outlived its test";
        }
        runtime_.reset();
        remove_tree(base_);
        Cgroups groups(options_.cgroup_parent);
        for (const auto& name : groups.names()) loop_.until([&] { return groups.remove(name); });
        groups.remove("");
        if (HasFailure()) std::cerr << "the last end: " << ended_ << "\n";
    }

    void open() {
        events_.clear();
        auto made = process_runtime(options_, loop_, *clock_);
        ASSERT_TRUE(made) << made.error().text();
        runtime_ = *std::move(made);
        runtime_->listen([this](const TaskEvent& e) { events_.push_back(e); });
    }

    Launch shell(const std::string& script, const std::string& job = "job-1") {
        Launch launch;
        launch.id = {job, 0, 1};
        launch.spec.command.argv = {"/bin/sh", "-c", script};
        return launch;
    }
    void start(const Launch& launch) {
        started_.push_back(launch.id);
        runtime_->start(launch);
    }
    const TaskEvent* last(const TaskId& id) const {
        for (auto it = events_.rbegin(); it != events_.rend(); ++it)
            if (it->id == id) return &*it;
        return nullptr;
    }
    bool final(const TaskId& id) const {
        const TaskEvent* e = last(id);
        return e && e->state != State::preparing && e->state != State::running;
    }
    bool in_state(const TaskId& id, State state) const {
        const TaskEvent* e = last(id);
        return e && e->state == state;
    }
    TaskEvent end_of(const TaskId& id) {
        EXPECT_TRUE(loop_.until([&] { return final(id); })) << id.text() << " does not end: " << log_of(id);
        const TaskEvent* e = last(id);
        return e ? *e : TaskEvent{};
    }
    TaskEvent run(const Launch& launch) {
        start(launch);
        const TaskEvent end = end_of(launch.id);
        ended_ = std::string(name_of(end.reason)) + ": " + end.detail;
        return end;
    }
    bool runs(const TaskId& id) {
        const bool seen = loop_.until([&] { return in_state(id, State::running) || final(id); });
        return seen && in_state(id, State::running);
    }
    std::string log_of(const TaskId& id) {
        const auto text = runtime_->log(id, 0, 1 << 20);
        return text ? text->first : "(" + text.error().text() + ")";
    }
    bool log_has(const TaskId& id, const std::string& text) {
        return loop_.until([&] { return log_of(id).find(text) != std::string::npos || final(id); }) &&
               log_of(id).find(text) != std::string::npos;
    }
    // Runs `body` in a process of its own, without root when wanted. True when it returned true.
    static bool in_child(bool without_root, const std::function<bool()>& body) {
        const pid_t child = ::fork();
        if (child == 0) {
            if (without_root && is_root() &&
                (::setgroups(0, nullptr) != 0 || ::setgid(65534) != 0 || ::setuid(65534) != 0))
                ::_exit(2);
            ::_exit(body() ? 0 : 1);
        }
        int status = -1;
        ::waitpid(child, &status, 0);
        return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    // Runs `body` in another process and kills that with SIGKILL once it returns.
    static void in_doomed_child(const std::function<void()>& body) {
        int pipe_ends[2];
        ASSERT_EQ(::pipe(pipe_ends), 0);
        const pid_t child = ::fork();
        if (child == 0) {
            ::close(pipe_ends[0]);
            body();
            if (::write(pipe_ends[1], "x", 1) != 1) ::_exit(1);
            for (;;) ::pause();
        }
        ::close(pipe_ends[1]);
        char got = 0;
        EXPECT_EQ(::read(pipe_ends[0], &got, 1), 1) << "the child did not get there";
        ::close(pipe_ends[0]);
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
    }
    // What `adopt` says of one task; its events count as told.
    std::optional<Adopted> adopted(const TaskId& id) {
        for (auto& one : runtime_->adopt())
            if (one.launch.id == id) {
                if (std::find(started_.begin(), started_.end(), id) == started_.end()) started_.push_back(id);
                events_.push_back(one.last);
                return std::move(one);
            }
        return std::nullopt;
    }
    bool appears(const std::string& path) {
        return loop_.until([&] { return exists(path); });
    }
    std::string folder(const TaskId& id) const { return options_.data + "/tasks/" + id.text(); }

    std::unique_ptr<Clock> clock_ = system_clock();
    TestLoop loop_{*clock_};
    std::string base_;
    ProcessOptions options_;
    std::unique_ptr<Runtime> runtime_;
    std::vector<TaskEvent> events_;
    std::vector<TaskId> started_;
    std::string ended_;
};

}  // namespace crater::run::testing
