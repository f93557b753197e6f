#include "crater/agent/agent.h"

#include <algorithm>
#include <set>

#include "crater/base/ids.h"
#include "crater/base/log.h"
#include "crater/codec/proto.h"
#include "crater/proto/agent.pb.h"
#include "inventory.h"
#include "logs.h"
#include "reports.h"
#include "retention.h"

namespace crater::agent {
namespace {

constexpr Millis redial_min{200}, redial_max{5'000};
constexpr Millis forget_grace{5'000};

bool terminal(State state) {
    return state_row(state).terminal || state == State::preempted || state == State::lost;
}

State state_named(const std::string& name, State otherwise) {
    for (const auto& row : enum_names(State{}))
        if (row.name == name) return row.value;
    return otherwise;
}
Reason reason_named(const std::string& name) {
    for (const auto& row : enum_names(Reason{}))
        if (row.name == name) return row.value;
    return Reason::none;
}

}  // namespace

class Agent::Impl {
    // Callbacks that others keep must not outlive this object.
    template <class F>
    auto guarded(F function) {
        return [alive = alive_, function = std::move(function)](auto&&... arguments) {
            if (*alive) function(std::forward<decltype(arguments)>(arguments)...);
        };
    }

  public:
    Impl(Config config, Env env)
        : config_(std::move(config)),
          env_(env),
          boot_id_(make_id("boot", env.rng)),
          logs_(
              env.loop, env.runtime, [this](const run::TaskId& id) { return table_.contains(id); },
              [this](const proto::LogChunk& chunk) {
                  proto::ToScheduler message;
                  *message.mutable_log() = chunk;
                  send(message);
              }),
          retention_(config_.retention, env.loop, env.clock, env.runtime) {}

    ~Impl() {
        env_.loop.cancel(redial_timer_);
        env_.loop.cancel(heartbeat_timer_);
        *alive_ = false;
        if (link_) link_->close();
    }

    void start() {
        env_.runtime.listen(guarded([this](run::TaskEvent event) { on_event(std::move(event)); }));
        for (run::Adopted& adopted : env_.runtime.adopt()) {
            const run::TaskId id = adopted.launch.id;
            if (!terminal(adopted.last.state))
                table_[id] = {std::move(adopted.launch.allocation), adopted.launch.spec.grace_period,
                              adopted.last.state, adopted.last.at};
            reports_.add(adopted.last);
        }
        retention_.start();
        dial();
    }

    void stop(bool stop_tasks, std::function<void()> done) {
        stopping_ = true;
        on_empty_ = std::move(done);
        if (stop_tasks)
            for (const auto& [id, held] : table_) {
                report({id, State::preempting, Reason::node_drained, "the agent is being stopped", -1,
                        env_.clock.now()});
                env_.runtime.stop(id, held.grace, State::preempted, Reason::node_drained,
                                  "the agent was stopped");
            }
        if (!stop_tasks || table_.empty()) finish_stop();
    }

    Reloaded reload(Config config) {
        Reloaded out;
        bool registered = false;
        for (std::string& key : changed_settings(config_, config)) {
            const bool hardware = key == "labels" || key == "resource_pools";
            registered |= hardware;
            (hardware || key == "retention" || key == "log_level" ? out.applied : out.at_restart)
                .push_back(std::move(key));
        }
        config_.labels = std::move(config.labels);
        config_.resource_pools = std::move(config.resource_pools);
        config_.retention = config.retention;
        config_.log_level = std::move(config.log_level);
        retention_.reload(config_.retention);
        if (registered && link_) send_register();
        return out;
    }

    const std::map<run::TaskId, Held>& table() const { return table_; }
    bool connected() const { return welcome_; }

  private:
    // ---- the link ----
    void dial() {
        redial_timer_ = 0;
        dialling_ = true;
        const std::uint64_t dial_number = ++dials_;
        env_.connector.connect({.on_message = guarded([this, dial_number](std::string bytes) {
                                    if (dial_number == dials_) on_message(bytes);
                                }),
                                .on_closed = guarded([this, dial_number](std::string why) {
                                    if (dial_number == dials_) on_closed(why);
                                })},
                               guarded([this](Result<std::shared_ptr<wire::Link>> link) {
                                   dialling_ = false;
                                   if (!link) return redial(link.error().text());
                                   link_ = std::move(*link);
                                   send_register();
                               }));
    }

    void on_closed(const std::string& why) {
        if (!link_ && !dialling_) return;
        link_.reset();
        welcome_ = false;
        env_.loop.cancel(heartbeat_timer_);
        heartbeat_timer_ = 0;
        logs_.cancel_all();
        redial(why);
    }

    // Doubling, with jitter so that a thousand agents do not come back in the same instant.
    void redial(const std::string& why) {
        if (stopped_ || redial_timer_) return;
        if (redial_delay_ >= Millis(1'600)) log::warning("cannot reach the scheduler", {{"why", why}});
        const auto jitter = Millis(static_cast<std::int64_t>(
            env_.rng.below(static_cast<std::uint64_t>(redial_delay_.count()) / 2 + 1)));
        redial_timer_ = env_.loop.after(redial_delay_ + jitter, [this] { dial(); });
        redial_delay_ = std::min(redial_delay_ * 2, redial_max);
    }

    void send(const proto::ToScheduler& message) {
        if (link_) link_->send(codec::to_bytes(message));
    }

    void send_register() {
        auto inventory = configured_inventory(config_, env_.source, env_.runtime);
        if (!inventory) {
            log::error("cannot read this node's hardware", {{"why", inventory.error().text()}});
            link_->close();
            return on_closed(inventory.error().text());
        }
        inventory_ = std::move(*inventory);
        proto::ToScheduler message;
        auto* registration = message.mutable_register_();
        registration->set_protocol(std::string(wire::agent_protocol));
        registration->set_boot_id(boot_id_);
        codec::to_proto(inventory_, *registration->mutable_inventory());
        for (const auto& [id, held] : table_) add_held(*registration, id, held.state, held.started);
        for (const auto& waiting : reports_.waiting())
            if (!table_.contains(id_of(waiting)))
                add_held(*registration, id_of(waiting), state_named(waiting.state(), State::lost),
                         Instant{waiting.at_ms()});
        send(message);
    }

    static void add_held(proto::Register& registration, const run::TaskId& id, State state, Instant started) {
        auto* held = registration.add_held();
        held->set_job(id.job);
        held->set_task(id.task);
        held->set_attempt(id.attempt);
        held->set_state(std::string(name_of(state)));
        held->set_started_ms(started.ms);
    }

    void send_reports() {
        for (const auto& waiting : reports_.waiting()) send_report(waiting);
    }
    void send_report(const proto::TaskReport& report) {
        if (!welcome_) return;
        proto::ToScheduler message;
        *message.mutable_report() = report;
        send(message);
    }

    void beat() {
        heartbeat_timer_ = env_.loop.after(interval_, [this] { beat(); });
        proto::ToScheduler message;
        auto* heartbeat = message.mutable_heartbeat();
        heartbeat->set_number(++heartbeats_);
        heartbeat->set_orders_seen(orders_seen_);
        codec::to_proto(env_.source.sample(env_.clock.now()), *heartbeat->mutable_sample());
        send(message);
        send_usage();
        if (env_.source.changed()) send_register();
    }

    void send_usage() {
        const auto usage = env_.runtime.usage();
        if (usage.empty()) return;
        proto::ToScheduler message;
        auto* samples = message.mutable_task_samples();
        for (const run::TaskUsage& use : usage) {
            auto* sample = samples->add_samples();
            sample->set_job(use.id.job);
            sample->set_task(use.id.task);
            sample->set_at_ms(env_.clock.now().ms);
            sample->set_cpu_cores(use.cpu_cores);
            sample->set_memory_bytes(use.memory.value);
            sample->set_read_bytes(use.read_bytes);
            sample->set_write_bytes(use.write_bytes);
            sample->set_pids(use.pids);
        }
        send(message);
    }

    // ---- orders ----
    void on_message(const std::string& bytes) {
        proto::ToAgent message;
        if (!message.ParseFromString(bytes)) {
            log::warning("the scheduler sent something that is no message; the link is closed");
            link_->close();
            return on_closed("unreadable message");
        }
        ++orders_seen_;
        if (message.term() < term_) return refuse(message);
        term_ = message.term();
        switch (message.body_case()) {
            case proto::ToAgent::kWelcome: return on_welcome(message.welcome());
            case proto::ToAgent::kRefuse: return on_refuse(message.refuse());
            case proto::ToAgent::kLaunch: return on_launch(message.launch());
            case proto::ToAgent::kStop: return on_stop(message.stop());
            case proto::ToAgent::kAck: return on_ack(message.ack().number());
            case proto::ToAgent::kLog: return logs_.open(message.log());
            case proto::ToAgent::kLogCancel: return logs_.cancel(message.log_cancel().request());
            case proto::ToAgent::kTable: return on_table(message.table().request());
            case proto::ToAgent::kForget:
                return on_forget(
                    {message.forget().job(), message.forget().task(), message.forget().attempt()});
            case proto::ToAgent::BODY_NOT_SET: return;
        }
    }

    void refuse(const proto::ToAgent& message) {
        proto::ToScheduler answer;
        auto* refused = answer.mutable_refused();
        refused->set_code("stale_term");
        refused->set_message("term " + std::to_string(message.term()) + " is older than " +
                             std::to_string(term_));
        if (message.has_launch()) {
            refused->set_job(message.launch().job());
            refused->set_task(message.launch().task());
            refused->set_attempt(message.launch().attempt());
        }
        send(answer);
    }

    void on_welcome(const proto::Welcome& welcome) {
        welcome_ = true;
        redial_delay_ = redial_min;
        std::int64_t interval = welcome.heartbeat_interval_ms() > 0 ? welcome.heartbeat_interval_ms()
                                                                    : config_.heartbeat_interval.count();
        if (welcome.sample_interval_ms() > 0) interval = std::min(interval, welcome.sample_interval_ms());
        interval_ = Millis(interval);
        send_reports();
        env_.loop.cancel(heartbeat_timer_);
        beat();
    }

    void on_refuse(const proto::Refuse& refuse) {
        log::error("the scheduler refused this node", {{"code", refuse.code()}, {"why", refuse.message()}});
        redial_delay_ = redial_max;
        link_->close();
        on_closed(refuse.message());
    }

    void on_launch(const proto::Launch& order) {
        const run::TaskId id{order.job(), order.task(), order.attempt()};
        if (auto known = table_.find(id); known != table_.end()) {
            report({id, known->second.state, Reason::none, "", -1, env_.clock.now()});
            return;
        }
        if (const auto* waiting = reports_.last_of(id)) return send_report(*waiting);

        auto reject = [&](Reason reason, const std::string& why) {
            report({id, State::failed, reason, why, -1, env_.clock.now()});
        };
        const auto spec = env_.specs->of(order.spec_json());
        if (!spec) return reject(Reason::rejected, "the order cannot be read: " + spec.error().text());
        run::Launch launch{.id = id,
                           .spec = **spec,
                           .allocation = {},
                           .env = {order.env().begin(), order.env().end()},
                           .tenant = order.tenant(),
                           .run_as_root = order.run_as_root()};
        if (auto read = codec::from_proto(order.allocation(), launch.allocation); !read)
            return reject(Reason::rejected, read.error().text());
        if (auto fits = check_capacity(inventory_, table_, launch.allocation); !fits)
            return reject(Reason::rejected, fits.error().text());
        if (stopping_) return reject(Reason::node_drained, "the agent is being stopped");

        table_[id] = {launch.allocation, launch.spec.grace_period, State::preparing, env_.clock.now()};
        env_.runtime.start(std::move(launch));
    }

    void on_stop(const proto::Stop& order) {
        const run::TaskId id{order.job(), order.task(), order.attempt()};
        const State outcome = state_named(order.outcome(), State::cancelled);
        const Reason reason = reason_named(order.reason());
        if (auto held = table_.find(id); held != table_.end()) {
            env_.runtime.stop(id, Millis(order.grace_ms()), outcome, reason, order.detail());
        } else if (const auto* waiting = reports_.last_of(id)) {
            send_report(*waiting);
        } else {
            report({id, outcome, reason, order.detail(), -1, env_.clock.now()});
        }
    }

    void on_ack(std::uint64_t number) {
        auto acknowledged = reports_.acknowledged(number);
        if (!acknowledged) return;
        const run::TaskId id = id_of(*acknowledged);
        if (terminal(state_named(acknowledged->state(), State::running)) && !table_.contains(id))
            env_.runtime.settle(id);
    }

    // The scheduler does not know this attempt any more: it ends without a report.
    void on_forget(const run::TaskId& id) {
        while (const auto* waiting = reports_.last_of(id)) reports_.acknowledged(waiting->number());
        if (!table_.contains(id)) return env_.runtime.settle(id);
        forgotten_.insert(id);
        env_.runtime.stop(id, forget_grace, State::lost, Reason::node_lost,
                          "the scheduler gave this attempt up");
    }

    void on_table(std::uint64_t request) {
        proto::ToScheduler message;
        auto* table = message.mutable_table();
        table->set_request(request);
        for (const auto& [id, held] : table_) {
            auto* row = table->add_rows();
            row->set_job(id.job);
            row->set_task(id.task);
            row->set_attempt(id.attempt);
            row->set_state(std::string(name_of(held.state)));
            codec::to_proto(held.allocation, *row->mutable_allocation());
        }
        send(message);
    }

    // ---- tasks ----
    void on_event(run::TaskEvent event) {
        const bool ended = terminal(event.state);
        auto held = table_.find(event.id);
        if (held == table_.end()) return;  // already ended
        if (ended) {
            table_.erase(held);
        } else {
            held->second.state = event.state;
            if (event.state == State::running) held->second.started = event.at;
        }
        if (ended && forgotten_.erase(event.id)) {
            env_.runtime.settle(event.id);
        } else if (!forgotten_.contains(event.id)) {
            report(std::move(event));
        }
        if (stopping_ && table_.empty()) finish_stop();
    }

    void report(run::TaskEvent event) { send_report(reports_.add(event)); }

    void finish_stop() {
        if (stopped_) return;
        stopped_ = true;
        retention_.stop();
        env_.loop.cancel(heartbeat_timer_);
        env_.loop.cancel(redial_timer_);
        heartbeat_timer_ = redial_timer_ = 0;
        if (on_empty_) env_.loop.post(std::move(on_empty_));
    }

    Config config_;
    Env env_;
    std::string boot_id_;
    NodeInventory inventory_;
    std::map<run::TaskId, Held> table_;
    std::set<run::TaskId> forgotten_;
    Reports reports_;
    LogStreams logs_;
    Retention retention_;

    std::shared_ptr<wire::Link> link_;
    bool dialling_ = false, welcome_ = false, stopping_ = false, stopped_ = false;
    std::uint64_t dials_ = 0, heartbeats_ = 0, orders_seen_ = 0, term_ = 0;
    Millis interval_{10'000}, redial_delay_ = redial_min;
    TimerId redial_timer_ = 0, heartbeat_timer_ = 0;
    std::function<void()> on_empty_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

Agent::Agent(Config config, Env env) : impl_(std::make_unique<Impl>(std::move(config), env)) {}
Agent::~Agent() = default;
void Agent::start() { impl_->start(); }
void Agent::stop(bool stop_tasks, std::function<void()> done) { impl_->stop(stop_tasks, std::move(done)); }
Agent::Reloaded Agent::reload(Config config) { return impl_->reload(std::move(config)); }
const std::map<run::TaskId, Held>& Agent::table() const { return impl_->table(); }
bool Agent::connected() const { return impl_->connected(); }

}  // namespace crater::agent
