// What must hold after each step, and what is looked at every now and then because it is dear.
#include <cmath>

#include "world_impl.h"

namespace crater::sim {
namespace {

constexpr Millis slow_period{2'000};
// A transient state's end is known a little after its time limit: a commit, an order and a report later.
constexpr Millis timeout_slack{60'000};
// A stop is asked for again half a minute after its grace.
constexpr Millis stop_slack{90'000};

}  // namespace

void World::Impl::check() {
    check_machines();
    if (time_.ticks_us() < next_slow_us_) return;
    next_slow_us_ = in_us(slow_period);
    check_slow();
}

// No device over its capacity: by what really runs, and by each agent's own table.
void World::Impl::check_machines() {
    for (const auto& h : hosts_) {
        const bool changed = h->machine->changes() != h->checked_changes;
        if (changed) {
            h->checked_changes = h->machine->changes();
            if (const auto fits = agent::check_capacity(h->machine->inventory(), h->machine->running(), {});
                !fits)
                violate("capacity", h->machine->name() + ": " + fits.error().text());
        }
        if (h->agent && (changed || std::exchange(h->table_changed, false)))
            if (const auto fits = agent::check_capacity(h->machine->inventory(), h->agent->table(), {});
                !fits)
                violate("capacity", h->machine->name() + "'s own table: " + fits.error().text());
    }
}

void World::Impl::check_slow() {
    check_timeouts();
    if (leader()) check_books();
    check_waiting();
}

// Every transient state ends by its timeout; what is told to stop has stopped when its grace is over. Faults
// may hold an end up while they last: the slack counts from the last of them.
void World::Impl::check_timeouts() {
    const std::int64_t now_us = time_.ticks_us();
    const auto late = [&](std::int64_t since_us, Millis limit) {
        return now_us > std::max(since_us + (limit.count() + set_back_ms_) * 1000, disturbed_us_) +
                            timeout_slack.count() * 1000;
    };
    for (const auto& [key, since] : since_) {
        const StateRow& row = state_row(since.state);
        Millis limit = row.timeout;
        if (since.state == State::lost) limit = config_.lost_grace;
        if (limit > Millis(0) && late(since.us, limit))
            violate("timeouts", key.first + "." + std::to_string(key.second) + " is " +
                                    std::string(row.name) + " since " +
                                    std::to_string(since.us / 1000 - start_ms));
    }
    for (const auto& [id, since_us] : stopping_since_)
        if (late(since_us, durable_.at(id).grace + stop_slack))
            violate("timeouts", id + " is told to stop since " + std::to_string(since_us / 1000 - start_ms));
    for (const auto& [id, job] : durable_) {
        const auto limit = limits_.find(id);
        if (limit == limits_.end() || job.stopping) continue;
        for (const TaskStatus& task : job.status->tasks)
            if (task.state == State::running && late(since_.at({id, task.index}).us, limit->second))
                violate("timeouts", id + " runs beyond its time limit");
    }
}

// Three books of who holds what agree: the jobs', the nodes' and the cluster's; and nothing is given twice.
void World::Impl::check_books() {
    const auto& read = leader()->read();
    const api::ClusterView cluster = read.cluster();
    if (cluster.revision == checked_revision_) return;
    checked_revision_ = cluster.revision;
    struct Held {
        std::int64_t cpu = 0, memory = 0;
        std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> cards;  // compute, memory
    };
    std::map<std::string, Held> held;
    for (const auto& [id, facts] : facts_) {
        const auto job = read.job(id);
        if (!job) continue;
        for (const TaskStatus& task : job->status().tasks) {
            if (!state_row(task.state).holds || !task.allocation) continue;
            Held& at = held[task.allocation->node];
            at.cpu += task.allocation->cpu.value;
            at.memory += task.allocation->memory.value;
            for (const GpuSlice& slice : task.allocation->gpus) {
                auto& card = at.cards[slice.index];
                card.first += slice.compute.value;
                card.second += slice.memory.value;
            }
        }
    }
    double cards_total = 0, cpu_held = 0;
    const auto differ = [](double a, double b) {
        return std::abs(a - b) > 1e-6 * std::max(1.0, std::abs(a));
    };
    for (int i = 0; i < nodes_; ++i) {
        const std::string& name = host(i).machine->name();
        const auto view = read.node(name);
        if (!view) continue;
        const api::NodeRow& row = view->node;
        const Held& at = held[name];
        const auto& bars = row.resources;
        if (differ(bars.cpu.allocated * 1000, static_cast<double>(at.cpu)))
            violate("books", name + ": " + std::to_string(bars.cpu.allocated) +
                                 " cores are allocated, its tasks hold " + std::to_string(at.cpu) +
                                 " millicores");
        if (differ(bars.memory_bytes.allocated, static_cast<double>(at.memory)))
            violate("books", name + ": its tasks hold other memory than is allocated");
        std::int64_t healthy = 0, unhealthy = 0;
        for (const api::CardView& card : row.cards) {
            std::int64_t compute = 0, memory = 0;
            for (const api::CardSlice& slice : card.slices)
                compute += slice.compute.value, memory += slice.memory.value;
            const auto it = at.cards.find(card.index);
            const auto tasks = it == at.cards.end() ? std::pair<std::int64_t, std::int64_t>() : it->second;
            if (std::pair(compute, memory) != tasks)
                violate("books", name + " card " + std::to_string(card.index) + ": slices of " +
                                     std::to_string(compute) + ", its tasks hold " +
                                     std::to_string(tasks.first));
            if (memory > card.memory_total.value)
                violate("books",
                        name + " card " + std::to_string(card.index) + " gives more memory than it has");
            (card.healthy ? healthy : unhealthy) += 1;
        }
        if (differ(bars.gpu.total, static_cast<double>(healthy + unhealthy)))
            violate("books", name + ": " + std::to_string(healthy) + " cards and " +
                                 std::to_string(unhealthy) + " broken ones are not " +
                                 std::to_string(bars.gpu.total));
        if (row.state != NodeState::lost) cards_total += bars.gpu.total;
        if (row.state != NodeState::lost) cpu_held += bars.cpu.allocated;
    }
    if (differ(cluster.resources.gpu.total, cards_total))
        violate("books", "the cluster has " + std::to_string(cluster.resources.gpu.total) +
                             " cards, its nodes " + std::to_string(cards_total));
    if (differ(cluster.resources.cpu.allocated, cpu_held))
        violate("books", "the cluster has given " + std::to_string(cluster.resources.cpu.allocated) +
                             " cores, its nodes " + std::to_string(cpu_held));
}

}  // namespace crater::sim
