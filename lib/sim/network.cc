// The network between agents and the scheduler, and what is looked at while messages pass.
#include "crater/codec/proto.h"
#include "world_impl.h"

namespace crater::sim {
namespace {

constexpr Millis ping_patience{12'000};
constexpr Millis delayed_max{5'000}, late_min{300}, late_max{4'000};
constexpr std::size_t said_kept = 3;

// The first byte of a message of the agent: which body it has.
constexpr char report_tag = 0x1a, refused_tag = 0x2a;

// Term and body of an order, read no further than that.
struct Head {
    std::uint64_t term = 0;
    int body = 0;  // number of its field
};
Head head_of(const std::string& bytes) {
    Head out;
    std::size_t i = 0;
    if (i < bytes.size() && bytes[i] == 0x08) {
        int shift = 0;
        for (++i; i < bytes.size(); shift += 7) {
            const auto byte = static_cast<unsigned char>(bytes[i++]);
            out.term |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
            if (byte < 0x80) break;
        }
    }
    if (i < bytes.size()) out.body = static_cast<unsigned char>(bytes[i]) >> 3;
    return out;
}

}  // namespace

// The agent's way to the scheduler: fails while nobody answers there or the network is cut.
class World::Impl::Connector final : public wire::Connector {
  public:
    Connector(Impl& world, int host) : world_(world), host_(host) {}
    void connect(wire::LinkCallbacks callbacks,
                 std::function<void(Result<std::shared_ptr<wire::Link>>)> done) override {
        world_.connect(host_, std::move(callbacks), std::move(done));
    }

  private:
    Impl& world_;
    int host_;
};

// The scheduler's end of a link: what it says must be durable.
class World::Impl::SchedulerEnd final : public wire::Link {
  public:
    SchedulerEnd(Impl& world, int host, LifePtr life, std::shared_ptr<wire::Link> link)
        : world_(world), host_(host), life_(std::move(life)), link_(std::move(link)) {}
    void send(std::string message) override {
        if (!life_->acts()) return;
        Host& h = world_.host(host_);
        if (life_->leads) world_.check_order(h, message);
        if (life_->leads && head_of(message).body == proto::ToAgent::kWelcome && h.far_end.get() == this)
            h.welcomed = true;
        link_->send(std::move(message));
    }
    void close() override {
        if (life_->over) return;
        if (Host& h = world_.host(host_); h.far_end.get() == this) {
            const std::int64_t now_us = world_.time_.ticks_us();
            if (std::exchange(h.welcomed, false) &&
                now_us - h.heard_us < world_.config_.heartbeat_timeout.count() * 1000)
                h.dropped_us = now_us;
        }
        link_->close();
    }
    std::string peer() const override { return link_->peer(); }

  private:
    Impl& world_;
    int host_;
    LifePtr life_;
    std::shared_ptr<wire::Link> link_;
};

// The agent's end.
class World::Impl::AgentEnd final : public wire::Link {
  public:
    AgentEnd(Impl& world, int host, std::shared_ptr<wire::Link> link)
        : world_(world), host_(host), life_(world.host(host).life), link_(std::move(link)) {}
    void send(std::string message) override {
        Host& h = world_.host(host_);
        ++h.words;
        h.refusals += !message.empty() && message[0] == refused_tag;
        if (!life_->acts()) return;
        ++world_.counts_.messages;
        if (h.older) message = world_.as_older(h, std::move(message));
        if (!message.empty() && message[0] == report_tag) {
            h.said.push_back(message);
            if (h.said.size() > said_kept) h.said.pop_front();
        }
        link_->send(std::move(message));
    }
    void close() override {
        if (!life_->over) link_->close();
    }
    std::string peer() const override { return link_->peer(); }

