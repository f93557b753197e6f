// What became durable, seen from outside: each group that reaches the disk is read before and judged after.
#include "crater/codec/codec.h"
#include "world_impl.h"

namespace crater::sim {
namespace {

constexpr std::string_view job_prefix = "job/", spec_suffix = "/spec", state_suffix = "/state",
                           tenant_prefix = "tenant/", node_prefix = "node/";

}  // namespace

std::function<void()> World::Impl::handed_in(const store::Batch& batch) {
    const auto read = std::make_shared<Group>();
    Group& group = *read;
    for (const store::Write& write : batch.writes) {
        std::string_view key = write.key;
        if (key.starts_with(tenant_prefix) && write.value) {
            if (const auto tenant = scheduler::stored_tenant(*write.value))
                group.caps[tenant->path] = tenant->hard;
        }
        if (key.starts_with(node_prefix) && write.value)
            note_node(group, key.substr(node_prefix.size()), *write.value);
        if (!key.starts_with(job_prefix)) continue;
        key.remove_prefix(job_prefix.size());
        if (key.ends_with(spec_suffix)) {
            key.remove_suffix(spec_suffix.size());
            if (!write.value) continue;
            if (auto facts = scheduler::stored_job_facts(*write.value))
                group.facts[std::string(key)] = std::move(*facts);
        } else if (!write.value) {
            group.gone.emplace_back(key);
        } else if (auto job = scheduler::stored_job(*write.value)) {
            group.jobs[std::string(key)] = std::move(*job);
        } else {
            violate("store", "the stored job " + std::string(key) + " cannot be read: " + job.error().text());
        }
    }
    for (const store::HistoryRow& row : batch.history) {
        if (row.kind != "job_state") continue;
        if (const auto change = codec::read_json<StateChange>(row.body))
            group.changes.emplace_back(row.subject, *change);
        else
            violate("history", "unreadable: " + row.body);
    }
    return [this, read] { durable(*read); };
}

void World::Impl::note_node(Group& group, std::string_view name, const std::string& value) {
    if (name.ends_with(state_suffix)) {
        name.remove_suffix(state_suffix.size());
        if (auto standing = scheduler::stored_node_facts(value))
            group.standing[std::string(name)] = std::move(*standing);
    } else if (auto node = scheduler::stored_node(value)) {
        group.nodes[std::string(name)] = std::move(*node);
    }
}

void World::Impl::durable(const Group& group) {
    for (const auto& [id, facts] : group.facts) facts_[id] = facts;
    for (const auto& [name, node] : group.nodes) naive_.nodes[name] = node;
    for (const auto& [name, standing] : group.standing) {
        naive_.taints[name] = standing.taints;
        if (standing.takes_work)
            naive_.closed.erase(name);
        else
            naive_.closed.insert(name);
    }
    for (const auto& [id, change] : group.changes) check_change(id, change);
    for (const auto& [path, caps] : group.caps) caps_[path] = caps;
    std::set<std::string> placed;
    for (const auto& [id, job] : group.jobs) {
        const auto before = durable_.find(id);
        const auto takes = [](const JobStatus& status) {
            std::int64_t starts = 0;
            for (const TaskStatus& task : status.tasks) starts += task.attempt;
            return starts;
        };
        if (takes(*job.status) > (before == durable_.end() ? 0 : takes(*before->second.status)))
            placed.insert(id);
        note_job(id, job);
    }
    for (const std::string& id : group.gone) {
        if (acknowledged_.contains(id)) violate("acknowledged", id + " was dropped from the store");
        durable_.erase(id);
    }
    if (placed.empty()) return;
    // A group's decisions follow its commands.
    check_quotas(placed);
    check_placements(placed);
}

void World::Impl::note_job(const std::string& id, const scheduler::StoredJob& now) {
    const std::int64_t now_us = time_.ticks_us();
    const auto before = durable_.find(id);
    if (before != durable_.end()) check_tasks(id, *before->second.status, *now.status);
    for (const TaskStatus& task : now.status->tasks) {
        Since& since = since_[{id, task.index}];
        if (since.us == 0 || since.state != task.state || since.attempt != task.attempt)
            since = {task.state, task.attempt, now_us};
    }
    if (!now.stopping)
        stopping_since_.erase(id);
    else if (before == durable_.end() || !before->second.stopping ||
             before->second.stop_since != now.stop_since)
        stopping_since_[id] = now_us;
    durable_[id] = now;
}

}  // namespace crater::sim
