// The state of the run before, from the store: facts for the engine, rows for readers, what still has to
// happen.
#include <cstdio>
#include <fstream>

#include "crater/base/ids.h"
#include "crater/base/log.h"
#include "impl.h"

namespace crater::scheduler {
namespace {

std::string hex(std::uint64_t n) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(n));
    return text;
}

Result<std::uint64_t> number_in(const store::Store& store, const char* key) {
    CRATER_TRY(text, store.get(key));
    if (!text) return 0;
    std::uint64_t n = 0;
    for (const char c : *text) {
        if (c < '0' || c > '9')
            return fail(Code::internal, std::string("the stored ") + key + " is no number: " + shown(*text));
        n = n * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return n;
}

Result<void> say_which(std::string_view key, Result<void> read) {
    if (read) return read;
    return fail(Code::internal,
                "the stored object " + std::string(key) + " cannot be read: " + read.error().text());
}

template <class T>
Result<void> read_object(std::string_view key, std::string_view value, T& out) {
    return say_which(key, read_stored(value, out));
}

// Each stored object below `prefix`, as it is read: `use` gets the rest of its key, and the object.
template <class T, class Use>
Result<void> each_object(const store::Store& store, std::string_view prefix, Use use) {
    return store.for_each(prefix, [&](std::string_view key, std::string_view value) -> Result<void> {
        T object;
        CRATER_TRY_VOID(read_object(key, value, object));
        use(std::string(key.substr(prefix.size())), std::move(object));
        return {};
    });
}

// "name/state" -> "name" and true.
bool take_off(std::string_view& key, std::string_view suffix) {
    if (!key.ends_with(suffix)) return false;
    key.remove_suffix(suffix.size());
    return true;
}

}  // namespace

Result<void> Scheduler::Impl::load_settings() {
    CRATER_TRY(settings, env_.store.get("meta/settings"));
    if (settings) {
        engine::Settings read;
        CRATER_TRY_VOID(read_object("meta/settings", *settings, read));
        engine_.apply(engine::SettingsSet{std::move(read)});
    }
    return each_object<StoredQueue>(env_.store, "queue/", [&](const std::string& name, StoredQueue stored) {
        engine_.apply(engine::QueueSet{stored.spec});
        queues_[name].stored = std::move(stored);
    });
}

Result<void> Scheduler::Impl::load_tenants_and_tokens() {
    CRATER_TRY_VOID(each_object<Tenant>(env_.store, "tenant/", [&](const std::string&, Tenant tenant) {
        engine_.apply(engine::TenantSet{tenant});
        tenants_[tenant.path].tenant = std::move(tenant);
    }));
    CRATER_TRY_VOID(each_object<Token>(env_.store, "token/", [&](const std::string&, Token token) {
        tokens_[token.id] = std::move(token);
    }));
    return each_object<StoredIdempotency>(
        env_.store, "idem/",
        [&](const std::string& key, StoredIdempotency row) { idempotency_[key] = std::move(row); });
}

Result<void> Scheduler::Impl::load_profiles() {
    return each_object<StoredProfile>(
        env_.store, "profile/", [&](const std::string& key, StoredProfile stored) {
            profiles_.take(std::strtoull(key.c_str(), nullptr, 10), std::move(stored));
        });
}

Result<void> Scheduler::Impl::load_nodes() {
    constexpr std::string_view prefix = "node/";
    const auto take = [&](std::string_view key, std::string_view value) -> Result<void> {
        std::string_view name = key.substr(prefix.size());
        if (take_off(name, "/state")) return read_object(key, value, nodes_[std::string(name)].state);
        NodeInventory inventory;
        CRATER_TRY_VOID(read_object(key, value, inventory));
        nodes_[std::string(name)].inventory = std::make_shared<const NodeInventory>(std::move(inventory));
        return {};
    };
    CRATER_TRY_VOID(env_.store.for_each(prefix, take));
    for (auto& [name, node] : nodes_) {
        if (!node.inventory) return fail(Code::internal, "the stored node " + name + " has no inventory");
        node.name = name;
        node.heard_us = env_.clock.ticks_us();  // its agent has time to find us
        refresh_hardware(node);
        engine_.apply(engine::NodeSet{node.inventory});
        if (node.state.draining || node.state.closed())
            engine_.apply(engine::NodeFlags{name, node.state.draining, node.state.closed()});
        if (!node.state.taints.empty()) engine_.apply(engine::NodeTaints{name, node.state.taints});
        if (!node.state.maintenance.empty())
            engine_.apply(engine::NodeMaintenance{name, node.state.maintenance});
    }
    return {};
}

