// A scheduler under the test's hand: virtual time, a disk in memory, agents that speak the protocol and do
// what the test says.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <set>

#include "crater/base/ids.h"
#include "crater/codec/codec.h"
#include "crater/codec/proto.h"
#include "crater/proto/agent.pb.h"
#include "crater/scheduler/scheduler.h"
#include "crater/scheduler/testing/virtual_link.h"

namespace crater::scheduler {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::VirtualLoop;
using testing::VirtualTime;
using testing::VirtualWire;

inline NodeInventory test_inventory(const std::string& name, int cards = 4) {
    NodeInventory n;
    n.name = name;
    n.simulated = true;
    n.runtimes = {"process", "none"};
    n.cpu = MilliCpu(16'000);
    n.memory = Bytes(64ll << 30);
    NumaDomain domain;
    domain.memory = n.memory;
    for (int i = 0; i < 16; ++i) {
        domain.cpus.push_back(i);
        domain.core_of.push_back(i / 2);
    }
    n.numa.push_back(domain);
    for (int i = 0; i < cards; ++i) {
        Gpu gpu;
        gpu.index = i;
        gpu.model = "a100-pcie-40gb";
        gpu.uuid = name + "-gpu-" + std::to_string(i);
        gpu.memory = Mebibytes(40'960);
        gpu.compute_capability = "8.0";
        n.gpus.push_back(gpu);
    }
    Disk disk;
    disk.name = "nvme0n1";
    disk.capacity = disk.free = Bytes(1'000'000'000'000);
    disk.iops = Iops(500'000);
    n.disks.push_back(disk);
    n.allow_unenforced = true;
    return n;
}

inline JobSpec gpu_job(int cards = 1, const std::string& name = "job") {
    JobSpec spec;
    spec.name = name;
    spec.type = JobType::training;
    spec.command.argv = {"python3", "train.py"};
    spec.resources.gpu.count = MilliGpu(cards * 1000);
    spec.resources.cpu.cores = MilliCpu(1'000);
    spec.resources.memory.size = Bytes(1ll << 30);
    spec.grace_period = Millis(10'000);
    return spec;
}

// One agent: it keeps what it was told to launch; the test reports.
class FakeAgent {
  public:
    FakeAgent(VirtualTime& time, NodeInventory inventory)
        : time_(time), loop_(time), inventory_(std::move(inventory)) {}
    ~FakeAgent() { hang_up(); }

    struct Task {
        std::string state = "preparing";
        proto::Launch launch;
    };
    std::map<std::string, Task> held;  // by "job.task.attempt"
    std::vector<proto::Launch> launches;
    std::vector<proto::Stop> stops;
    std::vector<std::string> forgotten;
    std::set<std::uint64_t> acknowledged;
    std::deque<proto::TaskReport> waiting;  // reports without an acknowledgement
    std::string refused, boot_id = "boot-1";
    std::uint64_t term = 0;
    bool welcomed = false, beats = true, runs_at_once = true, stops_at_once = true;
    Millis clock_off{0};  // its clock against the true time
    int welcomes = 0;
    std::map<std::int64_t, std::int64_t> card_memory;  // MiB in real use, told with the next beat

    const std::string& name() const { return inventory_.name; }
    NodeInventory& inventory() { return inventory_; }
    static std::string key(const std::string& job, std::int64_t task, std::int64_t attempt) {
        return job + "." + std::to_string(task) + "." + std::to_string(attempt);
    }

    void dial(Scheduler& scheduler, VirtualLoop& scheduler_loop) {
        hang_up();
        wire_ = std::make_shared<VirtualWire>(time_, [] { return Millis(1); });
        auto holder = std::make_shared<std::shared_ptr<wire::Link>>();
        auto callbacks = scheduler.agent_link([holder] { return *holder; });
        *holder = wire_->attach(1, scheduler_loop, std::move(callbacks), "10.0.0.1:1");
        link_ = wire_->attach(0, loop_,
                              {.on_message = [this](std::string m) { on_message(m); },
                               .on_closed = [this](std::string) { welcomed = false; }},
                              "scheduler");
        send_register();
    }
    void send_register() {
        proto::ToScheduler m;
        auto& r = *m.mutable_register_();
        r.set_protocol(std::string(wire::agent_protocol));
        r.set_boot_id(boot_id);
        codec::to_proto(inventory_, *r.mutable_inventory());
        for (const auto& [id, task] : held) {
            auto& h = *r.add_held();
            h.set_job(task.launch.job());
            h.set_task(task.launch.task());
            h.set_attempt(task.launch.attempt());
            h.set_state(task.state);
        }
        for (const auto& report : waiting) {
            if (held.contains(key(report.job(), report.task(), report.attempt()))) continue;
            auto& h = *r.add_held();
            h.set_job(report.job());
            h.set_task(report.task());
            h.set_attempt(report.attempt());
            h.set_state(report.state());
        }
        send(m);
    }
    void hang_up() {
        if (wire_) wire_->detach(0);
        wire_.reset();
        link_.reset();
        welcomed = false;
    }
    void report(const proto::Launch& task, const std::string& state, const std::string& reason = "none",
                std::int64_t exit_code = -1, const std::string& detail = "") {
        proto::TaskReport r;
        r.set_number(++number_);
        r.set_job(task.job());
        r.set_task(task.task());
        r.set_attempt(task.attempt());
        r.set_state(state);
        r.set_reason(reason);
        r.set_detail(detail);
        r.set_exit_code(exit_code);
        r.set_at_ms((time_.now() + clock_off).ms);
        r.set_enforcement("enforced");
        const std::string id = key(task.job(), task.task(), task.attempt());
        if (state == "running" || state == "preparing" || state == "preempting")
            held[id] = {state, task};
        else
            held.erase(id);
        waiting.push_back(r);
        send_report(r);
    }
    void finish(const proto::Launch& task) { report(task, "finished", "exit_zero", 0); }
    void fail(const proto::Launch& task) { report(task, "failed", "exit_nonzero", 3, "exit code 3"); }
    // What a task uses at this moment.
    void use(const proto::Launch& task, double cores, std::int64_t memory, std::int64_t gpu_memory_mib) {
        proto::ToScheduler m;
        auto& sample = *m.mutable_task_samples()->add_samples();
        sample.set_job(task.job());
        sample.set_task(task.task());
        sample.set_at_ms(time_.now().ms);
        sample.set_cpu_cores(cores);
        sample.set_memory_bytes(memory);
        sample.set_gpu_memory_mib(gpu_memory_mib);
        send(m);
    }
    void send_report(const proto::TaskReport& r) {
        proto::ToScheduler m;
        *m.mutable_report() = r;
        send(m);
    }

  private:
    void send(const proto::ToScheduler& m) {
        if (link_) link_->send(m.SerializeAsString());
    }
    void beat() {
        loop_.cancel(beat_timer_);
        beat_timer_ = loop_.after(Millis(5'000), [this] { beat(); });
        if (!beats || !welcomed) return;
        proto::ToScheduler m;
        m.mutable_heartbeat()->set_number(1);
        auto& sample = *m.mutable_heartbeat()->mutable_sample();
        sample.set_cpu_percent(5);
        for (const auto& [card, mib] : card_memory) {
            auto& use = *sample.add_gpus();
            use.set_index(card);
            use.set_memory_used_mib(mib);
        }
        send(m);
    }
    void on_message(const std::string& bytes) {
        proto::ToAgent m;
        ASSERT_TRUE(m.ParseFromString(bytes));
        EXPECT_GE(m.term(), term);
        term = m.term();
        if (m.has_welcome()) {
            welcomed = true;
            ++welcomes;
            for (const auto& r : waiting) send_report(r);
            beat();
        } else if (m.has_refuse()) {
            refused = m.refuse().message();
        } else if (m.has_launch()) {
            EXPECT_TRUE(welcomed);
            const auto& launch = m.launch();
            const std::string id = key(launch.job(), launch.task(), launch.attempt());
            if (held.contains(id)) return;
            launches.push_back(launch);
            held[id] = {"preparing", launch};
            if (runs_at_once) report(launch, "running", "process_started");
        } else if (m.has_stop()) {
            stops.push_back(m.stop());
            const auto it = held.find(key(m.stop().job(), m.stop().task(), m.stop().attempt()));
            if (it != held.end() && stops_at_once) {
                const proto::Launch launch = it->second.launch;
                report(launch, m.stop().outcome(), m.stop().reason(), 143, m.stop().detail());
            }
        } else if (m.has_forget()) {
            forgotten.push_back(key(m.forget().job(), m.forget().task(), m.forget().attempt()));
            held.erase(forgotten.back());
        } else if (m.has_ack()) {
            acknowledged.insert(m.ack().number());
            std::erase_if(waiting, [&](const auto& r) { return r.number() == m.ack().number(); });
        } else if (m.has_table()) {
            proto::ToScheduler answer;
            answer.mutable_table()->set_request(m.table().request());
            for (const auto& [id, task] : held) {
                auto& row = *answer.mutable_table()->add_rows();
                row.set_job(task.launch.job());
                row.set_task(task.launch.task());
                row.set_attempt(task.launch.attempt());
                row.set_state(task.state);
                *row.mutable_allocation() = task.launch.allocation();
            }
            send(answer);
        }
    }

    VirtualTime& time_;
    VirtualLoop loop_;
    NodeInventory inventory_;
    std::shared_ptr<VirtualWire> wire_;
    std::shared_ptr<wire::Link> link_;
    std::uint64_t number_ = 0;
    TimerId beat_timer_ = 0;
};

// AllData's end: answers what the test says, keeps what came.
class FakeCallbacks final : public wire::CallbackSender {
  public:
    void send(wire::ClientRequest request, std::function<void(Result<wire::HttpResponse>)> done) override {
        requests.push_back(request);
        int status = 200;
        if (fail_next > 0) --fail_next, status = 503;
        if (always > 0) status = always;
        if (status == 200) taken.push_back(request.body);
        loop->after(Millis(20), [done = std::move(done), status] {
            done(wire::HttpResponse{.status = status, .body = {}, .headers = {}});
        });
    }
    std::vector<wire::ClientRequest> requests;
    std::vector<std::string> taken;
    int fail_next = 0, always = 0;
    VirtualLoop* loop = nullptr;
};

class TestWorld {
  public:
    explicit TestWorld(Config wanted = {}) : config(std::move(wanted)) { start(); }
    ~TestWorld() { crash(); }

    void start() {
        loop = std::make_unique<VirtualLoop>(time);
        callbacks.loop = loop.get();
        store = store::open_memory(disk, *loop, commit_latency);
        auto made = Scheduler::start(config, {.clock = time,
                                              .loop = *loop,
                                              .rng = rng,
                                              .store = *store,
                                              .callbacks = with_callbacks ? &callbacks : nullptr,
                                              .metrics = nullptr,
                                              .plugins = plugins,
                                              .on_fatal = [this](const Error& e) { fatal = e; }});
        ASSERT_TRUE(made) << made.error().text();
        scheduler = std::move(*made);
    }
    // The process dies between two steps: what is not durable is lost.
    void crash() {
        if (!loop) return;
        callbacks.loop = nullptr;
        loop->kill();
        for (auto& [name, agent] : agents) agent->hang_up();
        scheduler.reset();
        store.reset();
        loop.reset();
    }
    void restart() {
        crash();
        start();
        for (auto& [name, agent] : agents) agent->dial(*scheduler, *loop);
        run(seconds(1));
    }
    void run(Millis span = Millis(100)) { time.run_for(span); }

    FakeAgent& add_agent(const std::string& name, int cards = 4) {
        agents[name] = std::make_unique<FakeAgent>(time, test_inventory(name, cards));
        agents[name]->dial(*scheduler, *loop);
        run();
        EXPECT_TRUE(agents[name]->welcomed);
        return *agents[name];
    }
    FakeAgent& agent(const std::string& name) { return *agents.at(name); }

    std::optional<Result<Submitted>> submit_answer;
    std::string submit(JobSpec spec, Submit extra = {}) {
        submit_answer.reset();
        extra.spec = std::move(spec);
        if (extra.document.empty()) extra.document = codec::write_json(extra.spec);
        scheduler->submit(std::move(extra), [this](Result<Submitted> r) { submit_answer = std::move(r); });
        run();
        if (!submit_answer || !*submit_answer) return {};
        return (*submit_answer)->job->row().id;
    }
    Error submit_error(JobSpec spec, Submit extra = {}) {
        EXPECT_EQ(submit(std::move(spec), std::move(extra)), "");
        EXPECT_TRUE(submit_answer.has_value());
        return submit_answer && !*submit_answer ? submit_answer->error() : Error{};
    }
    Result<JobRecordPtr> act(const std::string& id, Action action, Actor actor = {}) {
        std::optional<Result<JobRecordPtr>> answer;
        scheduler->act({.job = id, .action = action, .body = {}, .actor = actor},
                       [&](Result<JobRecordPtr> r) { answer = std::move(r); });
        run();
        EXPECT_TRUE(answer.has_value());
        return answer ? std::move(*answer) : Result<JobRecordPtr>(fail(Code::internal, "no answer"));
    }
    JobRecordPtr job(const std::string& id) const { return scheduler->read().job(id); }
    State state(const std::string& id) const { return job(id)->status().state; }
    std::vector<std::string> states(const std::string& id) const {
        std::vector<std::string> out;
        const auto rows = scheduler->history({.kind = "job_state", .subject = id});
        for (const auto& row : *rows) {
            const std::string name(name_of(codec::read_json<StateChange>(row.body)->state));
            if (out.empty() || out.back() != name) out.push_back(name);
        }
        return out;
    }

    VirtualTime time;
    store::MemoryDisk disk;
    SeededRng rng{42};
    Config config;
    FakeCallbacks callbacks;
    bool with_callbacks = false;
    plugin::Registry* plugins = nullptr;  // from the next start on
    Millis commit_latency{5};
    std::optional<Error> fatal;
    std::unique_ptr<VirtualLoop> loop;
    std::unique_ptr<store::Store> store;
    std::unique_ptr<Scheduler> scheduler;
    std::map<std::string, std::unique_ptr<FakeAgent>> agents;
};

}  // namespace crater::scheduler
