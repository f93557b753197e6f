#include "machine.h"

#include <algorithm>

namespace crater::sim {
namespace {

constexpr std::uint64_t late_ms = 20'000;
constexpr std::uint64_t prepare_ms = 400;
constexpr std::uint64_t willing_ms = 3'000;  // a task that heeds SIGTERM ends by then, or earlier
constexpr int killed = 137, terminated = 143;

bool ended(State state) {
    return state_row(state).terminal || state == State::preempted || state == State::lost;
}

}  // namespace

// The agent's view of the machine.
class Machine::AgentRuntime final : public run::Runtime {
  public:
    AgentRuntime(Machine& machine, LifePtr life) : machine_(machine), life_(std::move(life)) {}
    void listen(Listener listener) override { machine_.listener_ = std::move(listener); }
    std::vector<run::Adopted> adopt() override {
        std::vector<run::Adopted> out;
        for (const auto& [id, record] : machine_.records_)
            if (!record.settled) out.push_back({record.launch, record.last});
        machine_.swallowed_ = false;
        return out;
    }
    void start(run::Launch launch) override {
        if (life_->acts()) machine_.start(std::move(launch));
    }
    void stop(const run::TaskId& id, Millis grace, State outcome, Reason reason,
              std::string detail) override {
        if (life_->acts()) machine_.stop(id, grace, outcome, reason, std::move(detail));
    }
    void forget(const run::TaskId& id) override {
        if (const Record* record = machine_.find(id); record && record->ended && life_->acts())
            machine_.records_.erase(id);
    }
    void settle(const run::TaskId& id) override {
        if (Record* record = machine_.find(id); record && record->ended && life_->acts())
            record->settled = true;
    }
    std::vector<run::TaskUsage> usage() override { return {}; }
    Result<std::pair<std::string, std::int64_t>> log(const run::TaskId&, std::int64_t, std::size_t) override {
        return fail(Code::not_found, "simulated tasks write no log");
    }
    Enforcement enforcement() const override { return {}; }

  private:
    Machine& machine_;
    LifePtr life_;
};

// The machine's hardware as its drivers show it now.
class Machine::AgentSource final : public hw::Source {
  public:
    explicit AgentSource(Machine& machine)
        : machine_(machine), base_(hw::simulated_source(machine.hardware_)) {}
    Result<NodeInventory> inventory() override {
        seen_ = machine_.hardware_changes_;
        CRATER_TRY(out, base_->inventory());
        for (const auto& [card, gone] : machine_.broken_cards_) {
            std::erase_if(out.gpus,
                          [card = card, gone = gone](const Gpu& gpu) { return gone && gpu.index == card; });
            for (Gpu& gpu : out.gpus)
                if (gpu.index == card) gpu.healthy = false, gpu.health_detail = "XID 79";
        }
        return out;
    }
    NodeSample sample(Instant now) override { return base_->sample(now); }
    bool changed() override { return seen_ != machine_.hardware_changes_; }

