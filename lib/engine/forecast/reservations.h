// Places kept for jobs that wait: on named nodes, from a named time on. Those of jobs that come before are in
// the way of a job that comes after them unless it has ended by then, or fits beside. The rules are in
// backfill.cc.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "state/ledger.h"

namespace crater::engine {

inline constexpr Instant never{INT64_MAX};

struct Reservation {
    int job = -1;
    std::uint64_t domain = 0;  // what its job can use at all: jobs of other domains are not in its way
    // never: nothing that runs has an end in sight that would make room for it
    Instant at = never, until = never;
    std::vector<Slices> slices;
    std::uint64_t gains_seen = 0, moves_seen = 0;  // what was free anywhere when it was found
    // It was found good on nodes that looked like this, and nothing that it waits for is late before
    // `good_until`.
    std::uint64_t good_for = 0;
    Instant good_until;
    explicit operator bool() const { return at != never; }
};

// What holds slices of a node, and by when nine in ten of its like are over.
struct End {
    Instant at;
    int job = -1, task = -1;
    Mask cards = 0;
    std::int64_t cpu = 0, memory = 0;
};

// At most how much of a node is free after each end, for turning it down quickly.
struct Timeline {
    struct Row {
        Instant at;
        std::int64_t cpu = 0, cpu_only = 0, memory = 0;
        std::int32_t card_memory = -1, card_compute = 0, idle = 0;
    };
    std::uint64_t version = 0, learned = 0;
    bool open_ended = false;  // something there has no end in sight: what is learned may give it one
    std::vector<Row> rows;    // the first is of now
    std::vector<End> ends;    // all of them, the first first
};

class Reservations {
  public:
    void begin_pass(int nodes);
    bool may_search(std::size_t most) { return searches_++ < most; }  // whether fewer were made in this pass
    // Counts changes that may let a job start that was in the way of one.
    std::uint64_t version() const { return version_; }
    bool none() const { return kept_.empty(); }
    // of those in force: the next after which something is to be decided anew; 0: none
    Instant first() const;

    const Reservation* of(int job) const;
    // In place of what was kept for the job; one that moved leaves its nodes.
    void keep(Reservation place);
    void looked(int job, std::uint64_t gains, std::uint64_t moves);  // it is as good as it can be
    void good(int job, std::uint64_t on, Instant until);
    void leave(int job);
    void forget(int job);    // it is no more
    void rebuilt(int node);  // its cards and cores are others: places there are looked for anew

    // Those in force: of the jobs that came before in this pass.
    void enforce(int job);
    const std::vector<const Reservation*>& on(int node) const {
        return on_node_[static_cast<std::size_t>(node)];
    }
    std::uint64_t look_of(int node) const;  // the same while the same places are in force there
    // that have any in force, in the order they came
    const std::vector<int>& nodes() const { return nodes_; }
    bool in_force() const { return !in_force_.empty(); }
    std::size_t in_force(std::uint64_t domain) const;

    // Nodes that a reservation left, the latest last; older ones may be gone.
    std::uint64_t moves_begin() const { return moves_base_; }
    std::uint64_t moves_end() const { return moves_base_ + moves_.size(); }
    int move(std::uint64_t at) const { return moves_[static_cast<std::size_t>(at - moves_base_)]; }

    // By when a job that runs is over, as said when it began; kept so that what rests on it does not wander.
    struct Foreseen {
        Instant from, until;
    };
    Foreseen& foreseen(int job);
    Timeline& timeline(int node);

  private:
    void left(const Reservation& place);

    std::map<int, Reservation> kept_;  // by position of the job
    std::size_t searches_ = 0;
    std::vector<const Reservation*> in_force_;
    std::vector<std::vector<const Reservation*>> on_node_;
    std::vector<int> nodes_;
    std::vector<int> moves_;
    std::uint64_t moves_base_ = 0, version_ = 0;
    std::vector<Foreseen> foreseen_;
    std::vector<Timeline> timelines_;
};

}  // namespace crater::engine
