// People and programs: each asks again until it was heard, as clients do.
#include "crater/base/ids.h"
#include "crater/codec/codec.h"
#include "world_impl.h"

namespace crater::sim {
namespace {

// of waiting in peace before somebody asks whether it can ever start
constexpr Millis impossible_period{1'200'000};
constexpr Millis client_retry{700}, reply_patience{5'000};

const Taint world_taint{"sim", "held", TaintEffect::no_schedule};

}  // namespace

// An answer is heard only of a process that lives: `use` is the client.
template <class F>
auto World::Impl::heard(F use) {
    return [life = leader_->life, use = std::move(use)](auto answer) {
        if (life->acts()) use(std::move(answer));
    };
}

void World::Impl::submit(std::shared_ptr<const JobSpec> spec, std::string id) {
    if (acknowledged_.contains(id) || !wanted_.contains(id)) return;
    // One timer per client, whatever became of the last try: a crash may have swallowed the reply, and no
    // node may have registered yet.
    loop_.after(leader() ? reply_patience : client_retry, [this, spec, id] { submit(spec, id); });
    if (!leader()) return;
    ++counts_.submitted;
    leader()->submit({.spec = *spec,
                      .actor = {},
                      .idempotency_key = {},
                      .document = codec::write_json(*spec),
                      .task_id = id},
                     heard([this, spec, id](Result<scheduler::Submitted> answer) {
                         submitted(*spec, id, std::move(answer));
                     }));
}

void World::Impl::submitted(const JobSpec& spec, const std::string& id, Result<scheduler::Submitted> answer) {
    if (answer) {
        if (!acknowledged_.insert(id).second) return;
        trace("client: " + id + " acknowledged");
        in_order_.push_back(id);
        return check_answered(id);
    }
    const Error& error = answer.error();
    if (std::string& last = refused_[id]; last != error.text())
        trace("client: " + id + " is answered: " + (last = error.text()));
    if (error.code == Code::unsatisfiable) {
        if (all_registered()) refused_for_good(id, error);
    } else if (error.field.starts_with("after_")) {
        // What it is to follow may come yet, or was itself refused for good.
        const auto given_up = [this](const std::string& other) { return !wanted_.contains(other); };
        const bool hopeless = std::any_of(spec.after_ok.begin(), spec.after_ok.end(), given_up) ||
                              std::any_of(spec.after_any.begin(), spec.after_any.end(), given_up);
        if (error.code == Code::conflict || hopeless) refused_for_good(id, error);
    } else if (error.code != Code::unavailable) {
        violate("submit", id + ": " + error.text());
    }
}

// Until every node has registered, what does not fit may fit later.
bool World::Impl::all_registered() const {
    const auto nodes = leader()->read().cluster().nodes;
    return nodes.up + nodes.draining + nodes.lost == nodes_;
}

void World::Impl::refused_for_good(const std::string& id, const Error& error) {
    if (acknowledged_.contains(id)) return;
    trace("client: " + id + " refused: " + error.text());
    wanted_.erase(id);
}

void World::Impl::act(const std::string& id, scheduler::Action action, int tries) {
    static constexpr const char* words[] = {"cancel ", "evict ", "resume "};
    const auto again = [this, id, action, tries] {
        if (wanted_.contains(id) && tries < 20)
            loop_.after(client_retry, [this, id, action, tries] { act(id, action, tries + 1); });
    };
    if (!leader()) return again();
    trace("client: " + std::string(words[static_cast<int>(action)]) + id);
    const int resumed = resumed_[id] += action == scheduler::Action::resume;
    leader()->act(
        {.job = id, .action = action, .body = {}, .actor = {}},
        heard([this, id, action, again, resumed](Result<scheduler::JobRecordPtr> answer) {
            if (!answer) {
                if (answer.error().code == Code::unavailable || answer.error().code == Code::not_found)
                    again();
                return;
            }
            // An answer that a resume has overtaken says nothing any more.
            if (action == scheduler::Action::resume || resumed_[id] != resumed) return;
            const auto it = durable_.find(id);
            if (it == durable_.end() ||
                (!it->second.stopping && !state_row(it->second.status->state).terminal))
                violate("durability", std::string(words[static_cast<int>(action)]) + id +
                                          " was answered before it was stored");
        }));
}

// Said once and perhaps not heard; that it is over is said until somebody hears it, for a node that is closed
// for ever would hold up the end.
void World::Impl::drain(const std::string& name, bool evict, Millis span) {
    ++closings_[name];
    trace("client: drain " + name);
    api::ReasonBody body;
    body.evict = evict;
    if (leader()) leader()->drain(name, true, body, {}, [](auto) {});
    reopen_after(span, name, [this, name](auto answered) {
        trace("client: undrain " + name);
        leader()->drain(name, false, {}, {}, answered);
    });
}

void World::Impl::taint(const std::string& name, Millis span) {
    ++closings_[name];
    trace("client: taint " + name);
    if (leader()) leader()->set_taint(name, world_taint, false, {}, [](auto) {});
    reopen_after(span, name, [this, name](auto answered) {
        trace("client: untaint " + name);
        leader()->set_taint(name, world_taint, true, {}, answered);
    });
}

void World::Impl::reopen_after(Millis span, const std::string& name,
                               std::function<void(scheduler::Reply<api::NodeRow>)> reopen) {
    loop_.after(span, [this, name, reopen = std::move(reopen)] {
        repeat_until_heard([this, name, reopen, open = std::make_shared<bool>(false)](auto done) {
            reopen(heard([this, name, open, done](Result<api::NodeRow> answer) {
                // It may never have been known.
                const bool over = answer || answer.error().code == Code::not_found;
                if (!over || std::exchange(*open, true)) return;
                done();
                if (--closings_.at(name) == 0) closings_.erase(name);
            }));
        });
    });
}

void World::Impl::maintain(const std::string& name, Maintenance window) {
    if (!leader()) return;
    trace("client: maintenance of " + name);
    maintained_.insert(name);
    leader()->plan_maintenance(name, window, {}, [](auto) {});
}

void World::Impl::set_quota(const std::string& tenant, const Quota& hard) {
    const std::uint64_t wish = ++quota_wishes_[tenant];
    repeat_until_heard([this, tenant, hard, wish](auto done) {
        if (quota_wishes_.at(tenant) != wish) return done();  // somebody wishes otherwise since
        trace("client: quota of " + tenant);
        api::QuotaChange change;
        change.hard = hard;
        leader()->set_quota(tenant, change, {}, heard([done](auto answer) {
                                if (answer) done();
                            }));
    });
}

// Cards that a queue keeps for itself may keep others from their end for ever: in peace nothing is kept.
void World::Impl::lift_reserves() {
    for (QueueSpec queue : config_.queues) {
        if (std::exchange(queue.reserved_gpu, 0) == 0) continue;
        repeat_until_heard([this, queue](auto done) {
            trace("client: nothing is reserved for " + queue.name);
            leader()->set_queue(queue, {}, heard([done](auto answer) {
                                    if (answer) done();
                                }));
        });
    }
}

// What was accepted while the hardware was another may fit nowhere now: its owner asks, and takes it back. In
// peace only.
void World::Impl::give_up_impossible() {
    loop_.after(impossible_period, [this] { give_up_impossible(); });
    if (!leader() || !all_registered()) return;
    std::vector<std::string> waiting;
    for (const auto& [id, job] : durable_)
        if (job.status->state == State::pending && !job.stopping &&
            in_us(-impossible_period) > since_.at({id, 0}).us)
            waiting.push_back(id);
    for (const std::string& id : waiting)
        leader()->fit(*facts_.at(id).spec, {}, heard([this, id](Result<api::FitView> answer) {
            if (answer && !answer->fits_ever) act(id, scheduler::Action::cancel, 0);
        }));
}

// Asks whoever leads, again and again, until `done` was called.
void World::Impl::repeat_until_heard(std::function<void(std::function<void()>)> ask) {
    const auto over = std::make_shared<bool>(false);
    const auto again = std::make_shared<std::function<void()>>();
    *again = [this, over, ask = std::move(ask), self = std::weak_ptr(again)] {
        if (*over) return;
        loop_.after(leader() ? reply_patience : client_retry, [next = self.lock()] { (*next)(); });
        if (leader()) ask([over] { *over = true; });
    };
    (*again)();
}

void World::Impl::defragment() {
    if (!leader()) return;
    trace("client: defragment");
    leader()->defrag({}, {}, [](auto) {});
}

}  // namespace crater::sim
