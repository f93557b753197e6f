// What goes wrong, and that it stops.
#include "world_impl.h"

namespace crater::sim {
namespace {

constexpr int actions_max = 4;  // a process dies before one of its next few

Millis at_least(Millis span, Millis least) { return std::max(span, least); }

}  // namespace

void World::Impl::inject(const Injection& injection) {
    loop_.after(std::max(Millis(0), injection.at - elapsed()), [this, injection] {
        if (healed_) return;
        if (injection.steps == 0) return strike(injection);
        in_steps_.emplace_back(injection.steps, injection);
    });
}

// After each step: what was to strike so many steps later.
void World::Impl::count_step() {
    std::vector<Injection> due;
    for (auto& [steps, injection] : in_steps_)
        if (--steps == 0) due.push_back(injection);
    std::erase_if(in_steps_, [](const auto& item) { return item.first == 0; });
    for (const Injection& injection : due) strike(injection);
    bury();
}

void World::Impl::strike(const Injection& injection) {
    const FaultRow& row = fault_row(injection.fault);
    // A link that is not there is lost as soon as it is.
    if (row.fault == Fault::link_lost && !host(injection.node).linked())
        return void(host(injection.node).lost_when_linked = injection);
    const std::string name = row.place == Place::node ? host(injection.node).machine->name() : std::string();
    bool struck = false;
    switch (row.place) {
        case Place::scheduler: struck = strike_scheduler(injection); break;
        case Place::node: struck = strike_node(injection, host(injection.node)); break;
        case Place::alldata: struck = strike_alldata(injection); break;
    }
    if (!struck) return void(++counts_.faults_without_effect);
    ++counts_.faults;
    trace("fault: " + std::string(row.name) + (name.empty() ? "" : " of " + name) +
          (row.lasts ? " for " + format(injection.span) : ""));
    disturbed_us_ = std::max(disturbed_us_, in_us(injection.span + weather_.restart_delay_max));
    cover(injection.fault, name);
}

// Of a node's fault: what is on that node, and what is on none.
void World::Impl::cover(Fault fault, const std::string& node) {
    for (const auto& [id, job] : durable_)
        for (const TaskStatus& task : job.status->tasks) {
            const bool elsewhere =
                state_row(task.state).holds && task.allocation && task.allocation->node != node;
            if (node.empty() || !elsewhere) coverage_.hit(fault, task.state);
        }
}

// ---- the scheduler and its disk ---------------------------------------------------------------------------

bool World::Impl::strike_scheduler(const Injection& injection) {
    if (!leader_) return false;
    const auto cut_next = [&](Disk::Cut cut) { return disk_.cut_next(cut), true; };
    switch (injection.fault) {
        case Fault::scheduler_crash:
            leader_->life->actions_left = static_cast<int>(rng_.below(actions_max));
            return true;
        case Fault::crash_before_write: return cut_next(Disk::Cut::before_write);
        case Fault::crash_before_reply: return cut_next(Disk::Cut::before_reply);
        case Fault::crash_after_reply: return cut_next(Disk::Cut::after_reply);
        case Fault::disk_torn: return cut_next(Disk::Cut::torn);
        case Fault::disk_full: return disk_.fill(), true;
        case Fault::disk_slow: return disk_.slow_until_us = in_us(injection.span), true;
        case Fault::disk_failing: return disk_.failing_until_us = in_us(injection.span), true;
        case Fault::scheduler_frozen: return freeze_scheduler(injection.span);
        case Fault::scheduler_clock_forward:
            scheduler_clock_.set(scheduler_clock_.off() + injection.span);
            return true;
        case Fault::scheduler_clock_back:
            set_back_ms_ += injection.span.count();
            scheduler_clock_.set(scheduler_clock_.off() - injection.span);
            return true;
        default: return false;
    }
}

// It hangs; its agents find out and call its successor, which has taken its disk. When it goes on it believes
// that they are still there.
bool World::Impl::freeze_scheduler(Millis span) {
    if (frozen_ || leader_->life->over) return false;
    frozen_ = std::move(leader_);
    frozen_->life->leads = false;
    for (const auto& host : hosts_) host->welcomed = false;
    frozen_->loop->freeze(true);
    frozen_awake_ = false;
    for (const auto& weak : frozen_->wires)
        if (const auto wire = weak.lock()) {
            wire->stall(1, true);
            wire->break_side(0, "no answer to pings");
        }
    start_scheduler_soon();
    loop_.after(at_least(span, Millis(1'000)), [this] { thaw_scheduler(); });
    return true;
}

void World::Impl::thaw_scheduler() {
    if (!frozen_ || std::exchange(frozen_awake_, true)) return;
    trace("scheduler: the old one goes on");
    frozen_->loop->freeze(false);
    // Whoever is linked to its successor loses that link, and may find the old one when it calls again.
    for (const auto& host : hosts_)
        if (host->wire && rng_.below(2)) host->wire->break_off("the connection broke");
    loop_.after(Millis(60'000), [this, life = frozen_->life] {
        if (frozen_ && frozen_->life == life) life->over = true;
    });
}

// ---- nodes ------------------------------------------------------------------------------------------------

bool World::Impl::strike_node(const Injection& injection, Host& h) {
    Machine& machine = *h.machine;
    const std::int64_t until = in_us(injection.span);
    switch (injection.fault) {
        case Fault::agent_crash:
            if (!h.loop) return false;
            h.life->actions_left = static_cast<int>(rng_.below(actions_max));
            return true;
        case Fault::power_loss:
            kill_agent(h.index);
            machine.power_off(rng_.below(2) == 0);
            start_agent_soon(h.index);
            return true;
        case Fault::agent_older:
            if (h.older) return false;
            h.older = static_cast<int>(1 + rng_.below(2));
            replace_agent(h);
            loop_.after(injection.span, [this, i = h.index] { end_older(host(i)); });
            return true;
        case Fault::agent_twin: return add_twin(h, injection.span);
        case Fault::agent_clock_forward:
            machine.clock().set(machine.clock().off() + injection.span);
            return true;
        case Fault::agent_clock_back:
            machine.clock().set(machine.clock().off() - injection.span);
            return true;
        case Fault::gpu_lost:
        case Fault::gpu_gone:
            if (machine.inventory().gpus.empty()) return false;
            machine.break_card(static_cast<std::int64_t>(rng_.below(machine.inventory().gpus.size())),
                               injection.fault == Fault::gpu_gone);
            loop_.after(injection.span, [this, i = h.index] { host(i).machine->mend_cards(); });
            return true;
        case Fault::exit_late: return machine.late_until_us = until, true;
        case Fault::exit_doubled: return machine.doubling_until_us = until, true;
        case Fault::start_hangs: return machine.hanging_until_us = until, true;
        case Fault::exit_lost:
            machine.lossy_until_us = until;
            loop_.after(injection.span + Millis(1), [this, i = h.index] { find_swallowed(host(i)); });
            return true;
        case Fault::partition: return cut(h, 0, injection.span), cut(h, 1, injection.span), true;
        case Fault::cut_to_scheduler: return cut(h, 1, injection.span), true;
        case Fault::cut_to_agent: return cut(h, 0, injection.span), true;
        case Fault::delay: return h.delayed_until_us = until, true;
        case Fault::duplicate: return h.repeat = !h.said.empty();
        case Fault::reorder: return replay_late(h);
        case Fault::link_lost: h.wire->break_off("the connection broke"); return true;
        default: return false;
    }
}

// Ended and started as another version; its tasks live on.
void World::Impl::replace_agent(Host& h) {
    if (h.loop) kill_agent(h.index);
    start_agent_soon(h.index);
}

void World::Impl::end_older(Host& h) {
    if (std::exchange(h.older, 0)) replace_agent(h);
}

// What a machine's agent did not hear of is found by the next one.
void World::Impl::find_swallowed(Host& h) {
    if (h.machine->swallowed() && time_.ticks_us() >= h.machine->lossy_until_us && h.loop) replace_agent(h);
}

// Another machine that was given the same name by mistake.
bool World::Impl::add_twin(Host& original, Millis span) {
    for (const auto& other : hosts_)
        if (other->index != other->node && other->node == original.node) {
            if (other->loop || other->starting) return false;
            other->present_until_us = in_us(span);
            start_agent(other->index);
            loop_.after(span, [this, i = other->index] { remove_twin(i); });
            return true;
        }
    const int i = static_cast<int>(hosts_.size());
    const int node = original.node;
    hosts_.push_back(std::make_unique<Host>());
    Host& twin = host(i);
    twin.index = i;
    twin.node = node;
    twin.machine = std::make_unique<Machine>(options_.nodes[static_cast<std::size_t>(node)], machine_world());
    twin.present_until_us = in_us(span);
    start_agent(i);
    loop_.after(span, [this, i] { remove_twin(i); });
    return true;
}

void World::Impl::remove_twin(int i) {
    trace(host(i).machine->name() + ": the twin is gone");
    kill_agent(i);
    host(i).starting = false;
    host(i).machine->power_off(false);
}

// ---- AllData ----------------------------------------------------------------------------------------------

bool World::Impl::strike_alldata(const Injection& injection) {
    const std::int64_t until = in_us(injection.span);
    switch (injection.fault) {
        case Fault::callbacks_slow: return alldata_slow_until_us_ = until, true;
        case Fault::callbacks_failing: return alldata_failing_until_us_ = until, true;
        case Fault::callback_answer_lost: return alldata_deaf_until_us_ = until, true;
        default: return false;
    }
}

// ---- peace ------------------------------------------------------------------------------------------------

void World::Impl::heal() {
    trace("world: no more faults");
    healed_ = true;
    in_steps_.clear();
    weather_.message_loss = 0;
    weather_.callback_failures_percent = weather_.task_failures_percent = 0;
    alldata_slow_until_us_ = alldata_failing_until_us_ = alldata_deaf_until_us_ = 0;
    disk_.cut_next(Disk::Cut::none);
    disk_.make_room();
    disk_.slow_until_us = disk_.failing_until_us = 0;
    if (leader_) leader_->life->actions_left = -1;
    thaw_scheduler();
    set_back_ms_ += std::max<std::int64_t>(0, scheduler_clock_.off().count());
    scheduler_clock_.set(Millis(0));
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        Host& h = *hosts_[i];
        if (h.index != h.node) {
            remove_twin(h.index);
            continue;
        }
        if (h.life) h.life->actions_left = -1;
        h.cut_until_us = {};
        h.delayed_until_us = 0;
        unstall(h);
        h.machine->clock().set(Millis(0));
        h.machine->mend_cards();
        h.machine->late_until_us = h.machine->lossy_until_us = h.machine->doubling_until_us =
            h.machine->hanging_until_us = 0;
        end_older(h);
        find_swallowed(h);
    }
    lift_reserves();
    give_up_impossible();
    disturbed_us_ = std::max(disturbed_us_, in_us(weather_.restart_delay_max));
}

}  // namespace crater::sim
