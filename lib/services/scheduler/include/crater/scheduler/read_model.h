// What HTTP reads see: the state as of the last committed revision. Written by the scheduler's loop after
// each commit, read by any thread; a reader never waits for a decision or for the disk. Rows are immutable
// once shared.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "crater/api/views.h"
#include "crater/store/store.h"

namespace crater::scheduler {

class Scheduler;
struct FixedJob;

// One job as others may see it: what the scheduler holds too, immutable, so that what is known of a job lies
// in memory once. Mostly as bytes: what is not a plain member is read from them when it is asked for.
class JobRecord {
  public:
    const std::string& id() const;
    std::string name() const;  // the id when it has none
    const std::string& tenant() const;
    const std::string& queue() const;
    std::string_view user() const;
    std::int64_t priority() const;
    Result<JobSpec> spec() const;    // secrets in clear: mask before showing
    const JobSpec& outline() const;  // what decides where and when it runs, and what lists show
    State state() const { return state_; }
    Instant submitted() const { return submitted_; }
    JobStatus status() const;
    std::vector<std::string> notes() const;
    std::string_view document_hash() const;  // of the submitted document, for idempotency
    // Where its tasks hold something, each node once.
    template <class Use>
    void for_each_held_node(Use use) const {
        for (std::size_t from = 0; from < held_on_.size();) {
            const std::size_t end = std::min(held_on_.find('\n', from), held_on_.size());
            use(held_on_.substr(from, end - from));
            from = end + 1;
        }
    }
    bool holds_as(const JobRecord& other) const { return held_on_ == other.held_on_; }
    bool runs_on(const std::string& node) const;  // or ran, while its slices are remembered
    api::JobRow row() const;                      // as lists show it

  private:
    friend class Scheduler;
    std::shared_ptr<const FixedJob> fixed_;
    std::shared_ptr<const std::string> kept_;  // the StoredStatus as it was stored
    std::string held_on_;                      // names of nodes, a line each
    Instant submitted_;
    State state_ = State::pending;
    bool simulated_ = false, advisory_ = false;
};
using JobRecordPtr = std::shared_ptr<const JobRecord>;
using NodeRowPtr = std::shared_ptr<const api::NodeRow>;

struct JobFilter {
    std::vector<State> states;
    // tenant: it and its descendants; name: a part of name or id; label: key[=value]
    std::string queue, tenant, name, user, node, label = {};
    std::optional<JobType> type;
    Instant since;  // submitted at or after
};

struct NodeFilter {
    std::optional<NodeState> state;
    std::string label;  // key or key=value
    std::string name;   // a part of it
};

class ReadModel {
  public:
    JobRecordPtr job(const std::string& id) const;
    // Sorted by `sort` ("submitted", "-submitted", "name", "state", "priority", "id"); the cursor is opaque
    // and stays valid under changes.
    Result<api::Page<api::JobRow>> jobs(const JobFilter& filter, std::string_view sort, std::size_t limit,
                                        std::string_view cursor) const;
    std::shared_ptr<const api::NodeView> node(const std::string& name) const;
    // By name, downwards when `descending`.
    api::Page<api::NodeRow> nodes(const NodeFilter& filter, bool descending, std::size_t limit,
                                  std::string_view cursor) const;
    std::vector<api::QueueView> queues() const;
    std::vector<Tenant> tenants() const;
    std::optional<api::QuotaView> quota(const std::string& tenant) const;
    api::ClusterView cluster() const;
    std::vector<Token> tokens() const;
    // not expired at `now` is the caller's check
    std::optional<Token> token_by_hash(const std::string& sha256) const;

    struct Update;  // what one commit changed; built by the scheduler
    void publish(Update update);

  private:
    struct State_;
    std::shared_ptr<State_> state_;

  public:
    ReadModel();
    ~ReadModel();
};

// Live events, numbered by the store's history sequence or an own counter that survives restarts; the last
// 10,000 are kept for resuming. Thread-safe. Subscribers are called on the publisher's thread and must be
// quick.
class EventHub {
  public:
    using Subscriber = std::function<void(const api::EventView&)>;
    std::uint64_t subscribe(Subscriber subscriber);
    void unsubscribe(std::uint64_t id);
    void publish(std::vector<api::EventView> events);
    // Events after `sequence`, oldest first; nullopt when that is too long ago (the reader must load
    // everything again).
    std::optional<std::vector<api::EventView>> after(std::uint64_t sequence) const;
    std::uint64_t last() const;
    // The counter of the run before: sequences have no gaps and go on from here.
    void continue_after(std::uint64_t sequence);

  private:
    mutable std::mutex mutex_;
    std::map<std::uint64_t, Subscriber> subscribers_;
    std::deque<api::EventView> recent_;
    std::uint64_t next_subscriber_ = 1;
    std::uint64_t last_ = 0;
};

}  // namespace crater::scheduler
