#include "crater/sim/world.h"

#include <deque>
#include <nlohmann/json.hpp>
#include <set>

#include "crater/agent/agent.h"
#include "crater/base/ids.h"
#include "crater/codec/codec.h"
#include "crater/proto/agent.pb.h"
#include "crater/scheduler/scheduler.h"
#include "crater/scheduler/stored_json.h"
#include "crater/scheduler/testing/virtual_link.h"
#include "machine.h"

namespace crater::sim {
namespace {

using testing::VirtualLoop;
using testing::VirtualTime;
using testing::VirtualWire;

constexpr std::size_t trace_kept = 20'000;
constexpr Millis client_retry{700}, reply_patience{5'000};

}  // namespace

struct World::Impl {
    explicit Impl(WorldOptions options) : options_(options), weather_(options.weather), rng_(options.seed * 0x9e3779b97f4a7c15 + 1), client_loop_(time_) {
        config_.heartbeat_interval = Millis(5'000);
        config_.heartbeat_timeout = Millis(15'000);
        config_.lost_grace = Millis(20'000);
        config_.alldata.api_url = "http://alldata/api/v1";
        start_scheduler();
        for (int i = 0; i < options.agents; ++i) {
            hosts_.push_back(std::make_unique<Host>());
            Host& host = *hosts_.back();
            host.machine = std::make_unique<Machine>("n" + std::to_string(i + 1), options.gpus_per_node, time_, rng_, started_,
                                                     [this](const std::string& text) { trace(text); },
                                                     [this](const std::string& text) { violate("starts", text); });
            start_agent(i);
        }
    }

    ~Impl() {
        for (std::size_t i = 0; i < hosts_.size(); ++i) kill_agent(static_cast<int>(i));
        kill_scheduler();
    }

    void submit(JobSpec spec, std::string id) {
        wanted_.insert(id);
        try_submit(std::make_shared<JobSpec>(std::move(spec)), std::move(id));
    }
    void cancel(const std::string& id) {
        if (!scheduler_.service) return client_loop_.after(client_retry, [this, id] { cancel(id); }), void();
        scheduler_.service->act({.job = id, .action = scheduler::Action::cancel, .body = {}, .actor = {}}, [this, id](auto answer) {
            if (!answer && (answer.error().code == Code::unavailable || answer.error().code == Code::not_found))
                client_loop_.after(client_retry, [this, id] { cancel(id); });
        });
    }

    void evict(const std::string& id) {
        act(id, scheduler::Action::evict);
        client_loop_.after(Millis(15'000), [this, id] { act(id, scheduler::Action::resume); });
    }
    void act(const std::string& id, scheduler::Action action) {
        if (!scheduler_.service) return;
        trace("client: " + std::string(action == scheduler::Action::evict ? "evict " : "resume ") + id);
        scheduler_.service->act({.job = id, .action = action, .body = {}, .actor = {}}, [](auto) {});
    }
    void drain(int i, bool evict, Millis span) {
        const std::string name = hosts_.at(static_cast<std::size_t>(i))->machine->name();
        set_draining(name, true, evict);
        client_loop_.after(span, [this, name] { set_draining(name, false, false); });
    }
    void set_draining(const std::string& name, bool draining, bool evict) {
        const auto again = [this, name, draining, evict] {
            if (!draining) client_loop_.after(client_retry, [this, name, draining, evict] { set_draining(name, draining, evict); });
        };
        if (!scheduler_.service) return again();
        trace("client: " + std::string(draining ? "drain " : "undrain ") + name);
        api::ReasonBody body;
        body.evict = evict;
        // The answer may be lost in a crash; what is drained for ever would hold up the end.
        if (!draining) client_loop_.after(Millis(20'000), [this, name] { if (still_drained(name)) set_draining(name, false, false); });
        scheduler_.service->drain(name, draining, body, {}, [](auto) {});
    }
    bool still_drained(const std::string& name) const {
        const auto node = scheduler_.service ? scheduler_.service->read().node(name) : nullptr;
        return !node || node->node.state == NodeState::draining;
    }
    void set_quota(const std::string& tenant, const Quota& hard) {
        if (!scheduler_.service) return client_loop_.after(client_retry, [this, tenant, hard] { set_quota(tenant, hard); }), void();
        api::QuotaChange change;
        change.hard = hard;
        scheduler_.service->set_quota(tenant, change, {}, [](auto) {});
    }
    void reboot(int i) {
        Host& host = *hosts_.at(static_cast<std::size_t>(i));
        if (!host.loop) return;
        trace(host.machine->name() + ": reboot");
        kill_agent(i);
        host.machine->power_off();
        client_loop_.after(pause(weather_.restart_delay_max), [this, i] { start_agent(i); });
    }

    void crash_scheduler() {
        if (!scheduler_.loop) return;
        trace("scheduler: crash");
        kill_scheduler();
        client_loop_.after(pause(weather_.restart_delay_max), [this] { start_scheduler(); });
    }
    void fill_disk() {
        if (scheduler_.service) disk_.fail_next_commits = true;
    }
    void crash_agent(int i) {
        Host& host = *hosts_.at(static_cast<std::size_t>(i));
        if (!host.loop) return;
        trace(host.machine->name() + ": agent crash");
        kill_agent(i);
        client_loop_.after(pause(weather_.restart_delay_max), [this, i] { start_agent(i); });
    }
    void partition(int i, Millis span) {
        Host& host = *hosts_.at(static_cast<std::size_t>(i));
        trace(host.machine->name() + ": cut off for " + format(span));
        host.cut_until_us = std::max(host.cut_until_us, time_.ticks_us() + span.count() * 1000);
        if (host.wire) host.wire->stall(true);
        // Pings find out after a while; a shorter cut goes unnoticed.
        client_loop_.after(std::min(span, Millis(12'000)), [wire = std::weak_ptr(host.wire), broken = span > Millis(12'000)] {
            const auto w = wire.lock();
            if (!w) return;
            if (broken) w->break_off("no answer to pings");
            else w->stall(false);
        });
    }
    void heal() {
        trace("world: no more faults");
        weather_.message_loss = 0;
        callback_failures_ = 0;
        for (auto& host : hosts_) {
            host->cut_until_us = 0;
            set_draining(host->machine->name(), false, false);
        }
    }

    void inject(const Injection& injection) {
        const Millis wait = std::max(Millis(0), injection.at - Millis(time_.ticks_us() / 1000 - start_ms));
        client_loop_.after(wait, [this, injection] {
            switch (injection.fault) {
                case Fault::scheduler_crash: return crash_scheduler();
                case Fault::disk_full: return fill_disk();
                case Fault::agent_crash: return crash_agent(injection.node);
                case Fault::power_loss: return reboot(injection.node);
                case Fault::partition: return partition(injection.node, injection.span);
                default: return;
            }
        });
    }

    bool step() {
        if (!time_.run_one()) return false;
        check();
        return true;
    }
    void run_for(Millis span) {
        const std::int64_t end = time_.ticks_us() + span.count() * 1000;
        while (violations_.empty() && !time_.idle() && time_.next_us() <= end) step();
        if (violations_.empty()) time_.run_for(Millis((end - time_.ticks_us()) / 1000));
    }
    bool idle() const {
        if (!scheduler_.service || acknowledged_.size() != wanted_.size()) return false;
        for (const std::string& id : acknowledged_) {
            const auto job = scheduler_.service->read().job(id);
            if (!job || !state_row(job->status().state).terminal) return false;
            const auto told = told_.find(id);
            if (told == told_.end() || told->second.first != job->status().sequence) return false;
        }
        for (const auto& host : hosts_)
            if (!host->machine->running().empty()) return false;
        return true;
    }
    bool run_until_idle(Millis limit) {
        const std::int64_t end = time_.ticks_us() + limit.count() * 1000;
        while (violations_.empty() && time_.ticks_us() < end) {
            run_for(Millis(1'000));
            if (!idle()) continue;
            run_for(Millis(10'000));  // whatever is still on its way
            check_end();
            return violations_.empty();
        }
        if (violations_.empty()) describe_what_waits();
        return false;
    }

    void violate(std::string checker, std::string text) {
        trace("VIOLATION " + checker + ": " + text);
        violations_.push_back({std::move(checker), std::move(text)});
    }

    std::string trace_text(std::size_t last) const {
        std::string out;
        for (std::size_t i = trace_.size() - std::min(last, trace_.size()); i < trace_.size(); ++i) out += trace_[i] + "\n";
        return out;
    }

    WorldOptions options_;
    std::vector<Violation> violations_;
    std::vector<std::string> in_order_;  // acknowledged
    std::uint64_t hash_ = 0;
    VirtualTime time_;

    Coverage coverage_;
    static constexpr std::int64_t start_ms = 1'700'000'000'000;

    struct SchedulerProcess {
        std::unique_ptr<VirtualLoop> loop;
        std::unique_ptr<store::Store> store;
        std::unique_ptr<wire::CallbackSender> callbacks;
        std::unique_ptr<Rng> rng;
        std::unique_ptr<scheduler::Scheduler> service;
    };
    struct Host {
        std::unique_ptr<Machine> machine;
        std::unique_ptr<VirtualLoop> loop;  // of the agent's process
        std::unique_ptr<run::Runtime> runtime;
        std::unique_ptr<hw::Source> source;
        std::unique_ptr<wire::Connector> connector;
        std::unique_ptr<Rng> rng;
        std::unique_ptr<agent::Agent> agent;
        std::shared_ptr<VirtualWire> wire;
        std::int64_t cut_until_us = 0;
        std::uint64_t checked = 0;
    };

    // The agent's way to the scheduler: fails while that is down or the network is cut.
    class Connector final : public wire::Connector {
      public:
        Connector(Impl& world, int host) : world_(world), host_(host) {}
        void connect(wire::LinkCallbacks callbacks, std::function<void(Result<std::shared_ptr<wire::Link>>)> done) override {
            world_.connect(host_, std::move(callbacks), std::move(done));
        }

      private:
        Impl& world_;
        int host_;
    };

    // The scheduler's end of a link: what it says must be durable.
    class WatchedLink final : public wire::Link {
      public:
        WatchedLink(Impl& world, std::string node, std::shared_ptr<wire::Link> link) : world_(world), node_(std::move(node)), link_(std::move(link)) {}
        void send(std::string message) override {
            world_.check_order(node_, message);
            link_->send(std::move(message));
        }
        void close() override { link_->close(); }
        std::string peer() const override { return link_->peer(); }

      private:
        Impl& world_;
        std::string node_;
        std::shared_ptr<wire::Link> link_;
    };

    // AllData: takes callbacks, sometimes fails, and looks at the order.
    class AllData final : public wire::CallbackSender {
      public:
        AllData(Impl& world, VirtualLoop& loop) : world_(world), loop_(loop) {}
        void send(wire::ClientRequest request, std::function<void(Result<wire::HttpResponse>)> done) override {
            loop_.after(world_.pause(world_.weather_.delay_max), [this, body = std::move(request.body), done = std::move(done)] {
                const bool fails = world_.rng_.below(100) < world_.callback_failures_;
                if (!fails) world_.callback_taken(body);
                done(wire::HttpResponse{.status = fails ? 503 : 200, .body = {}, .headers = {}});
            });
        }

      private:
        Impl& world_;
        VirtualLoop& loop_;
    };

    void trace(const std::string& text) {
        std::string line = std::to_string(time_.ticks_us() / 1000 - start_ms) + " " + text;
        hash_ = hash64(line, hash_);
        trace_.push_back(std::move(line));
        if (trace_.size() > trace_kept) trace_.pop_front();
    }
    bool chance(double probability) { return probability > 0 && static_cast<double>(rng_.below(1'000'000)) < probability * 1e6; }
    Millis pause(Millis most) { return Millis(static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(most.count()) + 1))); }

    // ---- processes ----
    void start_scheduler() {
        SchedulerProcess& p = scheduler_;
        disk_.fail_next_commits = false;
        p.loop = std::make_unique<VirtualLoop>(time_);
        p.store = store::open_memory(disk_, *p.loop, pause(weather_.commit_latency_max));
        p.callbacks = std::make_unique<AllData>(*this, *p.loop);
        p.rng = std::make_unique<SeededRng>(rng_.next());
        auto made = scheduler::Scheduler::start(config_, {.clock = time_, .loop = *p.loop, .rng = *p.rng, .store = *p.store, .callbacks = p.callbacks.get(),
                                                          .metrics = nullptr, .on_fatal = [this](const Error& e) { on_fatal(e); }});
        if (!made) return violate("recovery", made.error().text());
        p.service = std::move(*made);
        trace("scheduler: up, state " + p.service->read().cluster().state_hash);
        if (!p.service->read().cluster().state_hash_verified) violate("state_hash", "the rebuilt state differs from the stored one");
    }
    // What its main does: ends the process; a supervisor starts the next one.
    void on_fatal(const Error& error) {
        if (!disk_.fail_next_commits) return violate("store", error.text());
        trace("scheduler: ends, " + error.text());
        disk_.fail_next_commits = false;
        client_loop_.post([this] { crash_scheduler(); });
    }
    void kill_scheduler() {
        if (!scheduler_.loop) return;
        scheduler_.loop->kill();
        for (auto& host : hosts_)
            if (host->wire) host->wire->detach(1);
        scheduler_.service.reset();
        scheduler_.callbacks.reset();
        scheduler_.rng.reset();
        scheduler_.store.reset();
        scheduler_.loop.reset();
    }
    void start_agent(int i) {
        Host& host = *hosts_.at(static_cast<std::size_t>(i));
        host.loop = std::make_unique<VirtualLoop>(time_);
        host.runtime = host.machine->runtime(*host.loop);
        host.source = host.machine->source();
        host.connector = std::make_unique<Connector>(*this, i);
        host.rng = std::make_unique<SeededRng>(rng_.next());
        agent::Config config;
        config.node_name = host.machine->name();
        config.allow_unenforced = true;
        host.agent = std::make_unique<agent::Agent>(config, agent::Env{time_, *host.loop, *host.rng, *host.source, *host.runtime, *host.connector});
        trace(host.machine->name() + ": agent up");
        host.agent->start();
    }
    void kill_agent(int i) {
        Host& host = *hosts_.at(static_cast<std::size_t>(i));
        if (!host.loop) return;
        host.loop->kill();
        if (host.wire) host.wire->detach(0);
        host.machine->agent_died();
        host.agent.reset();
        host.connector.reset();
        host.source.reset();
        host.runtime.reset();
        host.loop.reset();
    }

    // ---- network ----
    void connect(int i, wire::LinkCallbacks callbacks, std::function<void(Result<std::shared_ptr<wire::Link>>)> done) {
        Host& host = *hosts_.at(static_cast<std::size_t>(i));
        host.loop->after(pause(weather_.delay_max), [this, i, callbacks = std::move(callbacks), done = std::move(done)]() mutable {
            Host& h = *hosts_.at(static_cast<std::size_t>(i));
            if (!scheduler_.service || h.cut_until_us > time_.ticks_us()) return done(fail(Code::unavailable, "no answer"));
            h.wire = std::make_shared<VirtualWire>(time_, [this] { return pause(weather_.delay_max); }, [this] { return chance(weather_.message_loss); });
            auto theirs = std::make_shared<std::weak_ptr<wire::Link>>();
            const auto end = h.wire->attach(1, *scheduler_.loop, noted(scheduler_.service->agent_link([theirs] { return theirs->lock(); }), h.machine->name() + " > scheduler"),
                                      "10.0.0." + std::to_string(i + 1) + ":4000");
            far_ends_[i] = std::make_shared<WatchedLink>(*this, h.machine->name(), end);
            *theirs = far_ends_[i];
            done(h.wire->attach(0, *h.loop, noted(std::move(callbacks), "scheduler > " + h.machine->name()), "scheduler"));
        });
    }
    // What a report said, by node and number, to know what its acknowledgement promises.
    void note_report(const std::string& node, const std::string& bytes) {
        proto::ToScheduler message;
        if (!message.ParseFromString(bytes) || !message.has_report()) return;
        reports_[{node, message.report().number()}] = message.report();
    }
    void check_order(const std::string& node, const std::string& bytes) {
        proto::ToAgent message;
        if (!message.ParseFromString(bytes)) return violate("protocol", "an order cannot be read");
        if (message.has_launch()) {
            const auto& launch = message.launch();
            const auto [attempt, state] = stored_task(launch.job(), launch.task());
            if (attempt < launch.attempt() || (attempt == launch.attempt() && state == "Pending"))
                violate("durability", "launched before it was stored: " + launch.job() + " attempt " + std::to_string(launch.attempt()));
        } else if (message.has_ack()) {
            const auto it = reports_.find({node, message.ack().number()});
            if (it == reports_.end()) return;
            const auto& report = it->second;
            const auto [attempt, state] = stored_task(report.job(), report.task());
            const State said = state_of(report.state());
            const bool final = state_row(said).terminal || said == State::preempted;
            if (final && attempt == report.attempt() && state_row(state_of(state)).holds)
                violate("durability", "acknowledged before it was stored: " + report.job() + " is " + report.state() + ", stored " + state);
            reports_.erase(it);
        }
    }
    static State state_of(const std::string& name) {
        for (const auto& row : enum_names(State{}))
            if (row.name == name) return row.value;
        return State::pending;
    }
    // Attempt and state as they would survive a power loss now.
    std::pair<std::int64_t, std::string> stored_task(const std::string& job, std::int64_t task) {
        const auto text = scheduler_.store->get("job/" + job);
        if (!text || !*text) return {0, ""};
        const auto json = scheduler::stored_json("job/" + job, **text);
        if (!json) return {0, ""};
        const auto tree = codec::parse_json(*json, json->size());
        if (!tree) return {0, ""};
        const auto& row = tree->at("status").at("tasks").at(static_cast<std::size_t>(task));
        return {row.at("attempt").get<std::int64_t>(), row.at("state").get<std::string>()};
    }

    wire::LinkCallbacks noted(wire::LinkCallbacks callbacks, std::string who) {
        return {.on_message = [this, who, next = std::move(callbacks.on_message)](std::string m) {
                    trace(who + " " + std::to_string(m.size()) + " bytes " + std::to_string(hash64(m) % 1'000'000));
                    if (const auto end = who.find(" > scheduler"); end != std::string::npos) note_report(who.substr(0, end), m);
                    next(std::move(m));
                },
                .on_closed = [this, who, next = std::move(callbacks.on_closed)](std::string why) {
                    trace(who + " closed: " + why);
                    next(std::move(why));
                }};
    }

    // ---- clients ----
    void try_submit(std::shared_ptr<JobSpec> spec, std::string id) {
        if (acknowledged_.contains(id) || !wanted_.contains(id)) return;
        // One timer per client, whatever became of the last try: a crash may have swallowed the reply, and no node may have registered yet.
        client_loop_.after(scheduler_.service ? reply_patience : client_retry, [this, spec, id] { try_submit(spec, id); });
        if (!scheduler_.service) return;
        scheduler_.service->submit({.spec = *spec, .actor = {}, .idempotency_key = {}, .document = codec::write_json(*spec), .task_id = id},
                                   [this, id](Result<scheduler::Submitted> answer) {
                                       if (answer) {
                                           if (!acknowledged_.insert(id).second) return;
                                           trace("client: " + id + " acknowledged");
                                           in_order_.push_back(id);
                                           if (const auto stored = scheduler_.store->get("job/" + id); !stored || !*stored)
                                               violate("durability", id + " was acknowledged before it was stored");
                                       } else if (answer.error().code == Code::unsatisfiable) {
                                           if (all_registered()) refused_for_good(id, answer.error());
                                       } else if (answer.error().field.starts_with("after_")) {
                                           if (answer.error().code == Code::conflict) refused_for_good(id, answer.error());
                                       } else if (answer.error().code != Code::unavailable) {
                                           violate("submit", id + ": " + answer.error().text());
                                       }
                                   });
    }

    // Until every node has registered, what does not fit may fit later.
    bool all_registered() const {
        const auto nodes = scheduler_.service->read().cluster().nodes;
        return static_cast<std::size_t>(nodes.up + nodes.draining + nodes.lost) == hosts_.size();
    }
    void refused_for_good(const std::string& id, const Error& error) {
        trace("client: " + id + " refused: " + error.text());
        wanted_.erase(id);
    }

    void callback_taken(const std::string& body) {
        const auto view = codec::read_json<api::TaskView>(body);
        if (!view) return violate("callbacks", "unreadable: " + body);
        trace("alldata: " + view->task_id + " " + std::to_string(view->sequence) + " " + view->status);
        auto& [last, status] = told_[view->task_id];
        if (view->sequence == last && view->status == status) return;  // at least once
        if (view->sequence != last + 1)
            return violate("callbacks", view->task_id + ": number " + std::to_string(view->sequence) + " after " + std::to_string(last));
        last = view->sequence;
        status = view->status;
    }

    // ---- checkers ----
    void check() {
        for (const auto& host : hosts_) {
            if (host->machine->changes() != host->checked) {
                host->checked = host->machine->changes();
                if (auto fits = agent::check_capacity(host->machine->inventory(), host->machine->running(), {}); !fits)
                    violate("capacity", host->machine->name() + ": " + fits.error().text());
            }
            if (host->agent)
                if (auto fits = agent::check_capacity(host->machine->inventory(), host->agent->table(), {}); !fits)
                    violate("capacity", host->machine->name() + "'s own table: " + fits.error().text());
        }
        if (!scheduler_.service) return;
        for (const std::string& id : acknowledged_)
            if (!scheduler_.service->read().job(id)) violate("acknowledged", id + " is lost");
    }

    // When everything has ended: each job's way was along the table, and AllData knows its end.
    void check_end() {
        for (const std::string& id : acknowledged_) {
            const auto rows = scheduler_.service->history({.kind = "job_state", .subject = id, .limit = 100'000});
            if (!rows) return violate("history", rows.error().text());
            std::optional<State> last;
            for (const auto& row : *rows) {
                const auto change = codec::read_json<StateChange>(row.body);
                if (!change) return violate("history", "unreadable: " + row.body);
                if (change->reason == Reason::rejected) violate("books", id + ": a node had to refuse what was placed on it: " + change->detail);
                const bool resumed = change->state == State::pending && change->detail.starts_with("resumed");  // a new life
                if (last && *last != change->state && !may_change(*last, change->state) && !resumed)
                    violate("states", id + ": " + std::string(name_of(*last)) + " -> " + std::string(name_of(change->state)));
                last = change->state;
            }
            const auto job = scheduler_.service->read().job(id);
            if (last != job->status().state) violate("history", id + " does not end as it stands");
            const auto& [sequence, status] = told_[id];
            if (sequence != job->status().sequence || status != alldata_name(job->status().state, job->status().reason))
                violate("callbacks", id + ": AllData believes " + status + " (" + std::to_string(sequence) + "), it is " +
                                         std::string(name_of(job->status().state)) + " (" + std::to_string(job->status().sequence) + ")");
        }
        const auto cluster = scheduler_.service->read().cluster();
        if (cluster.resources.gpu.allocated != 0 || cluster.resources.cpu.allocated != 0) violate("books", "slices are held though nothing runs");
    }
    void describe_what_waits() {
        std::string text;
        for (const std::string& id : wanted_) {
            const auto job = scheduler_.service ? scheduler_.service->read().job(id) : nullptr;
            if (!job) text += id + " is not there; ";
            else if (!state_row(job->status().state).terminal)
                text += id + " is " + std::string(name_of(job->status().state)) + " (" + std::string(name_of(job->status().reason)) + " " + job->status().detail + "); ";
        }
        for (const auto& host : hosts_)
            for (const auto& [id, held] : host->machine->running()) text += host->machine->name() + " runs " + id.text() + "; ";
        violate("liveness", "not idle: " + text);
    }

    Weather weather_;
    SeededRng rng_;
    VirtualLoop client_loop_;  // of the world itself: clients, restarts
    scheduler::Config config_;
    store::MemoryDisk disk_;
    SchedulerProcess scheduler_;
    std::vector<std::unique_ptr<Host>> hosts_;
    std::map<int, std::shared_ptr<wire::Link>> far_ends_;
    std::set<std::string> wanted_, acknowledged_;
    std::set<run::TaskId> started_;
    std::map<std::pair<std::string, std::uint64_t>, proto::TaskReport> reports_;
    std::map<std::string, std::pair<std::int64_t, std::string>> told_;
    std::uint64_t callback_failures_ = 20;  // percent
    std::deque<std::string> trace_;
};

World::World(WorldOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
World::~World() = default;
void World::submit(JobSpec spec, std::string id) { impl_->submit(std::move(spec), std::move(id)); }
void World::cancel(std::string id) { impl_->cancel(id); }
void World::evict(std::string id) { impl_->evict(id); }
void World::drain(int index, bool evict, Millis span) { impl_->drain(index, evict, span); }
void World::set_quota(std::string tenant, Quota hard) { impl_->set_quota(tenant, hard); }
const std::vector<std::string>& World::acknowledged() const { return impl_->in_order_; }
void World::inject(const Injection& injection) { impl_->inject(injection); }
void World::taint(int, Millis) {}
void World::maintain(int, Millis, Millis) {}
void World::defragment() {}
const Coverage& World::coverage() const { return impl_->coverage_; }
Counts World::counts() const { return {.events = impl_->time_.ran()}; }
Millis World::elapsed() const { return Millis(impl_->time_.ticks_us() / 1000 - Impl::start_ms); }
void World::heal() { impl_->heal(); }
void World::run_for(Millis span) { impl_->run_for(span); }
bool World::run_until_idle(Millis limit) { return impl_->run_until_idle(limit); }
const std::vector<Violation>& World::violations() const { return impl_->violations_; }
std::uint64_t World::events() const { return impl_->time_.ran(); }
std::uint64_t World::trace_hash() const { return impl_->hash_; }
std::string World::trace(std::size_t last) const { return impl_->trace_text(last); }

}  // namespace crater::sim
