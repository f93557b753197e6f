// What the scheduler keeps in its store, and its text. Keys:
//
//     job/<id>/spec          StoredSpec, written once           queue/<name>      StoredQueue
//     job/<id>               StoredStatus, per change           tenant/<path>     Tenant
//     node/<name>            NodeInventory                      token/<id>        Token
//     node/<name>/state      StoredNodeState                    idem/<hash>       StoredIdempotency
//     outbox/<task>/<seq>    StoredCallback, to be delivered    dead/<task>/<seq> StoredCallback, given up
//     profile/<kind>         StoredProfile (profiles.h)
//     meta/term              rises at every start               meta/settings     engine::Settings
//     meta/state_hash        of the engine after the batch      meta/event_sequence
//
// History: "job_state" (subject: job) StateChange; "decision" (job) engine::DecisionTrace; "audit" (actor)
// AuditRow.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crater/base/describe.h"
#include "crater/base/error.h"
#include "crater/engine/engine.h"
#include "crater/model/job.h"
#include "crater/model/node.h"
#include "crater/model/tenant.h"

namespace crater::codec {
class SharedPool;
}

namespace crater::scheduler {

// Where a job that was accepted has its place; everything is resolved.
struct JobPlace {
    std::string id, queue, tenant;
    std::int64_t priority = 500;
    bool preemptible = false;
    Instant submitted;
    std::uint64_t kind = 0;  // of profiles.h; 0: not known
};
template <class V>
void describe(V& v, JobPlace& s) {
    v.field("id", s.id, "Job id.");
    v.field("queue", s.queue, "Queue.");
    v.field("tenant", s.tenant, "Tenant.");
    v.field("priority", s.priority, "Priority.");
    v.field("preemptible", s.preemptible, "Whether it may be stopped for others.");
    v.field("submitted", s.submitted, "When it was accepted.");
    v.field("kind", s.kind, "Whose profile it shares.");
}
// And who asked for it how.
struct JobHead : JobPlace {
    std::string user, task_id, document_hash;
    std::vector<std::string> notes;
};
template <class V>
void describe(V& v, JobHead& s) {
    describe(v, static_cast<JobPlace&>(s));
    v.field("user", s.user, "Who submitted it.");
    v.field("task_id", s.task_id, "AllData's id.");
    v.field("document_hash", s.document_hash, "Of the submitted document.");
    v.field("notes", s.notes, "What was filled in.");
}
struct StoredSpec : JobHead {
    JobSpec spec;
};
template <class V>
void describe(V& v, StoredSpec& s) {
    describe(v, static_cast<JobHead&>(s));
    v.field("spec", s.spec, "What was asked for.");
}

// The same in memory, where there may be very many: the whole as bytes, for when a task is launched or
// somebody looks at the job, and the outline of the spec, which decides where and when it runs and is what
// lists show. Equal outlines are one object, and so are the bytes of an array.
struct FixedJob : JobPlace {
    // a value of codec/binary.h: a StoredSpec without its JobPlace
    std::shared_ptr<const std::string> packed;
    std::shared_ptr<const JobSpec> outline;
    Result<JobSpec> spec() const;
    std::string_view name() const;  // the id when it has none
    std::string_view user() const;
    std::string_view task_id() const;
    std::string_view document_hash() const;
    std::vector<std::string> notes() const;
};

class Outlines {
  public:
    Outlines();
    ~Outlines();
    Outlines(const Outlines&) = delete;
    Outlines& operator=(const Outlines&) = delete;
    // Of a whole spec as bytes: without the fields that decide nothing and differ from job to job.
    Result<std::shared_ptr<const JobSpec>> of(std::string_view packed);