  private:
    Impl& world_;
    int host_;
    LifePtr life_;
    std::shared_ptr<wire::Link> link_;
};

std::unique_ptr<wire::Connector> World::Impl::make_connector(int i) {
    return std::make_unique<Connector>(*this, i);
}

// Who takes the agent's call: the leader, or one that has lost its disk and does not know it yet.
SchedulerProcess* World::Impl::answering(const Host& host) {
    for (const std::int64_t until : host.cut_until_us)
        if (until > time_.ticks_us()) return nullptr;
    SchedulerProcess* old = frozen_ && frozen_awake_ && !frozen_->life->over ? frozen_.get() : nullptr;
    SchedulerProcess* now = leader() ? leader_.get() : nullptr;
    return old && (!now || rng_.below(2)) ? old : now;
}

void World::Impl::connect(int i, wire::LinkCallbacks callbacks,
                          std::function<void(Result<std::shared_ptr<wire::Link>>)> done) {
    host(i).loop->after(pause(weather_.delay_max), [this, i, callbacks = std::move(callbacks),
                                                    done = std::move(done)]() mutable {
        Host& h = host(i);
        SchedulerProcess* process = answering(h);
        if (!process) return done(fail(Code::unavailable, "no answer"));
        const auto delay = [this, &h] {
            return pause(h.delayed_until_us > time_.ticks_us() ? delayed_max : weather_.delay_max);
        };
        h.wire =
            std::make_shared<VirtualWire>(time_, delay, [this] { return chance(weather_.message_loss); });
        h.welcomed = false;
        for (auto* wires : {&process->wires, &h.wires}) {
            std::erase_if(*wires, [](const auto& wire) { return wire.expired(); });
            wires->push_back(h.wire);
        }
        auto theirs = std::make_shared<std::weak_ptr<wire::Link>>();
        auto from_agent =
            at_scheduler(i, *process, process->service->agent_link([theirs] { return theirs->lock(); }));
        const auto end = h.wire->attach(1, *process->loop, std::move(from_agent),
                                        "10.0.0." + std::to_string(i + 1) + ":4000");
        h.far_end = std::make_shared<SchedulerEnd>(*this, i, process->life, end);
        *theirs = h.far_end;
        h.near_end = h.wire->attach(0, *h.loop, at_agent(i, std::move(callbacks)), "scheduler");
        if (const auto lost = std::exchange(h.lost_when_linked, std::nullopt); lost && !healed_)
            in_steps_.emplace_back(1 + rng_.below(6), *lost);
        done(std::make_shared<AgentEnd>(*this, i, h.near_end));
    });
}

wire::LinkCallbacks World::Impl::at_scheduler(int i, const SchedulerProcess& process,
                                              wire::LinkCallbacks callbacks) {
    const std::string who = host(i).machine->name() + " > scheduler";
    return {.on_message =
                [this, i, who, &process, next = std::move(callbacks.on_message)](std::string m) {
                    trace(who, m);
                    Host& h = host(i);
                    if (process.life->leads) h.heard_us = time_.ticks_us();
                    if (!m.empty() && m[0] == report_tag) {
                        proto::ToScheduler message;
                        if (message.ParseFromString(m)) note_report(i, process, message.report());
                    }
                    next(std::move(m));
                },
            .on_closed =
                [this, i, who, wire = host(i).wire.get(),
                 next = std::move(callbacks.on_closed)](std::string why) {
                    trace(who + " closed: " + why);
                    if (host(i).wire.get() == wire) host(i).welcomed = false;
                    next(std::move(why));
                }};
}

void World::Impl::note_report(int i, const SchedulerProcess& process, const proto::TaskReport& report) {
    reports_[{i, report.number()}] = report;
    const auto truth = truth_.find({report.job(), report.task(), report.attempt()});
    if (truth != truth_.end() && process.life->leads && ends(report)) {
        truth->second.told = process.life;
        truth->second.told_at = scheduler_clock_.now();
    }
}

wire::LinkCallbacks World::Impl::at_agent(int i, wire::LinkCallbacks callbacks) {
    const std::string who = "scheduler > " + host(i).machine->name();
    return {.on_message =
                [this, i, who, next = std::move(callbacks.on_message)](std::string m) {
                    trace(who, m);
                    Host& h = host(i);
                    h.table_changed = true;
                    const Head head = head_of(m);
                    const bool stale = head.term < h.term;
                    h.term = std::max(h.term, head.term);
                    const std::uint64_t orders = h.machine->orders(), words = h.words, refusals = h.refusals;
                    next(std::move(m));
                    // It may say no or nothing, as to the late words of a link that it gave up.
                    const bool answered = h.words != words && h.refusals == refusals;
                    if (stale && (answered || h.machine->orders() != orders))
                        violate("terms", h.machine->name() + " obeyed term " + std::to_string(head.term) +
                                             " though it knows of " + std::to_string(h.term));
                    if (head.body == proto::ToAgent::kWelcome && std::exchange(h.repeat, false))
                        for (const std::string& again : h.said) h.near_end->send(again);
                },
            .on_closed =
                [this, who, next = std::move(callbacks.on_closed)](std::string why) {
                    trace(who + " closed: " + why);
                    next(std::move(why));
                }};
}

// What an older agent would have said.
std::string World::Impl::as_older(const Host& host, std::string bytes) {
    proto::ToScheduler message;
    if (!message.ParseFromString(bytes)) return bytes;
    if (message.has_register_()) {
        auto& registration = *message.mutable_register_();
        if (host.older == 1) registration.set_protocol("crater-agent-0");
        registration.mutable_inventory()->clear_agent_version();
        for (auto& held : *registration.mutable_held()) held.clear_started_ms();
    } else if (message.has_heartbeat()) {
        message.mutable_heartbeat()->clear_orders_seen();
    } else if (message.has_report()) {
        message.mutable_report()->clear_enforcement();
        message.mutable_report()->clear_detail();
        message.mutable_report()->clear_at_ms();
        if (const auto truth =
                truth_.find({message.report().job(), message.report().task(), message.report().attempt()});
            truth != truth_.end())
            truth->second.doubtful = true;
    }
    return codec::to_bytes(message);
}

// Nothing arrives at this side for a while. Pings find out; a shorter cut goes unnoticed.
void World::Impl::cut(Host& h, int side, Millis span) {
    auto& until = h.cut_until_us[static_cast<std::size_t>(side)];
    until = std::max(until, in_us(span));
    if (h.wire) h.wire->stall(side, true);
    const int i = h.index;
    loop_.after(span, [this, i] { unstall(host(i)); });
    loop_.after(ping_patience, [this, i, side, wire = std::weak_ptr(h.wire)] {
        const auto w = wire.lock();
        if (w && host(i).cut_until_us[static_cast<std::size_t>(side)] > time_.ticks_us())
            w->break_off("no answer to pings");
    });
}

void World::Impl::unstall(Host& h) {
    for (const int side : {0, 1})
        if (h.wire && h.cut_until_us[static_cast<std::size_t>(side)] <= time_.ticks_us() &&
            h.wire->stalled(side))
            h.wire->stall(side, false);
}

// The agent's end breaks; what it had said arrives at the scheduler when it has called again.
bool World::Impl::replay_late(Host& h) {
    if (!h.wire || !h.wire->open() || h.wire->stalled(1)) return false;
    h.wire->stall(1, true);
    h.wire->break_side(0, "the connection broke");
    loop_.after(late_min + pause(late_max), [wire = std::move(h.wire), end = std::move(h.far_end)] {
        wire->stall(1, false);
        wire->break_side(1, "the connection broke");
    });
    h.wire = nullptr;
    h.far_end = nullptr;
    h.welcomed = false;
    return true;
}

}  // namespace crater::sim
