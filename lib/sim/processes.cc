// Who lives and dies.
#include "world_impl.h"

namespace crater::sim {

// ---- the scheduler ----------------------------------------------------------------------------------------

// What its main does.
void World::Impl::start_scheduler() {
    starting_ = false;
    leader_ = std::make_unique<SchedulerProcess>();
    SchedulerProcess& p = *leader_;
    p.loop = std::make_unique<VirtualLoop>(time_);
    p.store = disk_.open(*p.loop, p.life);
    p.callbacks = make_alldata(p);
    p.rng = std::make_unique<SeededRng>(rng_.next());
    auto made = scheduler::Scheduler::start(
        config_, {.clock = scheduler_clock_,
                  .loop = *p.loop,
                  .rng = *p.rng,
                  .store = *p.store,
                  .callbacks = p.callbacks.get(),
                  .metrics = nullptr,
                  .plugins = nullptr,
                  .on_fatal = [this, life = p.life](const Error& e) { on_fatal(life, e); }});
    if (!made) {
        trace("scheduler: does not start, " + made.error().text());
        if (time_.ticks_us() >= disk_.failing_until_us) violate("recovery", made.error().text());
        p.life->over = true;
        return kill_scheduler(leader_), start_scheduler_soon();
    }
    p.service = std::move(*made);
    trace("scheduler: up, state " + p.service->read().cluster().state_hash);
    check_recovered(*p.service);
}

void World::Impl::start_scheduler_soon() {
    if (std::exchange(starting_, true)) return;
    loop_.after(pause(weather_.restart_delay_max), [this] { start_scheduler(); });
}

// It cannot store any more: its main ends, and a supervisor starts the next one.
void World::Impl::on_fatal(const LifePtr& life, const Error& error) {
    trace("scheduler: ends, " + error.text());
    const bool leads = leader_ && leader_->life == life;
    if (leads && !disk_.full() && time_.ticks_us() >= disk_.failing_until_us) violate("store", error.text());
    life->over = true;
}

void World::Impl::kill_scheduler(std::unique_ptr<SchedulerProcess>& process) {
    if (!process) return;
    process->life->over = true;
    process->loop->kill();
    for (const auto& weak : process->wires)
        if (const auto wire = weak.lock()) wire->detach(1);
    if (process->life->leads)
        for (const auto& host : hosts_) host->welcomed = false;
    process->service.reset();
    process->callbacks.reset();
    process->rng.reset();
    process->store.reset();
    process.reset();
}

// ---- agents -----------------------------------------------------------------------------------------------

Machine::World World::Impl::machine_world() {
    return {.time = time_,
            .rng = rng_,
            .truth = truth_,
            .task_failures_percent = &weather_.task_failures_percent,
            .trace = [this](const std::string& text) { trace(text); },
            .violation = [this](std::string checker,
                                std::string text) { violate(std::move(checker), std::move(text)); }};
}

void World::Impl::start_agent(int i) {
    Host& h = host(i);
    h.starting = false;
    h.life = std::make_shared<Life>();
    h.loop = std::make_unique<VirtualLoop>(time_);
    h.runtime = h.machine->runtime(*h.loop, h.life);
    h.source = h.machine->source();
    h.connector = make_connector(i);
    h.rng = std::make_unique<SeededRng>(rng_.next());
    h.term = 0;
    h.said.clear();  // its numbers begin anew
    h.repeat = false;
    h.table_changed = true;
    std::erase_if(reports_, [i](const auto& item) { return item.first.first == i; });
    agent::Config config;
    config.node_name = h.machine->name();
    config.allow_unenforced = true;
    h.agent = std::make_unique<agent::Agent>(
        config, agent::Env{h.machine->clock(), *h.loop, *h.rng, *h.source, *h.runtime, *h.connector});
    trace(h.machine->name() + ": agent up" + (h.index == h.node ? "" : ", a twin"));
    h.agent->start();
}

void World::Impl::start_agent_soon(int i) {
    if (std::exchange(host(i).starting, true)) return;
    loop_.after(pause(weather_.restart_delay_max), [this, i] {
        Host& h = host(i);
        const bool twin = h.index != h.node;
        if (!h.loop && h.starting && !(twin && time_.ticks_us() >= h.present_until_us)) start_agent(i);
    });
}

void World::Impl::kill_agent(int i) {
    Host& h = host(i);
    if (!h.loop) return;
    h.life->over = true;
    h.loop->kill();
    for (const auto& weak : std::exchange(h.wires, {}))
        if (const auto wire = weak.lock()) wire->detach(0);
    h.welcomed = false;
    h.machine->agent_died();
    h.agent.reset();
    h.connector.reset();
    h.source.reset();
    h.runtime.reset();
    h.rng.reset();
    h.loop.reset();
    h.life.reset();
}

}  // namespace crater::sim