// Each job is taken in when both of its objects have been read, mostly one after the other; as an object it
// is needed only then.
Result<void> Scheduler::Impl::load_jobs(ReadModel::Update& update) {
    constexpr std::string_view prefix = "job/";
    std::pair<std::string, Job*> last;
    std::vector<std::pair<std::string, std::string>> stops;  // job, for which it makes room
    const auto take = [&](std::string_view key, std::string_view value) -> Result<void> {
        std::string_view id = key.substr(prefix.size());
        const bool is_spec = take_off(id, "/spec");
        if (!last.second || last.first != id) {
            last.first = id;
            auto& made = jobs_[last.first];
            if (!made) made = std::make_unique<Job>(awake_);
            last.second = made.get();
        }
        Job* const job = last.second;
        if (is_spec) {
            auto fixed = std::make_shared<FixedJob>();
            CRATER_TRY_VOID(say_which(key, read_stored_job(value, *fixed, outlines_)));
            job->fixed = std::move(fixed);
        } else {
            StoredStatus& read = job->edit();
            CRATER_TRY_VOID(read_object(key, value, read));
            job->keep(std::make_shared<const std::string>(is_stored_form(value) ? std::string(value)
                                                                                : stored_value(read)));
        }
        if (!job->fixed || !job->kept()) return {};
        if (job->id() != id || job->status().id != id)
            return fail(Code::internal, "the stored job " + last.first + " is incomplete");
        update.jobs.push_back(record_of(*job));
        if (state_row(job->status().state).terminal && !job->holds()) {
            jobs_.erase(last.first);
            last.second = nullptr;
            return {};
        }
        for (const std::string& other : job->s().waits_for) dependents_[other].push_back(job->id());
        job->blocked = !job->s().waits_for.empty();
        facts_of(*job);
        recount(*job);
        set_deadline(*job);
        if (job->s().stop) stops.emplace_back(job->id(), job->s().stop->preemptor);
        job->rest();
        return {};
    };
    CRATER_TRY_VOID(env_.store.for_each(prefix, take));
    for (const auto& [id, job] : jobs_)
        if (!job->fixed || !job->kept())
            return fail(Code::internal, "the stored job " + id + " is incomplete");
    for (const auto& [id, preemptor] : stops) {
        const Job* waits = find(preemptor);
        engine_.apply(engine::PreemptionStarted{
            id, waits && waits->place == Place::waiting ? waits->id() : std::string()});
    }
    return {};
}

engine::EngineJob Scheduler::Impl::for_engine(const Job& job) const {
    const JobStatus& status = job.status();
    return {.id = job.id(),
            .spec = job.outline(),
            .queue = job.fixed->queue,
            .tenant = job.fixed->tenant,
            .priority = static_cast<int>(job.fixed->priority),
            .preemptible = job.fixed->preemptible,
            .submitted = status.submitted,
            .preemptions = status.preemptions,
            .blocked = job.blocked,
            .profile = profiles_.of(job.fixed->kind),
            .served = job.s().received.served,
            .progress = job.s().received.progress,
            .waits_since = job.s().received.waits_since};
}

void Scheduler::Impl::facts_of(Job& job) {
    const JobStatus& status = job.status();
    engine_.apply(engine::JobAdded{for_engine(job)});
    job.known_to_engine = true;
    job.explained = now();  // its nodes have time to come back before it waits for something else
    if (job.s().stop) job.next_ask = job.s().stop->since + job.s().stop->grace;
    if (!job.holds()) return;
    for (const TaskStatus& task : status.tasks) {
        if (state_row(task.state).holds) {
            engine_.apply(engine::TaskPlaced{job.id(), task.index, *task.allocation, job.s().placed});
            take_slices(nodes_.at(task.allocation->node), job, task);
        } else {
            engine_.apply(engine::TaskFreed{job.id(), task.index});
            job.freed = true;
        }
    }
}

Result<void> Scheduler::Impl::load_outbox() {
    CRATER_TRY_VOID(each_object<StoredCallback>(
        env_.store, "outbox/", [&](const std::string& key, StoredCallback callback) {
            const auto slash = key.rfind('/');
            outbox_.add(key.substr(0, slash), {std::atoll(key.c_str() + slash + 1), std::move(callback)},
                        now());
        }));
    CRATER_TRY(dead, env_.store.load("dead/"));
    outbox_.dead = static_cast<std::int64_t>(dead.size());

    const AllDataConfig& alldata = config_.alldata;
    callback_url_ = alldata.callback ? alldata.callback->url : std::string();
    if (callback_url_.empty() && !alldata.api_url.empty()) {
        callback_url_ = alldata.api_url;
        while (callback_url_.ends_with('/')) callback_url_.pop_back();
        callback_url_ += "/crater/callback";
    }
    callbacks_on_ = env_.callbacks && !callback_url_.empty();
    if (callbacks_on_ && alldata.callback && !alldata.callback->username.empty()) {
        std::string password;
        if (!alldata.callback->password_file.empty()) {
            std::ifstream file(alldata.callback->password_file);
            if (!std::getline(file, password) && !file.eof())
                return fail(Code::unavailable, "cannot read " + alldata.callback->password_file,
                            "alldata.callback.password_file");
        }
        callback_authorization_ = wire::basic_authorization(alldata.callback->username, password);
    }
    return {};
}

void Scheduler::Impl::verify_hash(const std::string& stored) {
    const std::string rebuilt = hex(engine_.state_hash());
    stored_hash_ = engine_.state_hash();
    verified_ = stored.empty() || stored == rebuilt;
    if (!verified_)
        log::error("the rebuilt state differs from what was stored",
                   {{"stored", stored}, {"rebuilt", rebuilt}});
}

