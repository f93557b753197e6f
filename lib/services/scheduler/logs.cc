// Task logs, relayed from the agent that has them.
#include "crater/base/ids.h"
#include "crater/proto/agent.pb.h"
#include "impl.h"

namespace crater::scheduler {

std::uint64_t Scheduler::Impl::log(const LogQuery& query, std::function<void(std::string)> data,
                                   std::function<void(Result<void>)> end) {
    const std::uint64_t request = next_request_++;
    const auto refuse = [&](Code code, std::string why, std::string field) {
        env_.loop.post([end = std::move(end), error = Error{code, std::move(why), std::move(field), {}}] {
            end(fail(error));
        });
        return request;
    };
    const Job* job = find(query.job);
    const auto record = job ? nullptr : read_.job(query.job);
    if (!job && !record) return refuse(Code::not_found, "there is no job " + shown(query.job), "job");
    const std::vector<TaskStatus> tasks = job ? job->status().tasks : record->status().tasks;
    if (query.task < 0 || query.task >= static_cast<std::int64_t>(tasks.size()))
        return refuse(Code::not_found, "the job has tasks 0 to " + std::to_string(tasks.size() - 1), "task");
    const TaskStatus& task = tasks[static_cast<std::size_t>(query.task)];
    const std::int64_t attempt = query.attempt > 0 ? query.attempt : task.attempt;
    std::string node;
    if (attempt == task.attempt && task.allocation) node = task.allocation->node;
    std::vector<PastRun> past;
    if (job) {
        past = job->s().past;
    } else if (node.empty()) {
        if (const auto text = env_.store.get("job/" + query.job); text && *text)
            if (auto stored = stored_object<StoredStatus>(**text)) past = std::move(stored->past);
    }
    for (const PastRun& run : past)
        if (node.empty() && run.task == query.task && run.attempt == attempt) node = run.node;
    if (node.empty())
        return refuse(Code::not_found,
                      task.attempt == 0 ? "the task has not started yet" : "there is no such attempt",
                      "attempt");
    const Node* found = find_node(node);
    if (!found || !found->session || !found->session->welcomed)
        return refuse(Code::unavailable, "the log is on the node " + node + ", which cannot be reached now",
                      {});

    logs_[request] = {node, std::move(data), std::move(end)};
    proto::ToAgent message;
    proto::LogRequest& ask = *message.mutable_log();
    ask.set_request(request);
    ask.set_job(query.job);
    ask.set_task(query.task);
    ask.set_attempt(attempt);
    ask.set_offset(query.offset);
    ask.set_tail_bytes(query.tail_bytes);
    ask.set_follow(query.follow);
    send(node, message);
    return request;
}

void Scheduler::Impl::stop_log(std::uint64_t handle) {
    const auto it = logs_.find(handle);
    if (it == logs_.end()) return;
    proto::ToAgent message;
    message.mutable_log_cancel()->set_request(handle);
    send(it->second.node, message);
    logs_.erase(it);
}

void Scheduler::Impl::on_log(const proto::LogChunk& chunk) {
    const auto it = logs_.find(chunk.request());
    if (it == logs_.end()) return;
    const auto data = it->second.data;  // may stop this very log
    if (!chunk.data().empty()) data(chunk.data());
    if (!chunk.end()) return;
    const auto again = logs_.find(chunk.request());
    if (again == logs_.end()) return;
    const auto end = std::move(again->second.end);
    logs_.erase(again);
    if (chunk.error().empty())
        end({});
    else
        end(fail(Code::not_found, chunk.error()));
}

void Scheduler::Impl::end_logs_of(const std::string& node) {
    std::vector<std::function<void(Result<void>)>> ends;
    for (auto it = logs_.begin(); it != logs_.end();) {
        if (it->second.node == node) {
            ends.push_back(std::move(it->second.end));
            it = logs_.erase(it);
        } else {
            ++it;
        }
    }
    for (const auto& end : ends)
        end(fail(Code::unavailable, "the link to the node " + node + " was lost", {},
                 "ask again in a moment"));
}

}  // namespace crater::scheduler
