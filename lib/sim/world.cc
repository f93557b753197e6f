#include "crater/sim/world.h"

#include "crater/base/ids.h"
#include "world_impl.h"

namespace crater::sim {
namespace {

constexpr std::size_t trace_kept = 20'000;
constexpr Millis settle_time{10'000};  // of what is still on its way when all have ended

hw::SimulatedNode equal_node(int i, int gpus) {
    hw::SimulatedNode node;
    node.name = "n" + std::to_string(i + 1);
    node.gpus.count = gpus;
    node.cpu.cores = 16;
    node.disks["nvme0n1"] = {};
    return node;
}

}  // namespace

World::Impl::Impl(WorldOptions options)
    : options_(std::move(options)),
      weather_(options_.weather),
      rng_(options_.seed * 0x9e3779b97f4a7c15 + 1),
      loop_(time_),
      scheduler_clock_(time_),
      disk_(time_, rng_, {.handed_in = [this](const store::Batch& batch) { return handed_in(batch); }}) {
    const Settings& settings = options_.settings;
    config_.heartbeat_interval = settings.heartbeat_interval;
    config_.heartbeat_timeout = settings.heartbeat_timeout;
    config_.lost_grace = settings.lost_grace;
    config_.scheduling.min_run_time = settings.min_run_time;
    config_.defragmentation.enabled = settings.defragment_every > Millis(0);
    if (config_.defragmentation.enabled) config_.defragmentation.interval = settings.defragment_every;
    if (!settings.queues.empty()) config_.queues = settings.queues;
    config_.alldata.api_url = "http://alldata/api/v1";
    disk_.latency_max = weather_.commit_latency_max;

    const auto skew = [this] { return pause(weather_.clock_skew_max * 2) - weather_.clock_skew_max; };
    scheduler_clock_.set(skew());
    start_scheduler();
    if (options_.nodes.empty())
        for (int i = 0; i < options_.agents; ++i)
            options_.nodes.push_back(equal_node(i, options_.gpus_per_node));
    nodes_ = static_cast<int>(options_.nodes.size());
    for (int i = 0; i < nodes_; ++i) {
        hosts_.push_back(std::make_unique<Host>());
        host(i).index = host(i).node = i;
        host(i).machine =
            std::make_unique<Machine>(options_.nodes[static_cast<std::size_t>(i)], machine_world());
        host(i).machine->clock().set(skew());
        start_agent(i);
    }
}

World::Impl::~Impl() {
    for (std::size_t i = 0; i < hosts_.size(); ++i) kill_agent(static_cast<int>(i));
    kill_scheduler(leader_);
    kill_scheduler(frozen_);
}

// ---- steps ------------------------------------------------------------------------------------------------

bool World::Impl::step() {
    if (!time_.run_one()) return false;
    bury();
    check();
    if (!in_steps_.empty()) count_step();
    return true;
}

void World::Impl::bury() {
    for (auto* process : {&leader_, &frozen_})
        if (*process && (*process)->life->over) {
            trace("scheduler: dies");
            kill_scheduler(*process);
        }
    if (!leader_) start_scheduler_soon();
    for (const auto& host : hosts_)
        if (host->life && host->life->over) {
            trace(host->machine->name() + ": agent dies");
            kill_agent(host->index);
            start_agent_soon(host->index);
        }
}

void World::Impl::run_for(Millis span) {
    const std::int64_t end = in_us(span);
    while (violations_.empty() && !time_.idle() && time_.next_us() <= end) step();
    if (violations_.empty()) time_.run_for(Millis((end - time_.ticks_us()) / 1000));
}

// Everything that clients were told will happen has happened, and nothing runs any more.
bool World::Impl::idle() const {
    const scheduler::Scheduler* service = leader();
    if (!service || frozen_ || acknowledged_.size() != wanted_.size() || !closings_.empty()) return false;
    if (service->read().cluster().nodes.up != nodes_) return false;
    for (const std::string& id : acknowledged_) {
        const auto job = service->read().job(id);
        if (!job || !state_row(job->status().state).terminal) return false;
        const auto told = told_.find(id);
        if (told == told_.end() || told->second.first != job->status().sequence) return false;
    }
    return std::all_of(hosts_.begin(), hosts_.end(), [](const auto& host) { return host->machine->idle(); });
}

bool World::Impl::run_until_idle(Millis limit) {
    const std::int64_t end = in_us(limit);
    while (violations_.empty() && time_.ticks_us() < end) {
        run_for(Millis(1'000));
        if (!idle()) continue;
        run_for(settle_time);
        if (!idle()) continue;
        check_end();
        return violations_.empty();
    }
    if (violations_.empty()) describe_what_waits();
    return false;
}

// ---- the story --------------------------------------------------------------------------------------------

void World::Impl::violate(std::string checker, std::string text) {
    trace("VIOLATION " + checker + ": " + text);
    violations_.push_back({std::move(checker), std::move(text)});
}

// Messages are kept as they are and put into words only for who reads them.
void World::Impl::trace(std::string text, std::string message) {
    Line& line = trace_.emplace_back(elapsed(), std::move(text), std::move(message));
    hash_ = hash64(line.message, hash64(line.text, hash_ + static_cast<std::uint64_t>(line.at.count())));
    if (trace_.size() > trace_kept) trace_.pop_front();
}

std::string World::Impl::trace_text(std::size_t last) const {
    std::string out;
    for (std::size_t i = trace_.size() - std::min(last, trace_.size()); i < trace_.size(); ++i) {
        const Line& line = trace_[i];
        out += std::to_string(line.at.count()) + " " + line.text +
               (line.message.empty() ? "" : " " + in_words(line.text, line.message)) + "\n";
    }
    return out;
}

// ---- the face ---------------------------------------------------------------------------------------------

World::World(WorldOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
World::~World() = default;

void World::submit(JobSpec spec, std::string id) {
    impl_->wanted_.insert(id);
    if (spec.time_limit > Millis(0)) impl_->limits_[id] = spec.time_limit;
    impl_->submit(std::make_shared<const JobSpec>(std::move(spec)), std::move(id));
}
void World::cancel(std::string id) { impl_->act(id, scheduler::Action::cancel, 0); }
void World::evict(std::string id) {
    impl_->act(id, scheduler::Action::evict, 3);
    impl_->loop_.after(Millis(15'000),
                       [impl = impl_.get(), id] { impl->act(id, scheduler::Action::resume, 3); });
}
void World::drain(int node, bool evict, Millis span) {
    impl_->drain(impl_->host(node).machine->name(), evict, span);
}
void World::taint(int node, Millis span) { impl_->taint(impl_->host(node).machine->name(), span); }
void World::maintain(int node, Millis after, Millis span) {
    const Instant start = impl_->time_.now() + std::max(after, Millis(1'000));
    impl_->maintain(impl_->host(node).machine->name(), {start, start + span});
}
void World::set_quota(std::string tenant, Quota hard) { impl_->set_quota(tenant, hard); }
void World::defragment() { impl_->defragment(); }

void World::inject(const Injection& injection) { impl_->inject(injection); }
void World::heal() { impl_->heal(); }
void World::run_for(Millis span) { impl_->run_for(span); }
bool World::run_until_idle(Millis limit) { return impl_->run_until_idle(limit); }

const std::vector<std::string>& World::acknowledged() const { return impl_->in_order_; }
const std::vector<Violation>& World::violations() const { return impl_->violations_; }
const Coverage& World::coverage() const { return impl_->coverage_; }
Counts World::counts() const {
    Counts out = impl_->counts_;
    out.events = impl_->time_.ran();
    out.commits = impl_->disk_.commits;
    return out;
}
std::uint64_t World::events() const { return impl_->time_.ran(); }
Millis World::elapsed() const { return impl_->elapsed(); }
std::uint64_t World::trace_hash() const { return impl_->hash_; }
std::string World::trace(std::size_t last) const { return impl_->trace_text(last); }

}  // namespace crater::sim
