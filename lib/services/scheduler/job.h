// A job as the scheduler holds it: what it was submitted as, what changes of it, and where it waits.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "records.h"

namespace crater::scheduler {

// Where a job counts: among the waiting of its queue, among those that hold slices, or nowhere.
enum class Place { nowhere, waiting, holding };

struct Job {
    // `awake`: all jobs whose changing part is an object at the moment.
    explicit Job(std::vector<Job*>& awake) : awake_(awake) {}
    ~Job();
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    std::shared_ptr<const FixedJob> fixed;
    Place place = Place::nowhere;
    bool known_to_engine = false, blocked = false;
    bool fresh = false;      // its spec is not written yet
    bool touched = false;    // in touched_jobs_
    bool freed = false;      // some of its tasks were freed since it was last queued
    bool retired = false;    // ended and released by the engine: leaves memory once that is durable
    Instant deadline;        // where it stands in deadlines_; 0 = nowhere
    Instant next_ask;        // when its stop order is repeated
    std::uint64_t kind = 0;  // hash of what decides where it can go; 0 = not made yet
    Instant explained;       // when its reason to wait was last changed

    const std::string& id() const { return fixed->id; }
    const std::shared_ptr<const JobSpec>& outline() const { return fixed->outline; }
    // What changes of it. Of the many jobs to which nothing happens it lies as the bytes that were stored
    // last; who asks makes it an object, which stays one until the next `rest`. References to it last until
    // the next turn.
    const StoredStatus& s() const;
    StoredStatus& edit();  // whoever changes it also touches the job
    const JobStatus& status() const { return s().status; }
    JobStatus& change() { return edit().status; }
    // Its bytes as they are stored now, and shared with readers.
    void keep(std::shared_ptr<const std::string> value);
    const std::shared_ptr<const std::string>& kept() const { return kept_; }
    void rest();
    bool holds() const;

  private:
    std::vector<Job*>& awake_;
    mutable std::unique_ptr<StoredStatus> open_;
    mutable std::size_t place_awake_ = 0;
    std::shared_ptr<const std::string> kept_;  // null: nothing is stored yet
    bool edited_ = false;                      // since it was kept
};

// Jobs by a moment, and those of one moment by their ids. A job leaves before it leaves memory.
struct JobAt {
    std::int64_t at = 0;
    Job* job = nullptr;
};
struct ByMoment {
    using is_transparent = void;
    using Key = std::pair<std::int64_t, std::string_view>;
    static Key of(const JobAt& entry) { return {entry.at, entry.job->id()}; }
    static Key of(const std::pair<std::int64_t, std::string>& place) { return {place.first, place.second}; }
    bool operator()(const auto& a, const auto& b) const { return of(a) < of(b); }
};
using JobsByMoment = std::set<JobAt, ByMoment>;

}  // namespace crater::scheduler
