// What must hold of the words that leave the scheduler: they are of what is durable, and nobody is served
// twice.
#include "crater/proto/agent.pb.h"
#include "world_impl.h"

namespace crater::sim {
namespace {

const TaskStatus* task_of(const std::map<std::string, scheduler::StoredJob>& jobs, const std::string& id,
                          std::int64_t task) {
    const auto job = jobs.find(id);
    if (job == jobs.end() || task < 0 || static_cast<std::size_t>(task) >= job->second.status->tasks.size())
        return nullptr;
    return &job->second.status->tasks[static_cast<std::size_t>(task)];
}

}  // namespace

// Whether it is the last of its attempt.
bool World::Impl::ends(const proto::TaskReport& report) {
    for (const auto& row : enum_names(State{}))
        if (row.name == report.state()) return state_row(row.value).terminal || row.value == State::preempted;
    return false;
}

void World::Impl::check_order(const Host& h, const std::string& bytes) {
    proto::ToAgent message;
    if (!message.ParseFromString(bytes)) return violate("protocol", "an order cannot be read");
    if (message.has_launch()) {
        const auto& launch = message.launch();
        const TaskStatus* stored = task_of(durable_, launch.job(), launch.task());
        if (!stored || stored->attempt < launch.attempt() ||
            (stored->attempt == launch.attempt() && stored->state == State::pending))
            violate("durability", "launched before it was stored: " + launch.job() + " attempt " +
                                      std::to_string(launch.attempt()));
    } else if (message.has_stop()) {
        const auto& stop = message.stop();
        const auto job = durable_.find(stop.job());
        const TaskStatus* stored = task_of(durable_, stop.job(), stop.task());
        if (!stored || (!job->second.stopping && stored->attempt == stop.attempt() &&
                        !state_row(stored->state).terminal && stored->state != State::pending))
            violate("durability", "stopped before it was stored: " + stop.job() + " attempt " +
                                      std::to_string(stop.attempt()));
    } else if (message.has_ack()) {
        const auto it = reports_.find({h.index, message.ack().number()});
        if (it == reports_.end()) return;
        const auto& report = it->second;
        const TaskStatus* stored = task_of(durable_, report.job(), report.task());
        if (ends(report) && stored && stored->attempt == report.attempt() && state_row(stored->state).holds)
            violate("durability", "acknowledged before it was stored: " + report.job() + " is " +
                                      report.state() + ", stored " + std::string(name_of(stored->state)));
        reports_.erase(it);
    } else if (message.has_welcome()) {
        for (const auto& other : hosts_)
            if (other->index != h.index && other->node == h.node) {
                // Its link is open, or was closed for the one that is welcomed now.
                const std::int64_t last_us = other->welcomed ? other->heard_us : other->dropped_us;
                if (last_us > 0 && time_.ticks_us() - last_us < config_.heartbeat_timeout.count() * 1000)
                    violate("registration", "a second agent of " + h.machine->name() +
                                                " is welcome while the first is heard");
            }
    }
}

void World::Impl::check_answered(const std::string& id) {
    if (!durable_.contains(id)) violate("durability", id + " was acknowledged before it was stored");
}

// What a new scheduler found on the disk.
void World::Impl::check_recovered(const scheduler::Scheduler& service) {
    if (!service.read().cluster().state_hash_verified)
        violate("state_hash", "the rebuilt state differs from the stored one");
    for (const std::string& id : acknowledged_)
        if (!service.read().job(id)) violate("acknowledged", id + " is lost");
    for (const auto& [id, job] : durable_)
        if (const auto record = service.read().job(id);
            !record || record->status().state != job.status->state)
            violate("store", id + " was stored as " + std::string(name_of(job.status->state)) +
                                 " and is not found so");
}

}  // namespace crater::sim
