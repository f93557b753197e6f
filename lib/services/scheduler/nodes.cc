// Agents: who they are, what they hold against what they should hold, what they report, when they are lost.
#include "crater/base/ids.h"
#include "crater/base/log.h"
#include "crater/codec/proto.h"
#include "crater/proto/agent.pb.h"
#include "impl.h"
#include "metrics.h"

namespace crater::scheduler {
namespace {

bool final_state(State state) { return state_row(state).terminal || state == State::preempted; }

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

// ---- registration -----------------------------------------------------------------------------------------

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