  private:
    Machine& machine_;
    std::unique_ptr<hw::Source> base_;
    std::uint64_t seen_ = 0;
};

Machine::Machine(hw::SimulatedNode hardware, World world)
    : world_(std::move(world)), loop_(world_.time), clock_(world_.time), hardware_(std::move(hardware)) {
    auto inventory = hw::simulated_inventory(hardware_);
    CRATER_CHECK(inventory.has_value());
    inventory_ = std::move(*inventory);
    inventory_.name = hardware_.name;
}

std::unique_ptr<run::Runtime> Machine::runtime(testing::VirtualLoop& loop, LifePtr life) {
    agent_loop_ = &loop;
    heard_us_ = 0;
    return std::make_unique<AgentRuntime>(*this, std::move(life));
}

std::unique_ptr<hw::Source> Machine::source() { return std::make_unique<AgentSource>(*this); }

void Machine::agent_died() {
    agent_loop_ = nullptr;
    listener_ = nullptr;
}

Machine::Record* Machine::find(const run::TaskId& id) {
    const auto it = records_.find(id);
    return it == records_.end() ? nullptr : &it->second;
}

std::map<run::TaskId, agent::Held> Machine::running() const {
    std::map<run::TaskId, agent::Held> out;
    for (const auto& [id, record] : records_)
        if (!record.ended)
            out[id] = {record.launch.allocation, record.launch.spec.grace_period, record.last.state,
                       record.last.at};
    return out;
}

bool Machine::keeps_end_of(const run::TaskId& id) const {
    const auto it = records_.find(id);
    return it != records_.end() && it->second.ended && !it->second.settled;
}

bool Machine::idle() const {
    return std::all_of(records_.begin(), records_.end(), [](const auto& item) { return item.second.ended; });
}

// ---- faults -----------------------------------------------------------------------------------------------

void Machine::power_off(bool disk_kept) {
    for (auto& [id, record] : records_) {
        loop_.cancel(std::exchange(record.timer, 0));
        loop_.cancel(std::exchange(record.killing, 0));
        Truth& truth = world_.truth[id];
        if (record.ended) continue;
        truth.ended = clock_.now();
        truth.doubtful = true;
        record.ended = true;
        record.last = {
            id,           State::failed, Reason::node_lost, "the node restarted while the task ran", -1,
            clock_.now(), false};
    }
    if (!disk_kept) records_.clear();
    ++changes_;
}

void Machine::break_card(std::int64_t card, bool gone) {
    broken_cards_[card] = gone;
    ++hardware_changes_;
    // What ran on it ends, sooner or later.
    for (auto& [id, record] : records_) {
        if (record.ended || !broken(record.launch.allocation)) continue;
        if (!gone && world_.rng.below(2) == 0) continue;
        loop_.cancel(record.timer);
        record.timer = loop_.after(gone ? Millis(0) : pause(10'000), [this, id = id] {
            if (Record* r = find(id); r && !r->ended)
                happened(*r, State::failed, Reason::exit_nonzero, "the card fell off the bus", 1);
        });
    }
}

void Machine::mend_cards() {
    if (broken_cards_.empty()) return;
    broken_cards_.clear();
    ++hardware_changes_;
}

bool Machine::broken(const Allocation& allocation) const {
    return std::any_of(allocation.gpus.begin(), allocation.gpus.end(),
                       [this](const GpuSlice& slice) { return broken_cards_.contains(slice.index); });
}

// ---- tasks ------------------------------------------------------------------------------------------------

void Machine::happened(Record& record, State state, Reason reason, std::string detail,
                       std::int64_t exit_code) {
    record.last = {record.launch.id, state, reason, std::move(detail), exit_code, clock_.now(), false};
    record.ended = ended(state);
    Truth& truth = world_.truth[record.launch.id];
    if (state == State::running) truth.running = clock_.now();
    if (record.ended) {
        truth.ended = clock_.now();
        loop_.cancel(std::exchange(record.timer, 0));
        loop_.cancel(std::exchange(record.killing, 0));
    }
    ++changes_;
    world_.trace(name() + ": " + record.launch.id.text() + " is " + std::string(name_of(state)));
    tell(record.last);
}

// To the agent, when there is one: at once, late, twice, or not at all.
void Machine::tell(const run::TaskEvent& event) {
    if (!agent_loop_) return;
    const std::int64_t now_us = world_.time.ticks_us();
    const bool final = ended(event.state);
    if (final && now_us < lossy_until_us) {
        swallowed_ = true;
        return;
    }
    if (now_us < late_until_us) heard_us_ = std::max(heard_us_, now_us + pause(late_ms).count() * 1000);
    heard_us_ = std::max(heard_us_, now_us);
    const int times = now_us < doubling_until_us && final ? 2 : 1;
    for (int i = 0; i < times; ++i)
        agent_loop_->after(Millis((heard_us_ - now_us) / 1000), [this, event] {
            if (listener_) listener_(event);
        });
}

void Machine::start(run::Launch launch) {
    ++orders_;
    const run::TaskId id = launch.id;
    if (const Record* known = find(id)) return tell(known->last);
    const auto [truth, fresh] =
        world_.truth.emplace(id, Truth{.machine = name(), .running = {}, .ended = {}});
    if (!fresh)
        world_.violation(
            "starts", "started twice: " + id.text() + " on " + truth->second.machine + ", then on " + name());
    Record& record = records_[id];
    record.launch = std::move(launch);
    record.ignores_term = world_.rng.below(3) == 0;
    happened(record, State::preparing, Reason::mounting, "", -1);
    if (world_.time.ticks_us() < hanging_until_us) return;
    record.timer = loop_.after(Millis(5) + pause(prepare_ms), [this, id] { make_ready(id); });
}

void Machine::make_ready(const run::TaskId& id) {
    Record* record = find(id);
    if (!record || record->ended || record->stopping) return;
    if (broken(record->launch.allocation))
        return happened(*record, State::failed, Reason::start_failed, "the card does not answer", 126);
    if (world_.rng.below(2)) return run(id);
    happened(*record, State::ready, Reason::none, "", -1);
    record->timer = loop_.after(pause(prepare_ms), [this, id] { run(id); });
}

void Machine::run(const run::TaskId& id) {
    Record* record = find(id);
    if (!record || record->ended || record->stopping) return;
    const Millis duration =
        record->launch.spec.duration > Millis(0) ? record->launch.spec.duration : Millis(1'000);
    const bool fails = world_.rng.below(100) < static_cast<std::uint64_t>(*world_.task_failures_percent);
    happened(*record, State::running, Reason::process_started, "", -1);
    record->timer = loop_.after(duration, [this, id, fails] {
        Record* ending = find(id);
        if (!ending || ending->ended) return;
        if (fails)
            happened(*ending, State::failed, Reason::exit_nonzero, "exit code 1", 1);
        else
            happened(*ending, State::finished, Reason::exit_zero, "", 0);
    });
}

void Machine::stop(const run::TaskId& id, Millis grace, State outcome, Reason reason, std::string detail) {
    ++orders_;
    Record* record = find(id);
    if (!record) return tell({id, outcome, reason, std::move(detail), -1, clock_.now(), false});
    if (record->ended) return tell(record->last);
    // Who makes room for others, or is moved, has the time that it was promised.
    if (outcome == State::preempted && grace < record->launch.spec.grace_period)
        world_.violation("grace", id.text() + " has " + format(grace) + " to stop and was promised " +
                                      format(record->launch.spec.grace_period));
    record->outcome = outcome;
    record->reason = reason;
    record->detail = std::move(detail);
    const Millis willing(static_cast<std::int64_t>(world_.rng.below(willing_ms + 1)));
    const bool first = !std::exchange(record->stopping, true);
    const std::int64_t kill_us = world_.time.ticks_us() + grace.count() * 1000;
    if (first || kill_us < record->killed_us) {
        loop_.cancel(record->killing);
        record->killed_us = kill_us;
        record->killing = loop_.after(grace, [this, id] { end_stopped(id); });
    }
    if (first && !record->ignores_term && willing < grace)
        loop_.after(willing, [this, id] { end_stopped(id); });
}

void Machine::end_stopped(const run::TaskId& id) {
    Record* record = find(id);
    if (!record || record->ended) return;
    happened(*record, record->outcome, record->reason, record->detail,
             record->ignores_term ? killed : terminated);
}

}  // namespace crater::sim
