// What agents are told. Orders are made when they are released, from the state of that moment, and sent only
// while the agent has a welcomed link: what cannot be sent is settled when it registers again.
#include "crater/base/ids.h"
#include "crater/base/log.h"
#include "crater/codec/proto.h"
#include "crater/proto/agent.pb.h"
#include "impl.h"

namespace crater::scheduler {
namespace {

// Nobody waits for an acknowledgement: it travels with the next order, or after this.
constexpr Millis owed_pause{200};

// "10.0.0.7:41234" -> "10.0.0.7"; "[fe80::1]:41234" -> "fe80::1".
std::string host_of(std::string peer) {
    if (const auto colon = peer.rfind(':');
        colon != std::string::npos && (peer.front() == '[' || peer.find(':') == colon))
        peer.resize(colon);
    if (peer.size() > 2 && peer.front() == '[' && peer.back() == ']') peer = peer.substr(1, peer.size() - 2);
    return peer;
}

}  // namespace

void Scheduler::Impl::send(Session& session, proto::ToAgent& message) {
    if (session.closed) return;
    if (!session.owed.empty()) send_owed(session);
    const auto link = session.link();
    if (!link) return;
    message.set_term(term_);
    link->send(codec::to_bytes(message));
}

void Scheduler::Impl::send(const std::string& node, proto::ToAgent& message) {
    Node* found = find_node(node);
    if (found && found->session && found->session->welcomed) send(*found->session, message);
}

void Scheduler::Impl::send_welcome(Session& session) {
    proto::ToAgent message;
    proto::Welcome& w = *message.mutable_welcome();
    w.set_heartbeat_interval_ms(config_.heartbeat_interval.count());
    w.set_heartbeat_timeout_ms(config_.heartbeat_timeout.count());
    w.set_sample_interval_ms(config_.sample_interval.count());
    w.set_scheduler_version("0.1.0");
    send(session, message);
}

void Scheduler::Impl::order_launch(const Job& job, const TaskStatus& task) {
    when_durable([this, id = job.id(), index = task.index, attempt = task.attempt] {
        send_launch(id, index, attempt);
    });
}

Result<std::string> Scheduler::Impl::spec_text(const FixedJob& job) {
    if (last_spec_.of != job.packed) {
        CRATER_TRY(whole, job.spec());
        last_spec_ = {job.packed, stored_text(whole)};
    }
    return last_spec_.text;
}

void Scheduler::Impl::send_launch(const std::string& id, std::int64_t index, std::int64_t attempt) {
    const Job* job = find(id);
    if (!job) return;
    const TaskStatus& task = job->status().tasks.at(static_cast<std::size_t>(index));
    // Meanwhile it may have been given up; then its node hears of it when it comes back.
    if (task.attempt != attempt || !state_row(task.state).holds || !task.allocation) return;
    const JobSpec& spec = *job->fixed->outline;
    proto::ToAgent message;
    proto::Launch& launch = *message.mutable_launch();
    launch.set_job(id);
    launch.set_task(index);
    launch.set_attempt(attempt);
    auto text = spec_text(*job->fixed);
    if (!text)  // it will not be running in time, and fails with that
        return log::error("a job's stored spec cannot be read; it is not launched",
                          {{"job", id}, {"why", text.error().text()}});
    launch.set_spec_json(std::move(*text));
    codec::to_proto(*task.allocation, *launch.mutable_allocation());
    launch.set_tenant(job->fixed->tenant);
    auto& env = *launch.mutable_env();
    env["CRATER_ATTEMPT"] = std::to_string(attempt);
    if (const auto array = spec.labels.find(std::string(api::array_label));
        array != spec.labels.end() && id.starts_with(array->second + "."))
        env["CRATER_ARRAY_INDEX"] = id.substr(array->second.size() + 1);
    if (spec.tasks > 1) {
        const std::string& head = job->status().tasks.front().allocation->node;
        const Node* node = find_node(head);
        const auto link = node && node->session ? node->session->link() : nullptr;
        const std::string host = link ? host_of(link->peer()) : std::string();
        env["MASTER_ADDR"] = host.empty() ? head : host;
        // The same for all tasks of one start, another for the next: a port of the last one may linger.
        const std::uint64_t mix = hash64(id, static_cast<std::uint64_t>(job->status().tasks.front().attempt));
        env["MASTER_PORT"] = std::to_string(20'000 + mix % 10'000);
        env["WORLD_SIZE"] = std::to_string(spec.tasks);
        env["NODE_RANK"] = std::to_string(index);
    }
    send(task.allocation->node, message);
}

void Scheduler::Impl::order_stop_of(const std::string& node, const TaskKey& key, const StopOrder& order) {
    when_durable([this, node, key, order] {
        proto::ToAgent message;
        proto::Stop& stop = *message.mutable_stop();
        stop.set_job(key.job);
        stop.set_task(key.task);
        stop.set_attempt(key.attempt);
        stop.set_grace_ms(order.grace.count());
        stop.set_outcome(std::string(name_of(order.outcome)));
        stop.set_reason(std::string(name_of(order.reason)));
        stop.set_detail(order.detail);
        send(node, message);
    });
}

void Scheduler::Impl::order_forget(const std::string& node, const TaskKey& key) {
    when_durable([this, node, key] {
        proto::ToAgent message;
        proto::Forget& forget = *message.mutable_forget();
        forget.set_job(key.job);
        forget.set_task(key.task);
        forget.set_attempt(key.attempt);
        send(node, message);
    });
}

// What was reported is durable. Told on the link it came by: another run of the agent gives other reports the
// same numbers.
void Scheduler::Impl::acknowledge(std::vector<std::pair<std::shared_ptr<Session>, std::uint64_t>> reports) {
    if (reports.empty()) return;
    for (auto& [session, number] : reports) {
        if (session->closed) continue;
        session->owed.push_back(number);
        if (session->owed.size() == 1) owed_.push_back(std::move(session));
    }
    if (owed_timer_) return;
    owed_timer_ = env_.loop.after(owed_pause, [this] {
        owed_timer_ = 0;
        for (const auto& session : std::exchange(owed_, {}))
            if (!session->closed) send_owed(*session);
    });
}

void Scheduler::Impl::send_owed(Session& session) {
    for (const std::uint64_t number : std::exchange(session.owed, {})) {
        proto::ToAgent message;
        message.mutable_ack()->set_number(number);
        send(session, message);
    }
}

}  // namespace crater::scheduler
