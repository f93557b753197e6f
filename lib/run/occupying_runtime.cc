// The `none` runtime: tasks that only hold their slices for a while. For simulated nodes, load tests and the
// simulator.
#include <map>

#include "crater/run/runtime.h"

namespace crater::run {
namespace {

class OccupyingRuntime final : public Runtime {
  public:
    OccupyingRuntime(Loop& loop, const Clock& clock) : loop_(loop), clock_(clock) {}
    ~OccupyingRuntime() override {
        *alive_ = false;
        for (auto& [id, task] : tasks_) loop_.cancel(task.timer);
    }

    void listen(Listener listener) override { listener_ = std::move(listener); }
    std::vector<Adopted> adopt() override {
        std::vector<Adopted> all;
        for (const auto& [id, task] : tasks_)
            if (!task.settled) all.push_back({task.launch, task.last});
        return all;
    }

    void start(Launch launch) override {
        const TaskId id = launch.id;
        const auto [it, fresh] = tasks_.try_emplace(id);
        Occupied& task = it->second;
        if (!fresh) return tell(task.last);
        const Millis wanted = launch.spec.duration.count() > 0 ? launch.spec.duration : Millis(1000);
        const Millis limit = launch.spec.time_limit;
        const bool limited = limit.count() > 0 && limit < wanted;
        task.launch = std::move(launch);
        // There is nothing to prepare, and so nothing to say of that.
        enter(task, State::running, Reason::process_started, "", -1);
        task.timer = loop_.after(limited ? limit : wanted, [this, id, limited] {
            const auto now = tasks_.find(id);
            if (now == tasks_.end()) return;
            now->second.timer = 0;
            if (limited)
                enter(now->second, State::failed, Reason::time_limit, "", 143);
            else
                enter(now->second, State::finished, Reason::exit_zero, "", 0);
        });
    }

    void stop(const TaskId& id, Millis, State outcome, Reason reason, std::string detail) override {
        const auto it = tasks_.find(id);
        if (it == tasks_.end()) {
            TaskEvent event;
            event.id = id;
            event.state = outcome;
            event.reason = reason;
            event.detail = detail.empty() ? "it was not on the node" : std::move(detail);
            event.at = clock_.now();
            return tell(event);
        }
        if (it->second.timer == 0) return tell(it->second.last);
        loop_.cancel(std::exchange(it->second.timer, 0));
        enter(it->second, outcome, reason, std::move(detail), 143);
    }

    void settle(const TaskId& id) override {
        const auto it = tasks_.find(id);
        if (it != tasks_.end() && it->second.timer == 0) it->second.settled = true;
    }
    void forget(const TaskId& id) override {
        const auto it = tasks_.find(id);
        if (it != tasks_.end() && it->second.timer == 0) tasks_.erase(it);
    }

    std::vector<TaskUsage> usage() override {
        std::vector<TaskUsage> all;
        for (const auto& [id, task] : tasks_)
            if (task.timer != 0) all.push_back({.id = id, .cpu_cores = 0, .memory = {}});
        return all;
    }
    Result<std::pair<std::string, std::int64_t>> log(const TaskId& id, std::int64_t, std::size_t) override {
        return fail(Code::not_found, "task " + id.text() + " only occupies its slices and writes no log");
    }
    Enforcement enforcement() const override {
        return {"simulated", "simulated", "simulated", "simulated", "simulated", "simulated"};
    }

  private:
    struct Occupied {
        Launch launch;
        TaskEvent last;
        TimerId timer = 0;  // 0 = ended
        bool settled = false;
    };

    void enter(Occupied& task, State state, Reason reason, std::string detail, std::int64_t code) {
        task.last.id = task.launch.id;
        task.last.state = state;
        task.last.reason = reason;
        task.last.detail = std::move(detail);
        task.last.exit_code = code;
        task.last.at = clock_.now();
        tell(task.last);
    }
    void tell(const TaskEvent& event) {
        loop_.post([this, alive = alive_, event] {
            if (*alive && listener_) listener_(event);
        });
    }

    Loop& loop_;
    const Clock& clock_;
    Listener listener_;
    std::map<TaskId, Occupied> tasks_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace

std::unique_ptr<Runtime> occupying_runtime(Loop& loop, const Clock& clock) {
    return std::make_unique<OccupyingRuntime>(loop, clock);
}

}  // namespace crater::run
