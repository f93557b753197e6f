#include "machine.h"

namespace crater::sim {

// The agent's view of the machine.
class Machine::AgentRuntime final : public run::Runtime {
  public:
    explicit AgentRuntime(Machine& machine) : machine_(machine) {}
    void listen(Listener listener) override { machine_.listener_ = std::move(listener); }
    std::vector<run::Adopted> adopt() override {
        std::vector<run::Adopted> out;
        for (const auto& [id, record] : machine_.records_)
            if (!record.settled) out.push_back({record.launch, record.last});
        return out;
    }
    void start(run::Launch launch) override { machine_.start(std::move(launch)); }
    void stop(const run::TaskId& id, Millis grace, State outcome, Reason reason, std::string detail) override {
        machine_.stop(id, grace, outcome, reason, std::move(detail));
    }
    void forget(const run::TaskId& id) override {
        if (const Record* record = machine_.find(id); record && record->ended) machine_.records_.erase(id);
    }
    void settle(const run::TaskId& id) override {
        if (Record* record = machine_.find(id); record && record->ended) record->settled = true;
    }
    std::vector<run::TaskUsage> usage() override { return {}; }
    Result<std::pair<std::string, std::int64_t>> log(const run::TaskId&, std::int64_t, std::size_t) override {
        return fail(Code::not_found, "simulated tasks write no log");
    }
    Enforcement enforcement() const override { return {}; }

  private:
    Machine& machine_;
};

Machine::Machine(std::string name, int gpus, testing::VirtualTime& time, Rng& rng, std::set<run::TaskId>& started, Note trace, Note violation)
    : name_(std::move(name)), time_(time), loop_(time), rng_(rng), trace_(std::move(trace)), violation_(std::move(violation)), started_(started) {
    hardware_.name = name_;
    hardware_.gpus.count = gpus;
    hardware_.cpu.cores = 16;
    hardware_.disks["nvme0n1"] = {};
    auto inventory = hw::simulated_inventory(hardware_);
    CRATER_CHECK(inventory.has_value());
    inventory_ = std::move(*inventory);
    inventory_.name = name_;
}

std::unique_ptr<run::Runtime> Machine::runtime(testing::VirtualLoop& loop) {
    agent_loop_ = &loop;
    return std::make_unique<AgentRuntime>(*this);
}

std::unique_ptr<hw::Source> Machine::source() const { return hw::simulated_source(hardware_); }

void Machine::agent_died() {
    agent_loop_ = nullptr;
    listener_ = nullptr;
}

void Machine::power_off() {
    records_.clear();
    ++changes_;
}

Machine::Record* Machine::find(const run::TaskId& id) {
    const auto it = records_.find(id);
    return it == records_.end() ? nullptr : &it->second;
}

std::map<run::TaskId, agent::Held> Machine::running() const {
    std::map<run::TaskId, agent::Held> out;
    for (const auto& [id, record] : records_)
        if (!record.ended) out[id] = {record.launch, record.last.state, record.last.at};
    return out;
}

void Machine::happened(Record& record, State state, Reason reason, std::string detail, std::int64_t exit_code) {
    record.last = {record.launch.id, state, reason, std::move(detail), exit_code, time_.now(), false};
    record.ended = state_row(state).terminal || state == State::preempted || state == State::lost;
    ++changes_;
    trace_(name_ + ": " + record.launch.id.text() + " is " + std::string(name_of(state)));
    if (agent_loop_) agent_loop_->post([this, event = record.last] { if (listener_) listener_(event); });
}

void Machine::start(run::Launch launch) {
    const run::TaskId id = launch.id;
    if (find(id)) return;
    if (!started_.insert(id).second) violation_("started twice: " + id.text() + " on " + name_);
    Record& record = records_[id];
    record.launch = std::move(launch);
    happened(record, State::preparing, Reason::mounting, "", -1);
    const Millis run_time = record.launch.spec.duration > Millis(0) ? record.launch.spec.duration : Millis(1'000);
    const bool fails = rng_.below(12) == 0;
    record.timer = loop_.after(Millis(static_cast<std::int64_t>(5 + rng_.below(400))), [this, id, run_time, fails] {
        Record* r = find(id);
        if (!r || r->ended || r->stopping) return;
        happened(*r, State::running, Reason::process_started, "", -1);
        r->timer = loop_.after(run_time, [this, id, fails] {
            Record* ending = find(id);
            if (!ending || ending->ended) return;
            if (fails) happened(*ending, State::failed, Reason::exit_nonzero, "exit code 1", 1);
            else happened(*ending, State::finished, Reason::exit_zero, "", 0);
        });
    });
}

void Machine::stop(const run::TaskId& id, Millis grace, State outcome, Reason reason, std::string detail) {
    Record* record = find(id);
    if (!record || record->ended || record->stopping) return;
    record->stopping = true;
    const auto most = static_cast<std::uint64_t>(std::clamp<std::int64_t>(grace.count(), 1, 3'000));
    loop_.after(Millis(static_cast<std::int64_t>(rng_.below(most))), [this, id, outcome, reason, detail = std::move(detail)] {
        Record* r = find(id);
        if (r && !r->ended) happened(*r, outcome, reason, detail, 143);
    });
}

}  // namespace crater::sim
