// The agents' own tables against the scheduler's books: asked for by checks, answered while everything goes
// on.
#include <tuple>

#include "crater/base/log.h"
#include "crater/codec/proto.h"
#include "crater/proto/agent.pb.h"
#include "impl.h"

namespace crater::scheduler {
namespace {

auto slices(const Allocation& a) {
    std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>> cards;
    for (const GpuSlice& slice : a.gpus)
        cards.emplace_back(slice.index, slice.compute.value, slice.memory.value);
    return std::tuple(cards, a.cpu.value, a.cpu_set, a.numa_node, a.memory.value, a.memory_bandwidth.value,
                      a.disk, a.disk_size.value, a.disk_iops.value);
}

}  // namespace

void Scheduler::Impl::tables(Millis wait, Reply<Tables> reply) {
    const std::uint64_t request = next_request_++;
    TableQuestion question;
    question.reply = std::move(reply);
    for (const auto& [name, node] : nodes_) {
        if (!node.session || !node.session->welcomed) continue;
        question.waiting.insert(name);
        question.running[name] = running_on(node);
    }
    if (question.waiting.empty()) return answer_tables(std::move(question));
    const auto asked = question.waiting;
    question.timer = env_.loop.after(wait, [this, request] {
        auto found = table_questions_.extract(request);
        if (found) answer_tables(std::move(found.mapped()));
    });
    table_questions_.emplace(request, std::move(question));
    for (const std::string& name : asked) {
        proto::ToAgent message;
        message.mutable_table()->set_request(request);
        send(name, message);
    }
}

void Scheduler::Impl::answer_table_question(const Node& node, const proto::Table& table) {
    const auto it = table_questions_.find(table.request());
    if (it == table_questions_.end() || !it->second.waiting.erase(node.name)) return;
    TableQuestion& question = it->second;
    std::vector<TableRow> rows;
    for (const auto& row : table.rows()) {
        TableRow out{.node = node.name,
                     .job = row.job(),
                     .state = row.state(),
                     .task = row.task(),
                     .attempt = row.attempt(),
                     .allocation = {}};
        if (auto read = codec::from_proto(row.allocation(), out.allocation); !read)
            log::warning("an agent's table cannot be read",
                         {{"node", node.name}, {"why", read.error().text()}});
        rows.push_back(std::move(out));
    }
    compare_with_books(node, rows, question.running[node.name], question.differences);
    question.rows.insert(question.rows.end(), std::make_move_iterator(rows.begin()),
                         std::make_move_iterator(rows.end()));
    if (!question.waiting.empty()) return;
    env_.loop.cancel(question.timer);
    answer_tables(std::move(table_questions_.extract(it).mapped()));
}

void Scheduler::Impl::answer_tables(TableQuestion question) {
    question.reply(Tables{std::move(question.rows), std::move(question.differences)});
}

std::set<TaskKey> Scheduler::Impl::running_on(const Node& node) {
    std::set<TaskKey> running;
    for (const auto& [task, attempt] : node.tasks)
        if (const Job* job = find(task.first))
            if (job->status().tasks[static_cast<std::size_t>(task.second)].state == State::running)
                running.insert({task.first, task.second, attempt});
    return running;
}

void Scheduler::Impl::compare_with_books(const Node& node, const std::vector<TableRow>& rows,
                                         const std::set<TaskKey>& running,
                                         std::vector<std::string>& differences) {
    std::set<TaskKey> here;
    for (const TableRow& row : rows) {
        const TaskKey key{row.job, row.task, row.attempt};
        here.insert(key);
        if (node.strays.contains(key)) continue;
        const auto booked = node.tasks.find({row.job, row.task});
        const Job* job = find(row.job);
        const TaskStatus* task = job ? &job->status().tasks[static_cast<std::size_t>(row.task)] : nullptr;
        if (booked == node.tasks.end() || booked->second != row.attempt)
            differences.push_back(node.name + " holds " + row.job + "." + std::to_string(row.task) +
                                  " attempt " + std::to_string(row.attempt) + ", the books do not");
        else if (!task || !task->allocation || slices(*task->allocation) != slices(row.allocation))
            differences.push_back(node.name + " holds other slices for " + row.job + "." +
                                  std::to_string(row.task) + " than the books say");
    }
    for (const TaskKey& key : running) {
        const auto booked = node.tasks.find({key.job, key.task});
        if (booked != node.tasks.end() && booked->second == key.attempt && !here.contains(key))
            differences.push_back("the books hold " + key.job + "." + std::to_string(key.task) + " on " +
                                  node.name + ", its agent does not");
    }
}

}  // namespace crater::scheduler
