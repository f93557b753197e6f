// What must hold when everything has ended.
#include "crater/codec/codec.h"
#include "world_impl.h"

namespace crater::sim {

void World::Impl::check_end() {
    for (const std::string& id : acknowledged_) check_end_of(id);
    const auto cluster = leader()->read().cluster();
    if (cluster.resources.gpu.allocated != 0 || cluster.resources.cpu.allocated != 0)
        violate("books", "slices are held though nothing runs");
    for (const auto& host : hosts_)
        if (host->agent && !host->agent->table().empty())
            violate("books", host->machine->name() + "'s agent believes that something runs");
}

// Its history ends as it stands, and AllData knows.
void World::Impl::check_end_of(const std::string& id) {
    const auto job = leader()->read().job(id);
    const JobStatus& status = job->status();
    if (told_state_.at(id) != status.state) violate("history", id + " does not end as it stands");
    const auto& [sequence, name] = told_[id];
    if (sequence != status.sequence || name != alldata_name(status.state, status.reason))
        violate("callbacks", id + ": AllData believes " + name + " (" + std::to_string(sequence) +
                                 "), it is " + std::string(name_of(status.state)) + " (" +
                                 std::to_string(status.sequence) + ")");
    // Who ended well was running once, and said so himself.
    for (const TaskStatus& task : status.tasks) {
        if (task.state != State::finished) continue;
        const auto truth = truth_.find({id, task.index, task.attempt});
        if (truth == truth_.end() || !truth->second.running || !truth->second.ended)
            violate("states", id + "." + std::to_string(task.index) + " is Finished and never ran");
    }
}

void World::Impl::describe_what_waits() {
    std::string text;
    if (!leader()) text += "there is no scheduler; ";
    for (const std::string& id : wanted_) {
        const auto job = leader() ? leader()->read().job(id) : nullptr;
        if (!job)
            text += id + " is not there" + (refused_.contains(id) ? ": " + refused_.at(id) : "") + "; ";
        else if (!state_row(job->status().state).terminal)
            text += id + " is " + std::string(name_of(job->status().state)) + " (" +
                    std::string(name_of(job->status().reason)) + " " + job->status().detail + "); ";
        else if (told_[id].first != job->status().sequence)
            text += "AllData knows " + std::to_string(told_[id].first) + " of " +
                    std::to_string(job->status().sequence) + " of " + id + "; ";
    }
    for (const auto& host : hosts_)
        for (const auto& [id, held] : host->machine->running())
            text += host->machine->name() + " runs " + id.text() + "; ";
    for (int i = 0; leader() && i < nodes_; ++i)
        if (const auto view = leader()->read().node(host(i).machine->name()))
            text += view->node.name + " is " + std::string(name_of(view->node.state)) +
                    (view->node.detail.empty() ? "" : " (" + view->node.detail + ")") + "; ";
    const auto up = leader() ? leader()->read().cluster().nodes.up : 0;
    if (up != nodes_) text += std::to_string(up) + " nodes of " + std::to_string(nodes_) + " are up; ";
    for (const auto& [name, times] : closings_) text += name + " is to be opened again; ";
    violate("liveness", "not idle: " + text);
}

}  // namespace crater::sim
