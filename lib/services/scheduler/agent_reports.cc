// What agents say of their nodes and tasks, and what still runs there and should not.
#include "crater/base/log.h"
#include "crater/codec/proto.h"
#include "crater/proto/agent.pb.h"
#include "impl.h"

namespace crater::scheduler {

// ---- strays: what still runs on a node and should not -----------------------------------------------------

void Scheduler::Impl::add_stray(Node& node, TaskKey key) { node.strays.insert(std::move(key)); }

void Scheduler::Impl::stray_gone(Node& node, const TaskKey& key) {
    if (!node.strays.erase(key) || !node.strays.empty() || !node.state.clearing) return;
    StoredNodeState state = node.state;
    state.clearing = false;
    if (!state.draining && !state.in_maintenance) state.detail.clear();
    set_node_state(node, state);
}

// Asks the agent for its table until what was given up has left it: it reports no end of a task that it was
// told to forget.
void Scheduler::Impl::ask_for_strays(Node& node) {
    if (node.asked_for_strays || node.strays.empty()) return;
    node.asked_for_strays = true;
    env_.loop.after(Millis(500), [this, name = node.name] {
        Node* found = find_node(name);
        if (!found) return;
        found->asked_for_strays = false;
        if (found->strays.empty() || !found->session || stopped_) return;
        found->stray_request = next_request_++;
        proto::ToAgent message;
        message.mutable_table()->set_request(found->stray_request);
        send(name, message);
        ask_for_strays(*found);
    });
}

void Scheduler::Impl::on_table(Node& node, const proto::Table& table) {
    std::set<TaskKey> here;
    for (const auto& row : table.rows()) here.insert({row.job(), row.task(), row.attempt()});
    if (table.request() == node.stray_request) {
        const auto strays = node.strays;
        for (const TaskKey& key : strays)
            if (!here.contains(key)) stray_gone(node, key);
        return;
    }
    answer_table_question(node, table);
}

// ---- what agents say --------------------------------------------------------------------------------------

void Scheduler::Impl::on_heartbeat(Node& node, const proto::Heartbeat& message) {
    NodeSample sample;
    if (!codec::from_proto(message.sample(), sample)) return;
    engine_.apply(engine::LoadSampled{node.name, sample});
    node.sample = std::move(sample);
    touch(node);
    export_metrics(node);
}

void Scheduler::Impl::on_samples(Node& node, const proto::TaskSamples& samples) {
    for (const auto& s : samples.samples()) {
        const api::MetricPoint point{.at = Instant{s.at_ms()},
                                     .cpu_cores = s.cpu_cores(),
                                     .memory_bytes = static_cast<double>(s.memory_bytes()),
                                     .read_bytes = static_cast<double>(s.read_bytes()),
                                     .write_bytes = static_cast<double>(s.write_bytes()),
                                     .gpu_percent = s.gpu_percent(),
                                     .gpu_memory_mib = static_cast<double>(s.gpu_memory_mib())};
        series_.add(s.job(), s.task(), point);
        if (node.inventory->simulated) continue;  // what is only played teaches nothing
        const Job* job = node.tasks.contains({s.job(), s.task()}) ? find(s.job()) : nullptr;
        if (job)
            profiles_.saw(job->id(), s.task(), point,
                          (job->outline()->resources.gpu.count.value + 999) / 1000);
    }
}

// Applied in order; a repeated one changes nothing. Acknowledged when everything before it is durable.
void Scheduler::Impl::on_report(Node& node, const proto::TaskReport& report) {
    open_.reports.emplace_back(node.session, report.number());
    wake();
    const TaskKey key{report.job(), report.task(), report.attempt()};
    const State state = state_named(report.state(), State::pending);
    const Reason reason = reason_named(report.reason());
    const Instant at{report.at_ms()};

    Job* job = find(key.job);
    const auto index = static_cast<std::size_t>(key.task);
    const TaskStatus* seen =
        job && key.task >= 0 && index < job->status().tasks.size() ? &job->status().tasks[index] : nullptr;
    const bool ours = seen && seen->attempt == key.attempt && state_row(seen->state).holds &&
                      seen->allocation && seen->allocation->node == node.name;
    if (!ours) {
        if (final_state(state)) return stray_gone(node, key);
        const auto record = job ? nullptr : read_.job(key.job);
        const auto& tasks = job      ? job->status().tasks
                            : record ? record->status().tasks
                                     : std::vector<TaskStatus>{};
        // Repeated words about an attempt whose end is known change nothing; an attempt that was given up is
        // told to go.
        const bool ended_here = index < tasks.size() && tasks[index].attempt == key.attempt &&
                                state_row(tasks[index].state).terminal;
        if (!ended_here && !node.strays.contains(key)) {
            add_stray(node, key);
            order_forget(node.name, key);
            ask_for_strays(node);
        }
        return;
    }

    if (report.enforcement() == "advisory" && !job->s().advisory) {
        job->edit().advisory = true;
        touch(*job);
    }
    if (state == State::pending) return;  // a word this scheduler does not know
    TaskStatus* const task = &job->change().tasks[index];
    if (final_state(state))
        return task_ended(*job, *task, state, reason, report.detail(), report.exit_code(), at);

    if (state == State::running && !job->s().runs_since)
        job->edit().runs_since = task->started ? task->started : now();
    if (state == State::running && !task->started) task->started = at ? at : now();
    if (state == State::running && !job->status().started) job->change().started = task->started;
    const bool phase = state == task->state && (state == State::preparing || state == State::ready);
    if (phase && reason != Reason::none && (reason != task->reason || report.detail() != task->detail)) {
        task->reason = reason;
        task->detail = report.detail();
        touch(*job);
        settle(*job, reason, report.detail());
    } else if (state != task->state && may_change(task->state, state) &&
               !(job->s().stop && job->s().stop->requeue && state != State::preempting)) {
        set_task(*job, *task, state, reason, report.detail());
        settle(*job, reason, report.detail());
    } else {
        touch(*job);
    }
}

void Scheduler::Impl::on_refused(Node& node, const proto::OrderRefused& refused) {
    log::error(
        "an agent refused an order",
        {{"node", node.name}, {"job", refused.job()}, {"code", refused.code()}, {"why", refused.message()}});
    // a newer scheduler leads: ours ends when it notices that its store is taken
    if (refused.code() == "stale_term") return;
    Job* job = find(refused.job());
    const auto index = static_cast<std::size_t>(refused.task());
    if (!job || refused.task() < 0 || index >= job->status().tasks.size()) return;
    const TaskStatus& seen = job->status().tasks[index];
    if (seen.attempt != refused.attempt() || seen.state != State::preparing || !seen.allocation ||
        seen.allocation->node != node.name)
        return;
    task_ended(*job, job->change().tasks[index], State::failed,
               refused.code() == "unenforceable" ? Reason::unenforceable : Reason::rejected,
               refused.message(), -1, now());
}

}  // namespace crater::scheduler