  private:
    std::unique_ptr<codec::SharedPool> pool_;
};

// What is kept of a job that was accepted. Reading also takes the JSON that older stores hold.
Result<void> keep_job(FixedJob& job, const StoredSpec& accepted, Outlines& outlines);
Result<void> read_stored_job(std::string_view value, FixedJob& out, Outlines& outlines);
std::string stored_job(const FixedJob& job);  // the value of a StoredSpec

// The tasks that still hold something are to stop; what happens when the last has.
struct StopOrder {
    State outcome = State::cancelled;  // what a stopped task becomes; preempted when the job waits again
    Reason reason = Reason::none;
    std::string detail = {};
    bool requeue = false;
    bool counts = false;  // as a preemption
    std::string preemptor = {};
    Instant since = {};
    Millis grace{0};
};
template <class V>
void describe(V& v, StopOrder& s) {
    v.field("outcome", s.outcome, "What a stopped task becomes.");
    v.field("reason", s.reason, "Why.");
    v.field("detail", s.detail, "Why, in particular.");
    v.field("requeue", s.requeue, "Whether the job waits again afterwards.");
    v.field("counts", s.counts, "Whether this is a preemption.");
    v.field("preemptor", s.preemptor, "For which job.");
    v.field("since", s.since, "When it was decided.");
    v.field("grace", s.grace, "Between SIGTERM and SIGKILL.");
}

// Where an earlier attempt ran: for its log.
struct PastRun {
    std::int64_t task = 0, attempt = 0;
    std::string node;
};
template <class V>
void describe(V& v, PastRun& p) {
    v.field("task", p.task, "Task.");
    v.field("attempt", p.attempt, "Attempt.");
    v.field("node", p.node, "Node.");
}

struct StoredStatus {
    JobStatus status;
    std::shared_ptr<const StopOrder> stop;  // null for most
    Instant placed;                         // of the placement that holds: the engine's `started`
    Instant runs_since;                     // when the first of its tasks was heard to run
    std::string told;                       // the last status name given to AllData
    bool late = false;                      // max_queue_time passed and was said
    bool advisory = false;
    std::vector<PastRun> past;
    std::vector<std::string> waits_for;  // jobs that have to end before it may start
    engine::Received received;           // in starts that are over
};
template <class V>
void describe(V& v, StoredStatus& s) {
    v.field("status", s.status, "Status.");
    v.field("stop", s.stop, "Its tasks are to stop.");
    v.field("placed", s.placed, "When it was placed.");
    v.field("runs_since", s.runs_since, "When it was heard to run.");
    v.field("told", s.told, "Last status told to AllData.");
    v.field("late", s.late, "It waited longer than it was willing to.");
    v.field("advisory", s.advisory, "A limit is not held.");
    v.field("past", s.past, "Earlier attempts.");
    v.field("waits_for", s.waits_for, "Jobs that have to end before it may start.");
    v.field("received", s.received, "What it received in starts that are over.");
}

struct StoredNodeState {
    bool draining = false, lost = false;
    bool unreachable = false;  // no link: nothing new is placed there
    bool clearing = false;     // back, but tasks that were given up still run there
    std::string boot_id;       // of the agent that registered last
    std::string detail;
    Instant since;
    std::vector<Taint> taints;
    std::vector<Maintenance> maintenance;  // not over yet
    bool in_maintenance = false;           // one of them is under way
    NodeState shown() const {
        return lost ? NodeState::lost : draining || in_maintenance ? NodeState::draining : NodeState::up;
    }
    // Whether the engine may place tasks there.
    bool closed() const { return lost || unreachable || clearing; }
};
template <class V>
void describe(V& v, StoredNodeState& n) {
    v.field("draining", n.draining, "Takes no new work.");
    v.field("lost", n.lost, "Its agent is not heard.");
    v.field("unreachable", n.unreachable, "Its agent has no link.");
    v.field("clearing", n.clearing, "Tasks that were given up still end there.");
    v.field("boot_id", n.boot_id, "Of the agent that registered last.");
    v.field("detail", n.detail, "Why.");
    v.field("since", n.since, "Since when.");
    v.field("taints", n.taints, "Taints.");
    v.field("maintenance", n.maintenance, "Maintenance planned or under way.");
    v.field("in_maintenance", n.in_maintenance, "It is under way.");
}

struct StoredQueue {
    QueueSpec spec;
    // hash of the configuration's version of it: an edited file wins over an older change by the API
    std::string configured;
};
template <class V>
void describe(V& v, StoredQueue& q) {
    v.field("spec", q.spec, "How it is set.");
    v.field("configured", q.configured, "Hash of the configured version.");
}

struct StoredIdempotency {
    std::string job, document_hash;
    Instant at;
};
template <class V>
void describe(V& v, StoredIdempotency& i) {
    v.field("job", i.job, "Job.");
    v.field("document_hash", i.document_hash, "Of the document.");
    v.field("at", i.at, "When.");
}

struct StoredCallback {
    Instant at;
    std::string body, detail;
};
template <class V>
void describe(V& v, StoredCallback& c) {
    v.field("at", c.at, "When it arose.");
    v.field("body", c.body, "What is sent.");
    v.field("detail", c.detail, "Why it was given up.");
}

struct AuditRow {
    Instant at;
    std::string actor, action, subject, detail;
};
template <class V>
void describe(V& v, AuditRow& a) {
    v.field("at", a.at, "When.");
    v.field("actor", a.actor, "Who.");
    v.field("action", a.action, "What was done.");
    v.field("subject", a.subject, "To what.");
    v.field("detail", a.detail, "In particular.");
}

// A stored object's value (the binary form of codec/binary.h), and back: also from the JSON that stores
// before it hold, which is rewritten as objects change. Instantiated in records.cc for the types above and
// those of the model, so that the rest of the library needs no codec.
template <class T>
std::string stored_value(const T& object);
template <class T>
Result<void> read_stored(std::string_view value, T& out);
template <class T>
Result<T> stored_object(std::string_view value) {
    T out{};
    CRATER_TRY_VOID(read_stored(value, out));
    return out;
}
bool is_stored_form(std::string_view value);  // and not the older one
// As JSON: for history, for what is hashed and for people.
template <class T>
std::string stored_text(const T& object);

// "000000000042": sorts like the number.
std::string padded(std::int64_t number);

State state_named(std::string_view name, State otherwise);
Reason reason_named(std::string_view name);

}  // namespace crater::scheduler
