// An agent registers: who it is, what its node has, and what it holds against what it should hold.
#include "crater/base/ids.h"
#include "crater/base/log.h"
#include "crater/codec/proto.h"
#include "crater/proto/agent.pb.h"
#include "impl.h"

namespace crater::scheduler {
namespace {

api::CardView card_view(const Gpu& gpu) {
    api::CardView card;
    card.index = gpu.index;
    card.model = gpu.model;
    card.uuid = gpu.uuid;
    card.healthy = gpu.healthy;
    card.health_detail = gpu.health_detail;
    card.memory_total = gpu.memory;
    return card;
}

}  // namespace

void Scheduler::Impl::on_register(const std::shared_ptr<Session>& session, const proto::Register& message) {
    const auto refuse = [&](Code code, const std::string& why) {
        log::warning("a node was refused", {{"node", message.inventory().name()}, {"why", why}});
        proto::ToAgent answer;
        answer.mutable_refuse()->set_code(std::string(code_row(code).name));
        answer.mutable_refuse()->set_message(why);
        send(*session, answer);
        if (const auto link = session->link()) link->close();
        on_closed(session);
    };
    if (message.protocol() != wire::agent_protocol)
        return refuse(Code::invalid, "the agent speaks " + shown(message.protocol()) + ", this scheduler " +
                                         std::string(wire::agent_protocol));
    auto inventory = std::make_shared<NodeInventory>();
    if (auto read = codec::from_proto(message.inventory(), *inventory); !read)
        return refuse(Code::invalid, read.error().text());
    if (auto good = check_id(inventory->name, "node_name"); !good)
        return refuse(Code::invalid, good.error().text());
    const std::string name = inventory->name;
    if (!session->node.empty() && session->node != name)
        return refuse(Code::conflict, "this link belongs to the node " + session->node);

    Node* known = find_node(name);
    const std::int64_t silence_us = config_.heartbeat_timeout.count() * 1000;
    if (known && known->session && known->session != session) {
        const bool alive = env_.clock.ticks_us() - known->heard_us < silence_us;
        if (alive && known->session->boot_id != message.boot_id())
            return refuse(Code::conflict,
                          "another agent serves the node " + name + "; give one of them another node_name");
        // A newer link of the same agent, or the agent's successor.
        const auto old = known->session;
        known->session.reset();
        old->closed = true;
        if (const auto link = old->link()) link->close();
        end_logs_of(name);
    }
    const bool fresh = !known;
    Node& node = fresh ? nodes_[name] : *known;
    const bool other_agent = node.state.boot_id != message.boot_id();
    const bool same_link = node.session == session;
    if (fresh) {
        node.name = name;
        node.inventory = inventory;
        node.state.since = now();
        node.inventory_touched = node.state_touched = true;
        engine_.apply(engine::NodeSet{inventory});
        log::info("a new node", {{"node", name}, {"simulated", inventory->simulated}});
    }
    session->node = name;
    session->boot_id = message.boot_id();
    node.session = session;
    node.heard_us = env_.clock.ticks_us();
    node.last_heartbeat = now();

    if (!fresh && stored_value(*inventory) != stored_value(*node.inventory)) {
        check_devices(node, *inventory);
        node.inventory = inventory;
        node.inventory_touched = true;
        engine_.apply(engine::NodeSet{inventory});
        problems_changed_ = true;
    }
    refresh_hardware(node);
    if (!same_link) {
        when_durable([this, session] {
            if (session->closed) return;
            session->welcomed = true;
            send_welcome(*session);
        });
    }
    reconcile(node, message, {.other_agent = other_agent, .same_link = same_link});
    StoredNodeState state = node.state;
    state.lost = state.unreachable = false;
    state.boot_id = message.boot_id();
    state.clearing = !node.strays.empty();
    const bool closed_by_hand = state.draining || state.in_maintenance;
    if (!closed_by_hand || node.state.lost)
        state.detail = state.clearing   ? "tasks that were given up still end here"
                       : closed_by_hand ? state.detail
                                        : "";
    set_node_state(node, state);
    if (fresh) event("node", name, "up", "", "registered");
    touch(node);
    if (state.clearing) ask_for_strays(node);
}

// The row's parts that come from the inventory.
void Scheduler::Impl::refresh_hardware(Node& node) {
    api::NodeRow& row = node.edit_row();
    row.name = node.name;
    row.labels = node.inventory->labels;
    row.simulated = node.inventory->simulated;
    std::vector<api::CardView> cards;
    cards.reserve(node.inventory->gpus.size());
    for (const Gpu& gpu : node.inventory->gpus) {
        cards.push_back(card_view(gpu));
        const auto old = std::find_if(row.cards.begin(), row.cards.end(),
                                      [&](const api::CardView& card) { return card.index == gpu.index; });
        if (old != row.cards.end())
            cards.back().slices = std::move(old->slices);
        else
            add_slices(node, cards.back());
    }
    row.cards = std::move(cards);
}

// Of a card that is new, or back: its tasks may still be on it.
void Scheduler::Impl::add_slices(const Node& node, api::CardView& card) {
    for (const auto& [key, attempt] : node.tasks)
        if (const Job* job = find(key.first))
            for (const GpuSlice& slice :
                 job->status().tasks.at(static_cast<std::size_t>(key.second)).allocation->gpus)
                if (slice.index == card.index)
                    card.slices.push_back({key.first, key.second, slice.compute, slice.memory});
}

// "A device that is gone when an agent rejoins fails its tasks with that cause."
void Scheduler::Impl::check_devices(Node& node, const NodeInventory& inventory) {
    const auto here = std::vector(node.tasks.begin(), node.tasks.end());
    for (const auto& [key, attempt] : here) {
        Job* job = find(key.first);
        if (!job) continue;
        const TaskStatus& task = job->status().tasks.at(static_cast<std::size_t>(key.second));
        for (const GpuSlice& slice : task.allocation->gpus) {
            const auto gpu = std::find_if(inventory.gpus.begin(), inventory.gpus.end(), [&](const Gpu& g) {
                return g.index == slice.index &&
                       (slice.uuid.empty() || g.uuid.empty() || g.uuid == slice.uuid);
            });
            if (gpu != inventory.gpus.end()) continue;
            order_stop(*job,
                       {.outcome = State::failed,
                        .reason = Reason::device_lost,
                        .detail = "card " + std::to_string(slice.index) + " of " + node.name + " is gone",
                        .since = now(),
                        .grace = job->fixed->outline->grace_period});
            break;
        }
    }
}

// What the agent holds against what it should hold.
void Scheduler::Impl::reconcile(Node& node, const proto::Register& message, Arrival arrival) {
    // Several entries of one task come from reports that wait: it has ended, its end is on the way.
    std::map<TaskKey, State> held;
    for (const auto& row : message.held()) {
        const State state = state_named(row.state(), State::running);
        auto [it, fresh] = held.emplace(TaskKey{row.job(), row.task(), row.attempt()}, state);
        if (!fresh && final_state(state)) it->second = state;
    }
    node.strays.clear();
    std::set<TaskKey> expected;
    for (const auto& [key, attempt] : node.tasks) expected.insert({key.first, key.second, attempt});

    for (const auto& [key, state] : held) {
        if (expected.contains(key)) continue;
        const Job* job = find(key.job);
        const auto record = job ? nullptr : read_.job(key.job);
        std::optional<JobStatus> ended;
        if (record) ended = record->status();
        const JobStatus* status = job ? &job->status() : ended ? &*ended : nullptr;
        const auto index = static_cast<std::size_t>(key.task);
        const bool this_attempt = status && key.task >= 0 && index < status->tasks.size() &&
                                  status->tasks[index].attempt == key.attempt;
        if (this_attempt && final_state(state)) continue;  // its report comes and is acknowledged
        if (!final_state(state)) add_stray(node, key);
        if (this_attempt && state_row(status->tasks[index].state).terminal) {
            // Cancelled or failed while nobody heard the node: it ends in its own grace and keeps its log.
            order_stop_of(node.name, key,
                          {.outcome = State::cancelled,
                           .reason = status->tasks[index].reason,
                           .detail = status->tasks[index].detail,
                           .since = now(),
                           .grace = Millis(5'000)});
        } else {
            log::warning("a node holds a task that is not its own any more",
                         {{"node", node.name}, {"job", key.job}, {"attempt", key.attempt}});
            order_forget(node.name, key);
        }
    }

    for (const TaskKey& key : expected) {
        Job* job = find(key.job);
        CRATER_CHECK(job, "a node holds a task of a job that is not known: " + key.job);
        const auto index = static_cast<std::size_t>(key.task);
        const TaskStatus& seen = job->status().tasks.at(index);
        // changed by what was done for an earlier one
        if (seen.attempt != key.attempt || !state_row(seen.state).holds) continue;
        const auto it = held.find(key);
        if (it != held.end()) {
            if (final_state(it->second)) {
                // Its report follows. Lost is a state that the report may leave directly.
            } else if (seen.state == State::lost) {
                TaskStatus& task = job->change().tasks[index];
                const State now_so = it->second == State::running || it->second == State::preempting
                                         ? State::running
                                         : State::preparing;
                set_task(*job, task, now_so, Reason::agent_restarted,
                         arrival.other_agent ? "taken over by the node's agent" : "the node is back");
                // since when, its report says
                if (now_so == State::running && !job->s().runs_since) job->edit().runs_since = now();
                if (job->s().stop && job->s().stop->requeue && may_change(task.state, State::preempting))
                    set_task(*job, task, State::preempting, job->s().stop->reason, job->s().stop->detail);
                settle(*job, task.reason, task.detail);
            }
            if (job->s().stop && !final_state(it->second)) order_stop_of(node.name, key, *job->s().stop);
        } else if (arrival.same_link) {
            // It held nothing of it when it said so; the order reaches it after that.
        } else if (seen.state == State::preparing && !job->s().stop && !arrival.other_agent) {
            order_launch(*job, seen);  // it was never received
        } else if (job->s().stop) {
            task_ended(*job, job->change().tasks[index], job->s().stop->outcome, job->s().stop->reason,
                       job->s().stop->detail, -1, now());
        } else {
            // It ran, or may have, and its agent knows nothing of it: the machine started anew. Nothing is
            // left there that could still run.
            TaskStatus& task = job->change().tasks[index];
            lose_task(*job, task, "its node came back without it");
            free_slices(*job, task);
            set_task(*job, task, State::pending, Reason::node_lost, "its node came back without it");
            settle(*job, Reason::node_lost, task.detail);
            order_stop(*job, {.outcome = State::preempted,
                              .reason = Reason::node_lost,
                              .detail = "node " + node.name + " came back without it",
                              .requeue = true,
                              .since = now(),
                              .grace = job->fixed->outline->grace_period});
        }
    }
}

}  // namespace crater::scheduler