// What the configuration says, where it was edited since it was last applied.
void Scheduler::Impl::apply_config() {
    engine_.apply(engine::SettingsSet{config_.scheduling});
    write("meta/settings", stored_value(config_.scheduling));
    for (const QueueSpec& wanted : config_.queues.empty() ? Config::default_queues() : config_.queues) {
        const std::string hash = hex(hash64(stored_text(wanted)));
        Queue& queue = queues_[wanted.name];
        if (queue.stored.configured == hash) continue;
        queue.stored = {wanted, hash};
        engine_.apply(engine::QueueSet{wanted});
        write("queue/" + wanted.name, stored_value(queue.stored));
    }
}

// Nothing is asked of the store and nothing of what runs is touched: settings and queues are facts like
// others, the rest are our own manners.
Scheduler::Reloaded Scheduler::Impl::reload(Config config) {
    Reloaded out;
    if (stopped_) return out;
    bool intervals = false, facts = false;
    for (std::string& key : changed_settings(config_, config)) {
        intervals |= key.starts_with("heartbeat_") || key == "sample_interval";
        facts |= key == "scheduling" || key == "queues";
        (reloadable(key) ? out.applied : out.at_restart).push_back(std::move(key));
    }
    config_.scheduling_policy = config.scheduling_policy;
    config_.scheduling = config.scheduling;
    config_.defragmentation = config.defragmentation;
    config_.queues = std::move(config.queues);
    config_.quota_policies = std::move(config.quota_policies);
    config_.heartbeat_interval = config.heartbeat_interval;
    config_.heartbeat_timeout = config.heartbeat_timeout;
    config_.sample_interval = config.sample_interval;
    config_.lost_grace = config.lost_grace;
    config_.decision_retention = config.decision_retention;
    config_.log_level = config.log_level;
    if (facts) {
        apply_config();
        for (const QueueSpec& queue : config_.queues) touch_queue(queue.name);
    }
    if (intervals)
        for (auto& [name, node] : nodes_)
            if (node.session && node.session->welcomed && !node.session->closed) send_welcome(*node.session);
    if (!out.applied.empty() || !out.at_restart.empty()) {
        std::string words;
        for (const std::string& key : out.applied) words += (words.empty() ? "" : ", ") + key;
        for (const std::string& key : out.at_restart)
            words += (words.empty() ? "" : ", ") + key + " at the next start";
        audit(Actor{}, "reload", "configuration", words);
        event("cluster", config_.cluster_name, "configuration", "", words);
        wake();
    }
    return out;
}

Result<void> Scheduler::Impl::recover() {
    const std::int64_t began = env_.clock.ticks_us();
    CRATER_TRY(term, number_in(env_.store, "meta/term"));
    CRATER_TRY(last_event, number_in(env_.store, "meta/event_sequence"));
    CRATER_TRY(stored_hash, env_.store.get("meta/state_hash"));
    term_ = term + 1;
    next_event_ = last_event + 1;
    hub_.continue_after(last_event);

    ReadModel::Update update;
    CRATER_TRY_VOID(load_settings());
    CRATER_TRY_VOID(load_tenants_and_tokens());
    CRATER_TRY_VOID(load_profiles());
    CRATER_TRY_VOID(load_nodes());
    CRATER_TRY_VOID(load_jobs(update));
    CRATER_TRY_VOID(load_outbox());
    verify_hash(stored_hash.value_or(""));
    CRATER_TRY(learned, env_.store.get("meta/learned"));
    if (learned) engine_.apply(engine::Remembered{*learned});

    update.revision = env_.store.revision();
    update.state_hash = hex(stored_hash_);
    update.cluster_name = config_.cluster_name;
    update.verified = verified_;
    update.now = now();
    // Nothing is placed where no agent is heard. What readers see of a node does not change with that, so its
    // row is not made again.
    for (auto& [name, node] : nodes_) {
        StoredNodeState state = node.state;
        state.unreachable = true;
        set_node_state(node, state);
        fill_row(node);
        node.row_touched = false;
        update.nodes.push_back({node.show_row(), node.inventory, node.sample});
    }
    for (const auto& [id, token] : tokens_) update.tokens.push_back(token);
    read_.publish(std::move(update));

    // From here on everything is a change of this term. Nothing acts before it is durable.
    write("meta/term", std::to_string(term_));
    apply_config();
    for (const auto& [name, queue] : queues_) touch_queue(name);
    for (const auto& [path, tenant] : tenants_) touch_tenant(path);
    log::info("scheduler starts", {{"term", term_},
                                   {"jobs", jobs_.size()},
                                   {"nodes", nodes_.size()},
                                   {"verified", verified_},
                                   {"took_ms", (env_.clock.ticks_us() - began) / 1000}});
    sweep_timer_ = env_.loop.after(Millis(1'000), [this] { sweep(); });
    forget_timer_ = env_.loop.after(Millis(60'000), [this] { forget_old(); });
    pump_callbacks();
    wake();
    return {};
}

}  // namespace crater::scheduler
