// Agents' links and how nodes stand: up, lost, drained.
#include "crater/base/log.h"
#include "crater/proto/agent.pb.h"
#include "impl.h"
#include "metrics.h"

namespace crater::scheduler {

Node* Scheduler::Impl::find_node(const std::string& name) {
    const auto it = nodes_.find(name);
    return it == nodes_.end() ? nullptr : &it->second;
}

// The node whose present link this is.
Node* Scheduler::Impl::node_of(const Session& session) {
    Node* node = session.node.empty() ? nullptr : find_node(session.node);
    return node && node->session.get() == &session ? node : nullptr;
}

wire::LinkCallbacks Scheduler::Impl::agent_link(std::function<std::shared_ptr<wire::Link>()> link) {
    auto session = std::make_shared<Session>();
    session->link = std::move(link);
    return {.on_message =
                [this, alive = alive_, session](std::string bytes) {
                    if (*alive) on_message(session, bytes);
                },
            .on_closed =
                [this, alive = alive_, session](std::string) {
                    if (*alive) on_closed(session);
                }};
}

void Scheduler::Impl::on_closed(const std::shared_ptr<Session>& session) {
    session->closed = true;
    Node* node = node_of(*session);
    if (!node) return;
    node->session.reset();
    end_logs_of(node->name);
    if (stopped_) return;
    StoredNodeState state = node->state;
    state.unreachable = true;
    set_node_state(*node, state);
}

void Scheduler::Impl::on_message(const std::shared_ptr<Session>& session, const std::string& bytes) {
    if (session->closed || broken_ || stopped_) return;
    proto::ToScheduler message;
    const auto close = [&] {
        if (const auto link = session->link()) link->close();
        on_closed(session);
    };
    if (!message.ParseFromString(bytes)) {
        log::warning("an agent sent something that is no message; its link is closed",
                     {{"node", session->node}});
        return close();
    }
    if (message.has_register_()) return on_register(session, message.register_());
    Node* node = node_of(*session);
    if (!node) return close();  // not registered, or replaced by a newer link
    node->heard_us = env_.clock.ticks_us();
    node->last_heartbeat = now();
    switch (message.body_case()) {
        case proto::ToScheduler::kHeartbeat: return on_heartbeat(*node, message.heartbeat());
        case proto::ToScheduler::kReport: return on_report(*node, message.report());
        case proto::ToScheduler::kLog: return on_log(message.log());
        case proto::ToScheduler::kRefused: return on_refused(*node, message.refused());
        case proto::ToScheduler::kTable: return on_table(*node, message.table());
        case proto::ToScheduler::kTaskSamples: return on_samples(*node, message.task_samples());
        default: return;
    }
}

// ---- standing ---------------------------------------------------------------------------------------------

void Scheduler::Impl::set_node_state(Node& node, const StoredNodeState& wanted) {
    StoredNodeState next = wanted;
    const StoredNodeState& old = node.state;
    if (next.lost != old.lost || next.shown() != old.shown()) {
        next.since = now();
        const NodeState shown_state = next.shown();
        event("node", node.name, std::string(name_of(shown_state)),
              next.lost ? std::string(name_of(Reason::node_lost)) : "", next.detail);
        log::info("a node changed",
                  {{"node", node.name}, {"state", name_of(shown_state)}, {"why", next.detail}});
        problems_changed_ = true;
    }
    if (next.clearing != old.clearing) problems_changed_ = true;
    const bool flags = next.closed() != old.closed() || next.draining != old.draining;
    const bool changed = flags || next.lost != old.lost || next.unreachable != old.unreachable ||
                         next.clearing != old.clearing || next.detail != old.detail ||
                         next.boot_id != old.boot_id || next.taints != old.taints ||
                         next.maintenance != old.maintenance || next.in_maintenance != old.in_maintenance;
    if (!changed) return;
    node.state = next;
    node.state_touched = true;
    if (flags) engine_.apply(engine::NodeFlags{node.name, next.draining, next.closed()});
    if (env_.metrics) env_.metrics->set(metric::node_up, next.lost ? 0 : 1, {node.name});
    touch(node);
}

void Scheduler::Impl::lose_node(Node& node, const std::string& detail) {
    if (node.session) {
        const auto session = node.session;
        node.session.reset();
        session->closed = true;
        if (const auto link = session->link()) link->close();
        end_logs_of(node.name);
    }
    StoredNodeState state = node.state;
    state.lost = state.unreachable = true;
    state.clearing = false;
    state.detail = detail;
    set_node_state(node, state);
    const auto here = std::vector(node.tasks.begin(), node.tasks.end());
    for (const auto& [key, attempt] : here) {
        Job* job = find(key.first);
        if (!job) continue;
        const TaskStatus& seen = job->status().tasks.at(static_cast<std::size_t>(key.second));
        if (seen.attempt != attempt || !state_row(seen.state).holds) continue;
        TaskStatus& task = job->change().tasks[static_cast<std::size_t>(key.second)];
        lose_task(*job, task, detail);
        if (job->s().stop && !job->s().stop->requeue) give_up(*job, task, detail);  // nobody wants it back
    }
}

void Scheduler::Impl::check_heartbeats() {
    const std::int64_t at = env_.clock.ticks_us(), silence_us = config_.heartbeat_timeout.count() * 1000;
    for (auto& [name, node] : nodes_)
        if (!node.state.lost && at - node.heard_us >= silence_us)
            lose_node(node, "not heard for " + format(config_.heartbeat_timeout));
}

void Scheduler::Impl::drain(const std::string& name, bool draining, const api::ReasonBody& body,
                            const Actor& actor, Reply<api::NodeRow> reply) {
    if (refuse_when_stopped(reply)) return;
    Node* node = find_node_or_say(name, reply);
    if (!node) return;
    StoredNodeState state = node->state;
    state.draining = draining;
    if (!state.lost)
        state.detail =
            draining ? "drained by " + actor.name + (body.reason.empty() ? "" : ": " + body.reason) : "";
    set_node_state(*node, state);
    audit(actor, draining ? (body.evict ? "drain_evict" : "drain") : "resume_node", name, body.reason);
    if (draining && body.evict) {
        const auto here = std::vector(node->tasks.begin(), node->tasks.end());
        for (const auto& [key, attempt] : here) {
            Job* job = find(key.first);
            if (!job || job->s().stop) continue;
            order_stop(*job, {.outcome = State::preempted,
                              .reason = Reason::node_drained,
                              .detail = "node " + name + " is drained",
                              .requeue = true,
                              .since = now(),
                              .grace = body.grace_period >= Millis(0) ? body.grace_period
                                                                      : job->fixed->outline->grace_period});
        }
    }
    touch(*node);
    reply_row(name, std::move(reply));
}

}  // namespace crater::scheduler
